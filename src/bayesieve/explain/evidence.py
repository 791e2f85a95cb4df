"""The evidence for single decisions: one signed bar a feature, and one for the prior."""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..checks import plain_value
from ..data.columns import encode
from ..data.series import SeriesLike
from ..data.tables import Table
from ..estimators.held import bayes_of, rows_of
from ..estimators.pipelines import follow
from ..estimators.signals import SignalPipeline
from ..evaluation.given import Model, Value
from ..models.fitted import FittedBayes, FittedProblem
from .explanations import PLACE, PRIOR, Evidence, Explanation, Explanations, show
from .verdict import Verdict, Verdicts


def explain(
    model: Model | Pipeline,
    X: object,
    *,
    target: Value | None = None,
    against: Value | None = None,
) -> Explanations:
    """The evidence behind each row's decision.

    The bars of a row are what each feature and the prior say for the target against the other
    class; they add up to its log-odds.

    Parameters
    ----------
    model : NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes or what `signals` gives
        Fitted.
    X : array-like, data frame or sparse matrix
        Rows to explain; for `signals`, series.
    target : class, optional
        The class to speak for; by default the one that a row is decided to be (see `decide`), or
        its most probable class.  With labels: the name of one label; all of them by default, an
        explanation each.
    against : class, optional
        The class to speak against; the most probable one but the target by default.  Not with
        labels.

    Returns
    -------
    explanations : list of Explanation
        One a row; with labels, one a row and label.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.explain import explain
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> found = explain(NaiveBayes().fit(X, y), X[:1])[0]
    >>> found.target, found.evidence[1].feature
    ('a', 'x0')
    """
    if isinstance(model, SignalPipeline):
        model, X = model.estimator, model.columns(cast(SeriesLike, X))
    model, X = follow(model, X)
    fitted = bayes_of(model).fitted_
    table = rows_of(model, X)
    if fitted.labelled:
        return _explain_labels(fitted, table, target, against)
    problem = fitted.only
    chosen = [_position(problem, "target", target), _position(problem, "against", against)]
    sums = problem.sums(table)
    proba = problem.proba(sums)
    bars = _bars(problem, table)
    names = [plain_value(value) for value in problem.classes]
    verdicts = Verdicts(fitted, table).of(problem, sums)
    found = Explanations()
    for i, verdict in enumerate(verdicts):
        first, second = _pair(sums[i], _spoken_for(chosen, verdict, names), chosen[1])
        classes = (names[first], names[second])
        row = _Row(i, first, second, classes, float(proba[i, first]), sums[i], verdict)
        found.append(_one(problem, bars, row))
    return found


def _spoken_for(
    chosen: list[int | None], verdict: Verdict | None, names: list[Value]
) -> int | None:
    """The class asked for, else the one decided; None: the most probable one."""
    if chosen[0] is not None or verdict is None or verdict.decision is None:
        return chosen[0]
    decided = names.index(verdict.decision)
    return None if decided == chosen[1] else decided


class _Row(NamedTuple):
    """What is to be told of one row."""

    number: int
    first: int
    second: int
    classes: tuple[Value, Value]
    probability: float
    sums: NDArray[np.int64]
    verdict: Verdict | None


def _position(problem: FittedProblem, parameter: str, wanted: Value | None) -> int | None:
    if wanted is None:
        return None
    known = [plain_value(value) for value in problem.classes]
    if wanted not in known:
        raise ValueError(f"{parameter} must be one of the classes {known}; got {wanted!r}.")
    return known.index(wanted)


def _pair(sums: NDArray[np.int64], target: int | None, against: int | None) -> tuple[int, int]:
    """Target and opponent of a row; the most probable ones where they are not given."""
    order = np.argsort(-sums, kind="stable").tolist()
    if target is None:
        target = next(k for k in order if k != against)
    if against is None:
        against = next(k for k in order if k != target)
    if target == against:
        raise ValueError("target and against must be different classes.")
    return target, against


#: Of each column: fixed-point terms (rows x classes), values as shown, and their status.
Bars = list[tuple[NDArray[np.int64], list[Value | None], list[str]]]


def _bars(problem: FittedProblem, table: Table) -> Bars:
    found = []
    for j, spec in enumerate(problem.specs):
        raw = table.column(j)
        values = [None if v is None or v != v or v == "" else plain_value(v) for v in raw]
        status = ["missing" if value is None else "seen" for value in values]
        if spec.levels is not None:
            codes = encode(spec, raw)
            counts = problem.summary.statistics[j][0].sum(-1)
            for i, code in enumerate(codes):
                silent = code == spec.n_codes - 1 or (
                    spec.model == "categorical" and not counts[code]
                )
                if silent and values[i] is not None:
                    status[i] = "unseen"
        found.append((problem.speak(j, raw), values, status))
    for pair in problem.pairs:
        first, second = (found[j] for j in pair.columns)
        shown: list[Value | None] = [
            None if a is None and b is None else f"{show(a)} and {show(b)}"
            for a, b in zip(first[1], second[1], strict=True)
        ]
        both = [
            next((s for s in pair_status if s != "seen"), "seen")
            for pair_status in zip(first[2], second[2], strict=True)
        ]
        found.append((problem.said_together(table, pair), shown, both))
    return found


def term_names(problem: FittedProblem) -> list[str]:
    """The columns, then the pairs of columns."""
    names = [spec.name for spec in problem.specs]
    return names + [" x ".join(names[j] for j in pair.columns) for pair in problem.pairs]


def _one(problem: FittedProblem, bars: Bars, row: _Row) -> Explanation:
    """One row's bars, sorted."""
    i, first, second = row.number, row.first, row.second
    prior, place = problem.fixed_prior, None if problem.place is None else PLACE

    def ratio(scores: NDArray[np.int64]) -> float:
        return float(problem.nat(np.array([scores[first] - scores[second]]))[0])

    found = [
        Evidence(name, values[i], ratio(terms[i]), status[i])
        for at, (name, (terms, values, status)) in enumerate(
            zip(term_names(problem), bars, strict=True)
        )
        if at >= len(problem.specs) or _speaks(problem, at)
    ]
    found.sort(key=lambda bar: -abs(bar.log_ratio))
    return Explanation(
        i,
        *row.classes,
        row.probability,
        ratio(row.sums),
        [Evidence(PRIOR, place, ratio(prior), "prior"), *found],
        row.verdict,
    )


def _speaks(problem: FittedProblem, column: int) -> bool:
    """Does a column say anything alone, or only with another one?"""
    return problem.weighting is None or bool(problem.weighting.weights[column].any())


def _explain_labels(
    fitted: FittedBayes, table: Table, target: Value | None, against: Value | None
) -> Explanations:
    if against is not None:
        raise ValueError("against is for classes; a label is explained against its absence.")
    names = list(fitted.labels)
    if target is not None and target not in names:
        raise ValueError(f"target must be one of the labels {names}; got {target!r}.")
    parts, verdicts = [], Verdicts(fitted, table)
    for name, problem in zip(names, fitted.problems, strict=True):
        if target is None or name == target:
            sums = problem.sums(table)
            told = verdicts.of(problem, sums)
            parts.append((name, problem, sums, problem.proba(sums), _bars(problem, table), told))
    found = Explanations()
    for i in range(table.n_rows):
        for name, problem, sums, proba, bars, told in parts:
            row = _Row(i, 1, 0, (name, f"not {name}"), float(proba[i, 1]), sums[i], told[i])
            found.append(_one(problem, bars, row))
    return found
