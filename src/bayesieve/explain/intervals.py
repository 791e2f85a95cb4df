"""What one feature says, as people read it; numbers on a grid as intervals in words."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..data.columns import ColumnSpec
from ..evaluation.given import Value
from ..models.base import Floats, Ints
from ..models.density import DensityModel
from ..models.fitted import FittedProblem
from .plain import Source

# Neighbours that differ by less, in nat, are read as one.
_ALIKE = 0.1


# Share of the way between two medians by which a cut may be off where people read it.
_OFF = 0.05


@dataclass(frozen=True)
class FeatureEvidence:
    """One feature of the model.

    Attributes
    ----------
    feature, model : str
        Its name, and its distribution.
    importance : list of float
        For each class, in nat: what the feature says on average about rows of the class, for it
        against all others together (the Kullback-Leibler divergence of the model's distributions).
    values : list
        Levels of a discrete feature; intervals of one on a grid, as texts, neighbours joined where
        what they say differs by less than a tenth of a nat; points over the range of any other
        continuous one, without what lies more than three standard deviations outside of every
        class.
    terms : list of lists of float
        log P(value | class), values x classes; of densities on a grid, less log P(value).
    counts : list of lists of float, or None
        How many training rows of each class had the value; None for continuous features that are
        not on a grid.
    source : dict
        For a continuous feature: ``rows``, ``mean`` and ``sd`` of each class, and its
        ``components`` (share, mean, sd) where it has several.  For one on a grid: the ``median``
        of each class, ``cuts`` between the intervals, and the ``density`` that was chosen, where
        there was a choice.  For any: ``missing``, rows of each class without a value; in a model
        of weights, its ``weights``.  For a pair: ``names`` of its columns, and values of the
        ``first`` and the ``second`` in words.
    beside : list of lists of float, or None
        With ``smoothing=0``: where a value is impossible in a class, what remains beside log 0; two
        classes in which it is impossible are compared by this.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import NaiveBayes, explain_model
    >>> X, y = np.array([[1], [1], [0], [0]] * 5), np.array(["a", "a", "b", "b"] * 5)
    >>> feature = explain_model(NaiveBayes().fit(X, y)).features[0]
    >>> feature.values, [round(ratio, 3) for ratio in feature.ratios(0, 1)]
    ([0.0, 1.0], [-2.398, 2.398])
    """

    feature: str
    model: str
    importance: list[float]
    values: list[Value]
    terms: list[list[float]]
    counts: list[list[float]] | None
    source: Source
    beside: list[list[float]] | None = None

    def ratios(self, k: int, other: int) -> list[float]:
        """Log-ratio of each value between two classes."""
        found = []
        for i, row in enumerate(self.terms):
            impossible = self.beside is not None and row[k] == row[other] == -np.inf
            mine = self.beside[i] if impossible and self.beside is not None else row
            found.append(mine[k] - mine[other])
        return found


def grid_evidence(problem: FittedProblem, j: int) -> FeatureEvidence:
    """One feature on a grid: its intervals, neighbours joined where they say the same."""
    summary, scale = problem.summary, problem.scale
    spec, table = summary.specs[j], problem.tables[j]
    assert spec.levels is not None
    assert table is not None
    counts, terms = summary.statistics[j][0][:-1], scale.release(table)[:-1]
    weight = summary.class_count * summary.class_weight
    rows = (counts * summary.class_weight).sum(1)
    starts = _runs(terms)
    source: Source = {
        "median": [_median(spec.levels, mine) for mine in counts.T],
        "missing": np.maximum(summary.class_count - counts.sum(0), 0.0).tolist(),
        "cuts": spec.cuts[starts[1:] - 1].tolist() if spec.cuts is not None else [],
    }
    column = problem.columns[j]
    if isinstance(column.model, DensityModel) and len(column.model.members) > 1:
        source["density"] = column.model.chosen(column.statistics, column.grid, column.settings)
    joined = [_joined(table[a:b], rows[a:b]) for a, b in pairwise([*starts, len(counts)])]
    fixed = np.array(joined, np.int64).reshape(len(joined), -1)
    shown, beside = scale.release(fixed), None
    if np.isinf(shown).any():
        finite = np.where(np.isinf(shown), fixed + scale.impossible, fixed)
        beside = np.ldexp(finite.astype(np.float64), -scale.bits).tolist()
    return FeatureEvidence(
        spec.name,
        spec.model,
        divergence(_chances(terms, rows, weight), weight)
        if problem.weighting is None
        else average_evidence(terms, counts, weight),
        [*words(spec, starts)],
        shown.tolist(),
        [counts[a:b].sum(0).tolist() for a, b in pairwise([*starts, len(counts)])],
        source,
        beside,
    )


def _median(levels: Floats, counts: Floats) -> float:
    """The median of a class; 0 where it has no row."""
    total = np.cumsum(counts)
    return float(levels[np.searchsorted(total, total[-1] / 2)]) if counts.sum() > 0 else 0.0


def _runs(terms: Floats) -> Ints:
    """The first code of each run of codes that say the same of every class."""
    starts: list[int] = []
    low = high = np.empty(0)
    for c, said in enumerate(terms):
        if starts:
            low, high = np.minimum(low, said), np.maximum(high, said)
            if (np.where(low == high, 0.0, high - low) < _ALIKE).all():
                continue
        starts.append(c)
        low = high = said
    return np.array(starts, np.int64)


def _joined(table: Ints, rows: Floats) -> list[int]:
    """What a run says: the mean of its rows."""
    if len(table) == 1 or not rows.sum():
        return [int(x) for x in table[0]]
    share = rows / rows.sum()
    # Around the first, which is near: integers of 62 bits do not fit a float.
    apart = np.rint(share @ (table - table[0]).astype(np.float64))
    return [int(x) + int(d) for x, d in zip(table[0], apart, strict=True)]


def words(spec: ColumnSpec, starts: Ints) -> list[str]:
    """Each run as people say it: up to 4.2, from 4.2 to 5.1, above 5.1."""
    if starts.size < 2 or spec.cuts is None or spec.levels is None:
        return ["any number"] * starts.size
    cuts = [
        _short_cut(float(spec.cuts[at - 1]), *spec.levels[at - 1 : at + 1]) for at in starts[1:]
    ]
    inner = [f"{a} to {b}" for a, b in pairwise(cuts)]
    return [f"<= {cuts[0]}", *inner, f"above {cuts[-1]}"]


def _short_cut(cut: float, below: float, above: float) -> str:
    """A cut in as few digits as keep it where it is, between two medians."""
    room = _OFF * min(cut / 2 - below / 2, above / 2 - cut / 2)
    for digits in range(1, 17):
        near = float(f"{cut:.{digits}g}")
        if abs(near / 2 - cut / 2) <= room:
            plain = f"{near:.15g}"  # no exponent where digits will do
            return plain if float(plain) == near else repr(near)
    return repr(cut)


def _chances(terms: Floats, rows: Floats, weight: Floats) -> Floats:
    """P(code | class) from ratios to any reference: codes x classes."""
    if not rows.sum():
        return np.zeros(terms.shape)
    top = terms.max(1, keepdims=True)
    ratio = np.exp(terms - np.where(np.isinf(top), 0.0, top))
    pooled = ratio @ (weight / max(weight.sum(), 1e-300))
    found = np.divide(ratio, pooled[:, None], out=np.zeros(ratio.shape), where=pooled[:, None] > 0)
    found *= (rows / rows.sum())[:, None]
    total = found.sum(0)
    return np.divide(found, total, out=np.zeros(found.shape), where=total > 0)


def divergence(chances: NDArray[np.float64], weight: NDArray[np.float64]) -> list[float]:
    """Of each class from all others together; 0 x log 0 is 0."""
    found = []
    for k in range(len(weight)):
        others = np.delete(chances, k, axis=1) @ others_of(weight, k)
        mine = chances[:, k]
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(mine > 0, mine * np.log(mine / others), 0.0)
        found.append(float(max(parts.sum(), 0.0)))
    return found


def others_of(weight: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Shares of the other classes among each other."""
    rest = np.delete(weight, k)
    return rest / rest.sum() if rest.sum() > 0 else np.full(rest.size, 1 / rest.size)


def average_evidence(terms: Floats, counts: Floats, weight: Floats) -> list[float]:
    """What a term says on average about rows of each class, for it against the others, in nat.

    Parameters
    ----------
    terms, counts : values x classes.
    weight : of each class.
    """
    found = []
    for k in range(weight.size):
        ahead = terms[:, k] - np.delete(terms, k, axis=1) @ others_of(weight, k)
        rows = counts[:, k]
        found.append(float(max(rows @ ahead / rows.sum(), 0.0)) if rows.sum() else 0.0)
    return found
