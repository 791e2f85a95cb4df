"""`decide`: decision rules with costs and rate limits from held-out rows; and `novelty`."""

import copy
import math
import warnings
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_number, plain_value
from ..data.result import Columns, Fields, Result
from ..data.sample import group_numbers, middle_rows, read_groups_of_rows
from ..data.tables import Table
from ..estimators.naive_bayes import around, bayes_of, rows_of
from ..models.base import Floats, Ints
from ..models.fitted import ASK, DecisionRule, FittedBayes, FittedProblem, Guard, Promise
from ..models.novelty import surprise
from ._typing import Model, Value
from .calibration import calibrate, held_out_rows
from .crossfit import trained_on
from .thresholds import Costs, Rates, Requirements, make_rule, read_requirements


@dataclass(frozen=True)
class Decision(Result):
    """The rule of a model, and what it decided on the rows it was made on.

    Attributes
    ----------
    labels : tuple of str
        Names of the labels; empty for classes.
    rules : tuple of DecisionRule
        One, or one a label.
    words : tuple of str
        What each rule does, a line each.
    classes : tuple of lists
        The classes of each.
    tables : tuple of lists
        Held-out rows: classes x decisions, the last of them asking a person where a rule asks.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, decide
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["calm", "gust"], 400)
    >>> X = (rng.random((400, 4)) < np.where(y == "gust", 0.7, 0.3)[:, None]).astype(int)
    >>> found = decide(NaiveBayes().fit(X[:200], y[:200]), X[200:], y[200:], abstain=0.2).decision_
    >>> print(found.to_text())
    decides what costs least: taking calm for gust 1; taking gust for calm 1; asking a person 0.2
    >>> found.tables[0]
    [[27, 7, 56], [3, 75, 32]]
    """

    labels: tuple[str, ...]
    rules: tuple[DecisionRule, ...]
    words: tuple[str, ...]
    classes: tuple[list[Value], ...]
    tables: tuple[list[list[int]], ...]
    _texts = ("label", "class", "decision")

    @classmethod
    def of(cls, fitted: FittedBayes, rows: Table, target: Ints) -> "Decision":
        """The rules of a model, and their decisions on rows whose classes are known."""
        rules, words, classes, tables = [], [], [], []
        for problem, truth in zip(fitted.problems, target.T, strict=True):
            rule = problem.rule
            assert rule is not None
            sums = problem.sums(rows)
            at = rule.decide(sums, problem.fixed_prior, problem.ahead(sums))
            table = np.zeros((len(problem.classes), rule.n_decisions), np.int64)
            np.add.at(table, (truth, at), 1)
            rules.append(rule)
            words.append("\n".join(rule_in_words(problem)))
            classes.append([plain_value(value) for value in problem.classes])
            tables.append(table.tolist())
        return cls(fitted.labels, tuple(rules), tuple(words), tuple(classes), tuple(tables))

    def to_text(self) -> str:
        """What the rule does and promises, in lines."""
        if not self.labels:
            return self.words[0]
        pairs = zip(self.labels, self.words, strict=True)
        return "\n".join(f"{label}: {line}" for label, text in pairs for line in text.split("\n"))

    def to_columns(self) -> Columns:
        """Held-out rows by class and decision."""
        found: Columns = {"class": [], "decision": [], "rows": []}
        for g, (names, table) in enumerate(zip(self.classes, self.tables, strict=True)):
            for name, line in zip(names, table, strict=True):
                for decision, n in zip([*names, ASK], line, strict=False):
                    if self.labels:
                        found.setdefault("label", []).append(self.labels[g])
                    found["class"].append(name)
                    found["decision"].append(decision)
                    found["rows"].append(n)
        return found

    def to_dict(self) -> Fields:
        """Held-out rows by class and decision, as columns of plain values."""
        return self.to_columns()

    def caption(self) -> str:
        """The rule in words."""
        return self.to_text()


def rule_in_words(problem: FittedProblem) -> list[str]:
    """What the rule of a problem does, and what it promises."""
    rule = problem.rule
    if rule is None:
        return ["decides the most probable class"]
    names = [plain_value(value) for value in problem.classes]
    lines = []
    if rule.costs is not None:
        lines.append(f"decides what costs least: {_costs_in_words(rule, names)}")
    for guard in rule.guards:
        lines += _guard_in_words(guard, names, problem)
    if rule.guards and rule.prior != tuple(problem.fixed_prior.tolist()):
        lines[-1] += ", by the shares of the classes where the rule was made"
    lines += [promise_in_words(promise, names) for promise in rule.promises]
    return lines or ["decides the most probable class"]


def _costs_in_words(rule: DecisionRule, names: list[Value]) -> str:
    assert rule.costs is not None
    parts = []
    for k, (name, line) in enumerate(zip(names, rule.costs, strict=True)):
        alike: dict[float, list[str]] = {}
        for d, cost in enumerate(line[: len(names)]):
            if cost or d != k:
                alike.setdefault(cost, []).append(str(names[d]))
        told = [f"for {' or '.join(others)} {cost:g}" for cost, others in alike.items()]
        parts.append(f"taking {name} {', '.join(told)}")
    if rule.asks:
        asking = [line[-1] for line in rule.costs]
        if len(set(asking)) == 1:
            parts.append(f"asking a person {asking[0]:g}")
        else:
            pairs = zip(names, asking, strict=True)
            parts += [f"asking a person about {name} {cost:g}" for name, cost in pairs]
    return "; ".join(parts)


def _guard_in_words(guard: Guard, names: list[Value], problem: FittedProblem) -> list[str]:
    name = names[guard.position]
    only = "where" if guard.low is not None and guard.high is not None else "only where"
    if guard.or_ask:
        assert guard.high is not None
        return [
            f"decides another class than {name} {only} one is more than "
            f"{odds(problem, -guard.high)} times as probable"
        ]
    if guard.low is not None:
        ahead = f"more than {odds(problem, guard.low)} times as probable as any other class"
        return [f"decides {name} {only} it is {ahead}"]
    assert guard.high is not None
    ahead = f"at least {odds(problem, guard.high)} times as probable as any other class"
    return [f"decides {name} wherever it is {ahead}"]


def odds(problem: FittedProblem, units: int) -> str:
    """How many times as probable a class is that is ahead by so many units."""
    nat = float(problem.nat(np.array([units]))[0])
    if abs(nat) > 700:
        return f"e^{nat:.0f}"
    return f"{math.exp(nat):.3g}"


def promise_in_words(promise: Promise, names: list[Value]) -> str:
    """A rate, its confidence and the rows it rests on."""
    name, share = names[promise.position], f"{100 * promise.bound:.6g} %"
    said = {
        "alarms": f"at most {share} of the rows of {name} are taken for another class",
        "false alarms": f"at most {share} of the rows that are not {name} are taken for it",
        "detections": f"at least {share} of the rows of {name} are taken for it",
    }[promise.kind]
    return (
        f"{said} ({100 * promise.confidence:.6g} % confidence; {promise.rows} held-out "
        f"{promise.unit}, {promise.beyond} of them beyond the threshold)"
    )


# -- A rule for decisions from held-out rows -------------------------------------------------------


# Held-out rows that novelty is judged by, at most; the model file holds a number for each.
_MOST_USUAL = 5000

Decided = TypeVar("Decided", bound=Model)


def decide(  # noqa: PLR0913
    model: Decided,
    X: object,
    y: ArrayLike,
    *,
    costs: Costs = None,
    abstain: Rates = None,
    max_false_alarms: Rates = None,
    min_detections: Rates = None,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> Decided:
    """Add a decision rule to a model: costs, referral, and rate limits, set on held-out rows.

    The rule becomes part of the fitted value: ``predict``, `explain`, model files and exported code
    follow it; ``predict_proba`` does not depend on it.  It takes the decision of least expected
    cost among those that its ceilings and floors allow.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes
        Fitted, calibrated, deployed; it is not changed.
    X, y : as for its ``predict`` and ``fit``
        Rows that took no part in the fit.
    costs : square matrix, mapping or pandas frame, optional
        What a decision costs, class x decision in the order of ``classes_``; or
        ``{class: {decision: cost}}``, where the right decision costs 0 unless it is named, and
        ``"ask a person"`` may be a decision.  With labels, of 0 and 1: for all labels, or
        ``{label: costs}``.
    abstain : float or mapping of classes (with labels, of labels) to floats, optional
        The cost of asking a person.  Without `costs`, an error costs 1: a person is asked where
        no class is as probable as ``1 - abstain``.
    max_false_alarms : float or mapping, optional
        A number: at most this share of the rows of the commonest class of training is taken for
        any other class.  A mapping of classes: at most this share of the rows of other classes is
        taken for the class.  With labels (a number, or by label): of the rows without the label.
    min_detections : float or mapping, optional
        A mapping of classes: at least this share of the rows of the class is taken for it.  A
        number: of every class but the commonest one; with labels, of the rows with the label.
    confidence : float, default=0.95
        With which all ceilings and floors (of one label) hold at the same time.
    groups : array-like of shape (n_samples,), optional
        What rows of one series, patient or machine share.  Rows of a group are not independent:
        ceilings, floors and `novelty` then rest on one row of each, the one in the middle, and hold
        for a row of a new group.

    Returns
    -------
    model : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes
        A copy with ``decision_``, a `Decision`.  Where a decision asks a person, ``predict`` gives
        None; the array then holds objects.  A new ``fit`` forgets the rule.

    Notes
    -----
    A ceiling is kept by a threshold that is an order statistic of the held-out scores: with n rows,
    k of them above it, more than a share a of new rows lies above it with probability
    P(Binomial(n, a) <= k) at most, whatever the scores' distribution.  The score of a class is its
    lead, how far its log-score is ahead of the best other.  What n rows cannot show is refused,
    with the best that they can.  Without costs, a ceiling that stands alone is used up: as many
    detections as it allows; and a floor that stands alone gives as few alarms as it allows.

    Expected costs need probabilities that can be believed: where costs are given and the model
    was not calibrated before, it is (`calibrate`, on the same rows).  A temperature changes no
    lead's order, so that it leaves the thresholds what they are.

    After `deploy`, costs are weighed by the probabilities of the new place.  Thresholds move with
    the prior, so that they separate the same rows as before: shares among the rows of one class
    hold in any place.  A ceiling by a mapping speaks of rows of several other classes, where
    there are more than two, and holds where these are mixed as they were held out.

    References
    ----------
    Tong, Feng and Li (2018), Neyman-Pearson classification algorithms and NP receiver operating
    characteristics.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import NaiveBayes, decide
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NaiveBayes().fit(X[::2], y[::2])
    >>> careful = decide(model, X[1::2], y[1::2], costs=[[0, 10], [1, 0]], abstain=0.5)
    >>> careful.predict(X[1:6:2])
    array([0, 0, 0], dtype=object)
    >>> print(decide(model, X[1::2], y[1::2], max_false_alarms={0: 0.05}).decision_.to_text())
    decides 0 where it is more than 7.91e+04 times as probable as any other class
    at most 5 % of the rows that are not 0 are taken for it (95 % confidence; 174 held-out rows,
    3 of them beyond the threshold)
    """
    confidence = float(check_number("confidence", confidence, low=0.5, high=1.0))
    if confidence > 1 - 1e-9:
        raise ValueError(
            f"confidence must be below 1; got {confidence:g}: no number of rows makes a rate "
            "certain. Use 0.99, say."
        )
    fitted = bayes_of(model).fitted_
    wanted = read_requirements(fitted, costs, abstain, max_false_alarms, min_detections)
    table, target, weights = held_out_rows(model, fitted, X, y, None)
    # A rate of a class that nobody has seen cannot be told.
    for g, (problem, truth) in enumerate(zip(fitted.problems, target.T, strict=True)):
        lost = np.setdiff1d(np.arange(len(problem.classes)), truth)
        if lost.size:
            name = repr(plain_value(problem.classes[lost[0]]))
            of = f" of the label {fitted.labels[g]!r}" if fitted.labelled else ""
            raise ValueError(
                f"y has no row of the class {name}{of}: held-out rows must show every class that "
                "the model knows. Give more of them."
            )
    if trained_on(fitted, table, target, weights):
        warnings.warn(
            "X and y hold the very counts that the model was fitted on: they seem to be its "
            "training rows, on which it is surer than on others, so that the rule promises too "
            "much. Give rows that are new to it.",
            UserWarning,
            stacklevel=2,
        )
    given = read_groups_of_rows(groups, table.n_rows)
    mates = None if given is None else group_numbers(given)
    weighed = any(each.costs is not None for each in wanted)
    plain = all(problem.temperature == 1 for problem in fitted.problems)
    believed = model
    if weighed and plain:
        with warnings.catch_warnings():  # said of the rule already
            warnings.filterwarnings("ignore", message="X and y hold the very counts")
            believed = calibrate(model, X, y)
    final = bayes_of(believed)
    ruled = _ruled(final.fitted_, wanted, table, target, confidence, mates)
    report = Decision.of(ruled, table, target)
    found = copy.copy(final).hold(ruled)
    if "calibration_" in final.__dict__:
        found.calibration_ = final.calibration_
    twin = around(believed, found)
    found.decision_ = twin.decision_ = report
    return twin


def _ruled(
    fitted: FittedBayes,
    wanted: list[Requirements],
    table: Table,
    target: Ints,
    confidence: float,
    mates: Ints | None,
) -> FittedBayes:
    """The fitted value with a rule a problem, and what novelty is judged by."""
    problems: list[FittedProblem] = []
    for problem, each, truth in zip(fitted.problems, wanted, target.T, strict=True):
        rule = make_rule(problem, each, problem.sums(table), truth, confidence, mates)
        problems.append(replace(problem, rule=rule))
    rows = np.arange(table.n_rows) if mates is None else middle_rows(mates)
    # Spread over the table, and chosen without a look at what they say.
    some = np.linspace(0, rows.size - 1, min(rows.size, _MOST_USUAL)).round().astype(np.int64)
    usual = np.sort(surprise(fitted, table)[rows[some]])
    return replace(fitted, problems=tuple(problems), usual=tuple(usual.tolist()))


def novelty(model: Model, X: object) -> Floats:
    """Novelty of rows: a p-value each, small where a row is unlike the held-out rows.

    How improbable the values of a row are under every class (and label), against the held-out rows
    of `decide`: (1 + those that are at least as surprising) / (1 + all).  Of new rows of the same
    kind, at most a share a has a p-value of a or less, for every a: 0.05 flags one in twenty of
    them, and most rows of a class that the model has never seen.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector or WeightedNaiveBayes
        With a rule, by `decide`.
    X : array-like, data frame or sparse matrix
        Rows.

    Returns
    -------
    p_values : ndarray of shape (n_samples,)

    Notes
    -----
    The surprise of a value is -log P(value | class) by the training counts, less its mean, so that
    a missing value is no surprise; a row's is the sum over the model's columns in standard
    deviations, in the class where it is least.  Values beyond all that were seen in training, and
    new categories, are the most surprising ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, decide, novelty
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(600, 5)), np.arange(600) % 2
    >>> model = decide(NaiveBayes().fit(X[:300], y[:300]), X[300:], y[300:])
    >>> novelty(model, [[0.1, -0.5, 0.3, 0.0, 1.0], [9.0, 9.0, 9.0, 9.0, 9.0]]).round(4)
    array([0.4917, 0.0033])
    """
    fitted = bayes_of(model).fitted_
    return novelty_of(fitted, rows_of(model, X))


def novelty_of(fitted: FittedBayes, rows: Table) -> Floats:
    """P-values of rows being like those held out, by a fitted value; see `novelty`."""
    if fitted.usual is None:
        raise ValueError(
            "novelty needs a model with held-out rows to compare with; use decide(model, X, y) "
            "first."
        )
    usual = np.array(fitted.usual)
    above = usual.size - np.searchsorted(usual, surprise(fitted, rows), side="left")
    return (1 + above) / (1 + usual.size)
