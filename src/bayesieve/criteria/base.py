"""Criteria: the loss that searches compare, those that add up over rows, and standard errors."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import TypeAlias

import numpy as np

from ..checks import choose
from ..engine.contract import Floats, Ints, Ledger, Measure, Outline, Scores

# The model's own estimate of its error is no "probability" to a reader; names in code stay.
_READ_AS = {"probability": "expected error"}


def read_as(criterion: str) -> str:
    """The name of a criterion as people read it."""
    return _READ_AS.get(criterion, criterion)


# -- What a criterion is ---------------------------------------------------------------------------


#: A loss that compares exactly: lower is better.  Integers for the criteria of this package.
Key: TypeAlias = float | Fraction


@dataclass(frozen=True)
class Rule(Measure):
    """A criterion for one ledger: what is asked of the sums, and what the answer means.

    Subclasses turn the ledger's cells into keys.  A rule is a small value: kind, grain and class
    factors come from totals over all rows, so that it is the same for every part of them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.criteria import Rule
    >>> from bayesieve.criteria.base import RowRule
    >>> rule = RowRule("error", factors=(1, 3), total=40)
    >>> isinstance(rule, Rule), rule.adds_over_rows
    (True, True)
    >>> keys = rule.keys(np.array([[4, 2], [1, 1]]), np.array([1, 1]))  # errors by class
    >>> keys, [rule.value(key) for key in keys]
    ([10, 4], [0.25, 0.1])
    """

    @property
    def direct(self) -> bool:
        """Do exact losses cost no more than bounds, so that they are asked for at once?"""
        return True

    def keys(self, cells: Ints, sizes: Ints) -> list[Key]:
        """One key for each line of cells, of subsets of so many columns."""
        raise NotImplementedError

    def near(self, cells: Ints, sizes: Ints) -> Ints:
        """Positions among which the lowest key is, told without exact arithmetic."""
        return np.arange(len(cells))

    def value(self, key: Key) -> float:
        """A key in the criterion's own units."""
        raise NotImplementedError


class Criterion:
    """A criterion written as a function of the scores.

    Subclass it, set `name`, and give `loss`; every search then works with it.  The members of this
    package give a `rule` instead, which ledgers answer fast and exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.criteria import Criterion
    >>> class Margin(Criterion):
    ...     name = "margin"
    ...     def loss(self, scores, classes, weights):
    ...         own = scores[np.arange(len(classes)), classes]
    ...         return -float(np.average(own - scores.mean(axis=1), weights=weights))
    >>> X = np.array([[0, 1], [0, 0], [1, 1], [1, 0]] * 3)
    >>> y = np.array([0, 0, 1, 1] * 3)
    >>> selector = NaiveBayesSelector(criterion=Margin(), validation=None).fit(X, y)
    >>> selector.selected_
    array([0])
    """

    name = "custom"
    #: The form of ledger it reads: "lines" (dense), "moves" (sparse), or None for either.
    form: str | None = "lines"
    #: True where the validation part is to choose by this criterion instead of the error.
    chooses = False
    #: True where a higher value (as reported) is the better one.
    greater_is_better = False

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({given})"

    def loss(self, scores: Floats, classes: Ints, weights: Floats) -> float:
        """Loss (lower is better) of log-scores, lines x classes, against the true classes.

        It is reported as it is, and with the other sign where `greater_is_better`.  Take a mean of
        the rows rather than a sum: `nested` compares parts that are not of one size.
        """
        raise NotImplementedError(
            f"criterion {type(self).__name__!r} must define loss(scores, classes, weights)."
        )

    def rule(self, ledger: Ledger) -> Rule | None:
        """What a ledger is asked; None: `loss` is called once a candidate."""
        return None

    def check(self) -> None:
        """Validate the criterion's own parameters."""

    def check_classes(self, n_classes: int) -> None:
        """Validate the number of classes, before any work."""

    def row_values(self, sums: Ints, unit: float, classes: Ints) -> Floats:
        """The value of each row, where the criterion is their weighted mean.

        Parameters
        ----------
        sums : scores in whole units, rows x classes.
        unit : nat of one unit.
        classes : the true class of each row.
        """
        raise NotImplementedError(f"criterion {self.name!r} has no value for each row.")

    @property
    def has_row_values(self) -> bool:
        """Is it a weighted mean over rows?"""
        return type(self).row_values is not Criterion.row_values

    @property
    def knows_shares(self) -> bool:
        """Is it known how much each row moves the value?"""
        return self.has_row_values

    def shares(self, found: Scores, outline: Outline) -> Floats:
        """How much each line moves the value."""
        factors = np.array([float(factor) for factor in outline.factors])
        unit, problems = 2.0**-outline.bits, range(len(found.sums))
        values = np.array(
            [self.row_values(found.sums[g], unit, found.classes[g]) for g in problems]
        )
        worth = np.array([factors[found.classes[g]] for g in problems])
        total = float((worth @ found.weights).sum())
        mean = float(((worth * values) @ found.weights).sum()) / total
        return (worth * (values - mean)).sum(0) / total


def joined(found: Iterable[Scores]) -> Scores:
    """The lines of several parts as one."""
    parts = list(found)
    if len(parts) == 1:
        return parts[0]
    lines = [np.concatenate([part[i] for part in parts]) for i in range(3)]
    problems = [np.concatenate([part[i] for part in parts], axis=1) for i in range(3, 5)]
    return Scores(*lines, *problems)


def loss_of(criterion: Criterion, ledger: Ledger, found: Iterable[Scores]) -> float:
    """A criterion's own loss of all lines, however many parts they come in."""
    whole, outline = joined(found), ledger.outline
    classes = whole.classes[0]
    worth = whole.weights * np.array(outline.factors, dtype=np.float64)[classes]
    scores = np.ldexp(whole.sums[0].astype(np.float64), -outline.bits)
    value = criterion.loss(scores, classes, worth)
    if not isinstance(value, Real) or value != value:
        raise ValueError(
            f"criterion {criterion.name!r} must give a number for every subset; loss gave "
            f"{value!r}."
        )
    return value


# -- Criteria that add up over rows: error, error probability, log-likelihood ----------------------


def line_values(name: str, sums: Ints, unit: float, classes: Ints) -> Floats:
    """What each line adds to the mean that is called `name`.

    Sums are integer scores, lines x classes, of `unit` nat.
    """
    if name == "error":
        return (sums.argmax(1) != classes).astype(np.float64)
    ahead = (sums - sums.max(1, keepdims=True)) * unit
    odds = np.exp(ahead)
    at = np.arange(classes.size), classes
    if name == "log-likelihood":
        return ahead[at] - np.log(odds.sum(1))
    own = odds[at]
    odds[at] = 0.0
    rest = odds.sum(1)
    return rest / (rest + own)


@dataclass(frozen=True)
class RowRule(Rule):
    """A weighted mean over lines, as integers by true class."""

    factors: tuple[int, ...] = ()  #: what a line of each class counts
    total: int = 1  #: what all lines count
    sign: int = 1  #: -1 where the value is reported with the other sign

    @cached_property
    def _float_factors(self) -> Floats:
        return np.array([float(factor) for factor in self.factors])

    @property
    def direct(self) -> bool:
        """Errors are counted as fast as anything else."""
        return self.kind == "error"

    def keys(self, cells: Ints, sizes: Ints) -> list[Key]:
        """One integer: losses by class times the class factors."""
        if all(factor == 1 for factor in self.factors):
            return [int(total) for total in cells.sum(1)]
        return [
            sum(factor * int(cell) for factor, cell in zip(self.factors, line, strict=True))
            for line in cells
        ]

    def near(self, cells: Ints, sizes: Ints) -> Ints:
        """Floats rule out most."""
        loss = cells @ self._float_factors
        return np.flatnonzero(loss <= loss.min() * (1 + 1e-9))

    def value(self, key: Key) -> float:
        """Mean over lines; the log-likelihood with its own sign."""
        return self.sign * math.ldexp(key / self.total, -self.bits)


class RowCriterion(Criterion):
    """The weighted mean over lines of a function of the line's scores.

    ``"error"`` is the share of wrong decisions; ``"probability"`` the mean of P(Y != y), the error
    as the model itself estimates it (Rabenoro 2015, section 4.2); ``"log-likelihood"`` the mean of
    log P(Y = y), reported as such (higher is better).  Without smoothing a line's class may be
    impossible; each log 0 then counts as some thousands of nat, more where there are more columns,
    which the other lines of a long table may outweigh: with ``smoothing=0`` prefer another one.

    Examples
    --------
    >>> from bayesieve.criteria import CRITERIA, RowCriterion
    >>> CRITERIA["probability"]
    RowCriterion('probability')
    """

    form = None

    def __init__(self, name: str):
        self.name = name
        self.greater_is_better = name == "log-likelihood"

    def __repr__(self) -> str:
        return f"RowCriterion({self.name!r})"

    def check(self) -> None:
        """Validate the parameter."""
        choose("criterion.name", self.name, ["error", "probability", "log-likelihood"])

    def rule(self, ledger: Ledger) -> RowRule:
        """Integers whose grain is the finest for which the sum over all lines fits."""
        outline, totals = ledger.outline, ledger.totals().sum((0, 1)).tolist()
        bits = 0
        if self.name != "error":
            largest = 1.0
            if self.name == "log-likelihood":
                largest = 2 * outline.bound + math.log(outline.n_classes)
            bits = min(40, 61 - math.ceil(math.log2(max(sum(totals) * largest, 1.0))))
        total = sum(a * n for a, n in zip(outline.factors, totals, strict=True))
        return RowRule(self.name, bits, outline.factors, total, -1 if self.greater_is_better else 1)

    def row_values(self, sums: Ints, unit: float, classes: Ints) -> Floats:
        """Wrong or not, P(Y != y), or log P(Y = y)."""
        return line_values(self.name, sums, unit, classes)


# -- Standard error: how far a value may be off by the luck of the rows ----------------------------


def has_standard_error(criterion: Criterion) -> bool:
    """Is it known how much each row moves its value?

    Examples
    --------
    >>> from bayesieve.criteria import CRITERIA, Criterion, has_standard_error
    >>> has_standard_error(CRITERIA["auc"]), has_standard_error(Criterion())
    (True, False)
    """
    return criterion.knows_shares


def standard_error(
    criterion: Criterion, outline: Outline, found: Iterable[Scores], mates: Ints | None = None
) -> float:
    """Standard error of the criterion's value for a subset, with rows or groups as the units.

    Means over rows: the root of the sum of the squared deviations, over the number of rows; for
    the error that is the binomial sqrt(p (1 - p) / n).  AUC: DeLong, DeLong and Clarke-Pearson
    (1988); the parts of a row in several labels or folds are added up first.  A row of weight w
    counts as w rows.  Of groups, what their rows move the value by is added up first, and the
    squares are raised by G / (G - 1) for G groups (of AUC, Obuchowski 1997).

    Parameters
    ----------
    criterion : one that `has_standard_error`.
    outline : of the ledger of the rows that judge.
    found : the sums of the subset, in as many parts as there are.
    mates : the group of every row, by the row's number; None: every row is independent.

    Examples
    --------
    A selector asks for it with ``choice="one-se"`` and keeps it:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = NaiveBayesSelector(choice="one-se", validation=0.5, random_state=0)
    >>> path = selector.fit(X, y).path_
    >>> error, n = path.steps[path.best].validation_error, 285
    >>> abs(path.standard_error - (error * (1 - error) / n) ** 0.5) < 1e-12
    True
    """
    return _root_of_squares(*_shares_by_row(criterion, outline, found), mates)


def paired_error(
    criterion: Criterion,
    outline: Outline,
    one: Iterable[Scores],
    other: Iterable[Scores],
    mates: Ints | None = None,
) -> float:
    """Standard error of the difference between the criterion's values for two subsets.

    Luck that both share cancels: a row that is hard for both says nothing about which is better.

    Parameters
    ----------
    criterion, outline, mates : as in `standard_error`.
    one, other : the sums of the two subsets, of the same rows.

    Examples
    --------
    ``choice="proven"`` asks for it:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayesSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = NaiveBayesSelector().fit(X, y).path_
    >>> gap = path.steps[path.chosen].score - path.steps[path.best].score
    >>> 0 <= gap <= path.standard_error < 0.01
    True
    """
    mine, weights, rows = _shares_by_row(criterion, outline, one)
    theirs, _, _ = _shares_by_row(criterion, outline, other)
    return _root_of_squares(mine - theirs, weights, rows, mates)


def _shares_by_row(
    criterion: Criterion, outline: Outline, found: Iterable[Scores]
) -> tuple[Floats, Ints, Ints]:
    """What each row moves the value by, what the row weighs, and its number."""
    whole = joined(found)
    shares = criterion.shares(whole, outline)
    rows, first, owner = np.unique(whole.rows, return_index=True, return_inverse=True)
    by_row = np.bincount(owner.ravel(), shares).astype(np.float64)
    return by_row, whole.weights[first], rows


def _root_of_squares(by_row: Floats, weights: Ints, rows: Ints, mates: Ints | None) -> float:
    """Root of the sum of squares of what rows, or groups of rows, move a value by."""
    if mates is None:
        return math.sqrt(float(weights @ np.square(by_row)))
    _, owner = np.unique(mates[rows], return_inverse=True)
    by_group = np.bincount(owner.ravel(), weights * by_row)
    few = by_group.size / max(by_group.size - 1, 1)
    return math.sqrt(few * float(np.square(by_group).sum()))
