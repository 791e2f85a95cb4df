"""What a criterion is: a loss that searches compare, and how it is reported."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import TypeAlias

import numpy as np

from ..engine.contract import Floats, Ints, Ledger, Measure, Outline, Scores

# The model's own estimate of its error is no "probability" to a reader; names in code stay.
_READ_AS = {"probability": "expected error"}


def read_as(criterion: str) -> str:
    """The name of a criterion as people read it.

    Parameters
    ----------
    criterion : its name in code.

    Examples
    --------
    >>> from bayesieve.criteria.base import read_as
    >>> read_as("probability"), read_as("auc")
    ('expected error', 'auc')
    """
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
    >>> from bayesieve.criteria.rows import RowRule
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
        """Judge the criterion's own parameters."""

    def check_classes(self, n_classes: int) -> None:
        """Judge the number of classes, before any work."""

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
