"""The whole model in plain data: what each value says, where it comes from, how much it matters."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..checks import plain_value
from ..data.columns import ColumnSpec
from ..data.result import Result
from ..estimators.deploy import fitted_of, stands_for
from ..estimators.signals import follow
from ..evaluation._typing import Model, Value
from ..models.fitted import FittedBayes, FittedProblem
from ..models.gaussian import Bells, Mixtures, Moments, deviations
from ..rankings.families import count_others
from .text import (
    FeatureEvidence,
    Source,
    average_evidence,
    divergence,
    grid_evidence,
    odds_in_words,
    others_of,
    weighted_features,
)

_TAIL = 3.0


_POINTS = 101  # of a continuous column's scale


_REACH = 8.0  # standard deviations beyond which a continuous column is not integrated


_FINE = 401


#: The values of a feature, each with its log-ratio.
ValueScale: TypeAlias = list[tuple[Value, float]]


@dataclass(frozen=True)
class ModelExplanation(Result):
    """All that a model can say.

    Attributes
    ----------
    label : str or None
        The label it is about, where the model has labels.
    classes : list
    class_count : list of float
        Training rows of each class.
    log_prior : list of float
    features : list of FeatureEvidence
        In the model's order.
    temperature : float
        What `calibrate` found: log-ratios are divided by it, the distributions stay.
    stands_for : dict
        The columns that a feature stands for, where a selector knows families.
    place : list of float or None
        Probabilities of the classes where the model is used, if `deploy` gave some: `log_prior` is
        of that place.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain_model
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> print(explain_model(NaiveBayes().fit(X, y)).to_text())
       1.9982  x0: 1 speaks for a; 0 speaks for b
       0.0000  x1:
    """

    label: str | None
    classes: list[Value]
    class_count: list[float]
    log_prior: list[float]
    features: list[FeatureEvidence]
    temperature: float = 1.0
    stands_for: dict[str, list[str]] = field(default_factory=dict)
    place: list[float] | None = None

    def nomogram(
        self, target: Value | None = None, against: Value | None = None
    ) -> list[tuple[str, ValueScale]]:
        """The scale of each feature: (name, [(value, log-ratio), ...]), longest scale first.

        Parameters
        ----------
        target, against : classes, optional
            The second and the first class by default.
        """
        k = self._position("target", target, 1)
        other = self._position("against", against, 0 if k else 1)
        if k == other:
            raise ValueError("target and against must be different classes.")
        found = [
            (
                each.feature,
                [
                    (value, ratio / self.temperature)
                    for value, ratio in zip(each.values, each.ratios(k, other), strict=True)
                ],
            )
            for each in self.features
        ]
        return sorted(found, key=lambda pair: -_length(pair[1]))

    def ranked(self, target: Value | None = None) -> list[tuple[str, float]]:
        """Features by importance for a class (for all classes together by default), largest first.

        Over all classes, importances count by the share of each class among the rows.
        """
        total = max(sum(self.class_count), 1e-300)
        share = [count / total for count in self.class_count]
        if target is not None:
            at = self._position("target", target, 0)
            share = [float(k == at) for k in range(len(self.classes))]
        found = []
        for each in self.features:
            parts = [s * i for s, i in zip(share, each.importance, strict=True) if s]
            found.append((each.feature, sum(parts)))
        return sorted(found, key=lambda pair: -pair[1])

    def to_text(self) -> str:
        """One line a feature: its importance, and what speaks most for each class."""
        lines = []
        by_name = {each.feature: each for each in self.features}
        for name, importance in self.ranked():
            each, said = by_name[name], []
            for k, value in enumerate(self.classes):
                best = _most_telling(each.terms, k)
                if best is not None:
                    said.append(f"{_short(each.values[best])} speaks for {value}")
            if name in self.stands_for:
                said.append(f"stands for {count_others(self.stands_for[name])}")
            lines.append(f"{importance:9.4f}  {name}: {'; '.join(said)}")
        if self.place is not None:
            shares = [f"{c} {p:.4g}" for c, p in zip(self.classes, self.place, strict=True)]
            lines.append(f"priors of the place of use: {', '.join(shares)}")
        return "\n".join(lines)

    def _position(self, parameter: str, wanted: Value | None, default: int) -> int:
        if wanted is None:
            return default
        if wanted not in self.classes:
            raise ValueError(
                f"{parameter} must be one of the classes {self.classes}; got {wanted!r}."
            )
        return self.classes.index(wanted)

    def to_columns(self) -> dict[str, list[Any]]:
        """Features by importance, in words and in nat."""
        names, scores = zip(*self.ranked(), strict=True) if self.features else ((), ())
        said = [f"{odds_in_words(score)} as likely" for score in scores]
        said = ["no more likely" if each == "as as likely" else each for each in said]
        return {"feature": list(names), "importance": said, "in nat": list(scores)}

    def caption(self) -> str:
        """What importance means."""
        return "How much more likely values are in a row's own class than in others, on average"


def explain_model(
    model: Model | FittedBayes | Pipeline, *, label: str | None = None
) -> ModelExplanation:
    """What the model says about every value, the counts behind it, and what matters most.

    Parameters
    ----------
    model : NaiveBayes or NaiveBayesSelector
        Fitted.
    label : str, optional
        With labels: which one to speak of; the first by default.

    Returns
    -------
    explanation : ModelExplanation

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes
    >>> from bayesieve.explain import explain_model
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> found = explain_model(NaiveBayes().fit(X, y))
    >>> found.features[0].counts  # of the values 0 and 1 in the classes a and b
    [[0.0, 10.0], [10.0, 0.0]]
    >>> found.ranked()[0][0], found.nomogram("a", "b")[0][1][1][0]
    ('x0', 1.0)
    """
    model, _ = follow(model)
    fitted = fitted_of(model)
    known = list(fitted.labels)
    if label is not None and label not in known:
        raise ValueError(f"label must be one of the labels {known}; got {label!r}.")
    if fitted.labelled and label is None:
        label = known[0]
    problem = fitted.problems[0 if label is None else known.index(label)]
    return ModelExplanation(
        label,
        [plain_value(value) for value in problem.classes],
        problem.summary.class_count.tolist(),
        problem.scale.release(problem.fixed_prior).tolist(),
        weighted_features(problem, [_feature(problem, j) for j in range(len(problem.specs))]),
        problem.temperature,
        stands_for(model),
        None if problem.place is None else list(problem.place),
    )


def _feature(problem: FittedProblem, j: int) -> FeatureEvidence:
    summary, scale = problem.summary, problem.scale
    spec, statistics = summary.specs[j], summary.statistics[j]
    weight = summary.class_count * summary.class_weight
    if spec.on_grid:
        return grid_evidence(problem, j)
    if spec.levels is not None:
        counts = statistics[0]
        fixed = problem.tables[j]
        assert fixed is not None
        terms, beside = scale.release(fixed)[:-1], None
        if np.isinf(terms).any():
            finite = np.where(np.isinf(terms), fixed[:-1] + scale.impossible, fixed[:-1])
            beside = np.ldexp(finite.astype(np.float64), -scale.bits).tolist()
        return FeatureEvidence(
            spec.name,
            spec.model,
            divergence(np.exp(terms), weight)
            if problem.weighting is None
            else average_evidence(terms, counts[:-1], weight),
            [plain_value(level) for level in spec.levels],
            terms.tolist(),
            counts[:-1].tolist(),
            {"missing": np.maximum(summary.class_count - counts[:-1].sum(0), 0.0).tolist()},
            beside,
        )
    low, high = _ends(spec, statistics)
    points = np.linspace(low, high, _POINTS)
    terms = _continuous_terms(problem, j, points)
    return FeatureEvidence(
        spec.name,
        spec.model,
        _continuous_divergence(problem, j, weight),
        points.tolist(),
        terms.tolist(),
        None,
        _moments(spec.model, statistics, summary.class_count),
    )


def _continuous_terms(
    problem: FittedProblem, j: int, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    return problem.scale.release(problem.speak(j, points))


def _continuous_divergence(
    problem: FittedProblem, j: int, weight: NDArray[np.float64]
) -> list[float]:
    """Of each class from all others together, each averaged over the places where it lies.

    One grid for all classes would miss a narrow class beside a wide one.
    """
    spec, column = problem.specs[j], problem.columns[j]
    with np.errstate(all="ignore"):
        bells = column.model.bells(column.statistics, column.grid, column.settings)
    if bells is None:
        return _divergence_over_values(problem, j, weight)
    found = []
    for k, mine in enumerate(bells):
        total = 0.0
        for each in mine:
            points, chances = _lattice(spec, each)
            terms = _continuous_terms(problem, j, points)
            share = others_of(weight, k)
            rest = np.delete(terms, k, axis=1)
            top = rest.max(1, initial=-np.inf)
            others = top + np.log(np.exp(rest - top[:, None]) @ share)
            total += float(np.exp(each.share) * (chances @ (terms[:, k] - others)))
        found.append(max(total, 0.0) if np.isfinite(total) else 0.0)
    return found


def _divergence_over_values(
    problem: FittedProblem, j: int, weight: NDArray[np.float64]
) -> list[float]:
    """The same without a closed form: over the values seen, or points between their ends."""
    spec = problem.specs[j]
    assert spec.distinct is not None
    points = spec.distinct
    if points.size != spec.n_distinct:
        points = np.linspace(points[0], points[-1], _FINE)
    if not points.size:
        return [0.0] * len(problem.classes)
    terms = _continuous_terms(problem, j, points)
    chances = np.exp(terms - terms.max(0))
    return divergence(chances / chances.sum(0), weight)


def _lattice(spec: ColumnSpec, bells: Bells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points over one component, and how likely it is to show each of them."""
    centres = bells.mean - bells.sd * np.array(bells.offsets)
    if not (np.isfinite(centres).all() and np.isfinite(bells.sd)):
        return np.zeros(1), np.ones(1)
    low, high = centres.min() - _REACH * bells.sd, centres.max() + _REACH * bells.sd
    points = np.linspace(low, high, _FINE)
    if spec.grid is not None and (high - low) / spec.grid < 10 * _FINE:
        points = np.arange(np.floor(low / spec.grid), np.ceil(high / spec.grid) + 1) * spec.grid
    logs = np.array(bells.levels) - ((points[:, None] - centres) / bells.sd) ** 2 / 2
    chances = np.exp(logs).sum(1)
    return points, chances / chances.sum()


def _ends(spec: ColumnSpec, statistics: object) -> tuple[float, float]:
    """The range of a continuous column without its farthest tails, never empty."""
    assert spec.distinct is not None
    if not spec.distinct.size:
        return 0.0, 1.0
    ends = float(spec.distinct[0]), float(spec.distinct[-1])
    if not isinstance(statistics, Moments | Mixtures):
        return ends if ends[0] < ends[1] else (ends[0] - 1.0, ends[1] + 1.0)
    known = statistics.weight[0] > 0
    mean = statistics.mean[0][known]
    sd = deviations(statistics)[known]
    low = max(ends[0], float((mean - _TAIL * sd).min()))
    high = min(ends[1], float((mean + _TAIL * sd).max()))
    return (low, high) if low < high else (low - spec.resolution, high + spec.resolution)


def _moments(name: str, statistics: object, class_count: NDArray[np.float64]) -> Source:
    """What a continuous column's terms came from, where that is moments."""
    if not isinstance(statistics, Moments | Mixtures):
        return {}
    weight = statistics.weight[0]
    found: Source = {
        "rows": weight.tolist(),
        "mean": statistics.mean[0].tolist(),
        "sd": deviations(statistics).tolist(),
        "missing": np.maximum(class_count - weight, 0.0).tolist(),
    }
    if isinstance(statistics, Mixtures):
        power = statistics.variance_power[0].astype(np.int64)
        sd = np.ldexp(np.sqrt(np.maximum(statistics.variance[0], 0.0)), power)
        parts = zip(statistics.share[0], statistics.centre[0], sd, strict=True)
        found["components"] = [
            np.column_stack([share, centre, each])[share > 0].tolist()
            for share, centre, each in parts
        ]
    return found


def _length(scale: ValueScale) -> float:
    ratios = [ratio for _, ratio in scale]
    return max(ratios, default=0.0) - min(ratios, default=0.0)


def _most_telling(terms: list[list[float]], k: int) -> int | None:
    """The value that speaks most for a class against the best of the others."""
    ahead = [row[k] - max(row[:k] + row[k + 1 :]) for row in terms]
    known = [(a, -i) for i, a in enumerate(ahead) if a == a and a > 0]
    return -max(known)[1] if known else None


def _short(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
