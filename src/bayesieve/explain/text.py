"""Evidence in words: intervals of shares, levels and ranges, terms and pairs of columns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from ..checks import plain_value
from ..data.columns import ColumnSpec
from ..evaluation._typing import Value
from ..models.base import Floats, Ints
from ..models.density import DensityModel
from ..models.fitted import FittedProblem
from ..models.log_ratios import WEIGHT_STEPS
from ..models.pairs import PairTerms

#: Numbers of each class; of ``components``, a list of (share, mean, sd) of each class; of a pair,
#: names of its rows and columns; of a number, the name of its density.
Source: TypeAlias = dict[str, list[float] | list[list[list[float]]] | list[str]]


def interval(hits: float, rows: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934).

    Parameters
    ----------
    hits, rows : weights count as rows.
    confidence : of the interval.

    Examples
    --------
    >>> from bayesieve.explain.text import interval
    >>> [round(each, 3) for each in interval(0, 100)]
    [0.0, 0.036]
    """
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, hits, rows - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, rows - hits)) if hits < rows else 1.0
    return low, high


# -- Numbers as people say them --------------------------------------------------------------------


#: Below this many nat evidence says nothing worth telling.
SILENT = 0.05


def odds_in_words(nat: float) -> str:
    """How many times as likely, of evidence in nat; its sign does not count.

    Parameters
    ----------
    nat : float
        A log-ratio.

    Examples
    --------
    >>> from bayesieve.explain.text import odds_in_words
    >>> odds_in_words(2.5), odds_in_words(0.01), odds_in_words(20.0)
    ('12 times', 'as', 'over 10 000 times')
    """
    size = abs(nat)
    if size == float("inf"):
        return "infinitely"
    if size < SILENT:
        return "as"
    if size >= math.log(10_000):
        return "over 10 000 times"
    return f"{few_digits(math.exp(size))} times"


def few_digits(value: float) -> str:
    """A factor in two digits, at most one behind the point; thousands apart.

    Examples
    --------
    >>> from bayesieve.explain.text import few_digits
    >>> few_digits(1.26), few_digits(12.4), few_digits(1234.0)
    ('1.3', '12', '1 200')
    """
    if value < 9.95:
        return f"{value:.1f}"
    digits = len(str(int(value))) - 2
    return f"{int(round(value, -digits)):,}".replace(",", " ")


def chance_in_words(p: float) -> str:
    """A probability in percent, without false precision at its ends.

    Examples
    --------
    >>> from bayesieve.explain.text import chance_in_words
    >>> chance_in_words(0.873), chance_in_words(1 - 1e-7), chance_in_words(0.0)
    ('87.3 %', '≥ 99.9 %', '≤ 0.1 %')
    """
    if p != p:
        return "–"
    if p >= 0.999:
        return "≥ 99.9 %"
    if p <= 0.001:
        return "≤ 0.1 %"
    return f"{100 * p:.1f} %"


def rate_in_words(rate: float) -> str:
    """A share of rows in percent; 0 is 0.

    Examples
    --------
    >>> from bayesieve.explain.text import rate_in_words
    >>> rate_in_words(0.0), rate_in_words(0.0004), rate_in_words(0.123)
    ('0 %', '0.04 %', '12.3 %')
    """
    if rate != rate:
        return "–"
    percent = 100 * rate
    if percent == 0:
        return "0 %"
    return f"{percent:.2g} %" if percent < 1 else f"{percent:.1f} %"


def nth(place: int) -> str:
    """A place in an order.

    Examples
    --------
    >>> from bayesieve.explain.text import nth
    >>> nth(1), nth(2), nth(11), nth(23)
    ('the first', 'the second', 'the 11th', 'the 23rd')
    """
    if place in (1, 2, 3):
        return f"the {('first', 'second', 'third')[place - 1]}"
    ending = "th" if 10 < place % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"the {place}{ending}"


def many(count: float, what: str, plural: str | None = None) -> str:
    """A number of things.

    Examples
    --------
    >>> from bayesieve.explain.text import many
    >>> many(1, "row"), many(2, "row"), many(2, "class", "classes")
    ('1 row', '2 rows', '2 classes')
    """
    return f"{count:g} {what if count == 1 else plural or what + 's'}"


# -- What one feature says, as people read it ------------------------------------------------------


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


# -- What weighted terms say, as people read it ----------------------------------------------------


def weighted_features(
    problem: FittedProblem, columns: Sequence[FeatureEvidence]
) -> list[FeatureEvidence]:
    """Columns with their weights, and pairs of columns behind them."""
    weighting = problem.weighting
    if weighting is None:
        return list(columns)
    found = []
    for each, line in zip(columns, weighting.weights, strict=True):
        source = {**each.source, "weights": (line / WEIGHT_STEPS).tolist()}
        found.append(replace(each, source=source))
    return [*found, *(pair_evidence(problem, pair) for pair in weighting.pairs)]


def speaks(source: Source) -> bool:
    """Does a feature say anything by itself?  Some columns speak in pairs only."""
    return any(source.get("weights", [1.0]))


def pair_evidence(problem: FittedProblem, pair: PairTerms) -> FeatureEvidence:
    """One pair of columns: what each cell says, and the rows in it."""
    n_classes = len(problem.classes)
    terms = problem.scale.release((pair.ratios * pair.weights).reshape(-1, n_classes))
    counts = pair.counts.reshape(-1, n_classes)
    specs = [problem.specs[j] for j in pair.columns]
    shown = [_group_names(spec, part) for spec, part in zip(specs, pair.groups, strict=True)]
    weight = problem.summary.class_count * problem.summary.class_weight
    missing = np.maximum(problem.summary.class_count - counts.sum(0), 0.0)
    return FeatureEvidence(
        " x ".join(spec.name for spec in specs),
        "pair",
        average_evidence(terms, counts, weight),
        [f"{a} and {b}" for a, b in product(*shown)],
        terms.tolist(),
        counts.tolist(),
        {
            "missing": missing.tolist(),
            "first": shown[0],
            "second": shown[1],
            "names": [spec.name for spec in specs],
            "weights": (pair.weights / WEIGHT_STEPS).tolist(),
        },
    )


def _group_names(spec: ColumnSpec, groups: Ints) -> list[str]:
    """Each group of a column's codes in words."""
    if spec.on_grid:
        return words(spec, np.flatnonzero(np.diff(groups[:-1], prepend=-1)))
    assert spec.levels is not None
    names = [plain_value(level) for level in spec.levels]
    return [f"{name:.10g}" if isinstance(name, float) else str(name) for name in names]
