"""Feature-model interface: log-probabilities of values by class, and their fixed-point form.

Statistics are taken from the rows of training sets; terms are log-probabilities, rounded once to a
common unit.  Where terms have weights, two columns may speak together.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from scipy.special import betaincinv

from ..checks import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    from .gaussian import Bells


#: What a feature model keeps of a column; counts or moments, and nobody but the model knows.
Statistics: TypeAlias = Any

#: Runs task(lo, hi) over 0..n_items, in parts where it has threads; the last number is the work.
Run: TypeAlias = Callable[[Callable[[int, int], None], int, int], None]


def run_alone(task: Callable[[int, int], None], n_items: int, n_cells: int) -> None:
    """The whole range at once."""
    task(0, n_items)


#: Terms are never finer than 2^-40 nat.
MOST_BITS = 40

#: Scores of weighted terms are whole multiples of 2^-SCORE_BITS nat.
SCORE_BITS = 40

#: Corrections of weighted terms are whole multiples of 2^-CORRECTION_BITS nat.
CORRECTION_BITS = 8


class Terms(NamedTuple):
    """Log-probabilities; where `impossible`, `finite` is what remains beside log 0.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models import Terms
    >>> Terms(np.log([[0.5, 0.25]])).impossible is None
    True
    """

    finite: Floats
    impossible: Bools | None = None


@dataclass(frozen=True)
class TrainingSets:
    """The rows from which each set of tables is estimated.

    Parameters
    ----------
    labels : class index of every row.
    weights : how many rows each row stands for.
    left_out : one array of row indices per set: set g is estimated on all rows but these.
    class_weight : factor on the counts of each class.
    numbers : the number of each row in the whole table, ascending; their own order by default.

    Examples
    --------
    Two folds of four rows:

    >>> import numpy as np
    >>> from bayesieve.models import TrainingSets
    >>> held_out = (np.array([0, 1]), np.array([2, 3]))
    >>> sets = TrainingSets(np.array([0, 1, 1, 0]), np.ones(4), held_out, np.ones(2))
    >>> sets.n_sets, [rows.tolist() for rows in sets.rows], sets.class_counts.tolist()
    (2, [[2, 3], [0, 1]], [[1.0, 1.0], [1.0, 1.0]])
    """

    labels: Ints
    weights: Floats
    left_out: tuple[Ints, ...]
    class_weight: Floats
    numbers: Ints | None = None

    @property
    def row_numbers(self) -> Ints:
        """The number of each row in the whole table."""
        return np.arange(self.labels.size) if self.numbers is None else self.numbers

    @property
    def n_sets(self) -> int:
        return len(self.left_out)

    @property
    def n_classes(self) -> int:
        return self.class_weight.size

    @cached_property
    def unequal_weights(self) -> Floats:
        """The weights, or nothing where every row counts once."""
        return np.empty(0) if (self.weights == 1.0).all() else self.weights

    @cached_property
    def left_out_flat(self) -> tuple[Ints, Ints]:
        """The rows left out, end to end, and where each set's part starts."""
        pointers = np.cumsum([0, *(rows.size for rows in self.left_out)])
        rows = np.concatenate(self.left_out) if self.left_out else np.empty(0, np.int64)
        return rows.astype(np.int64), pointers.astype(np.int64)

    @cached_property
    def rows(self) -> tuple[Ints, ...]:
        """The rows of each set."""
        everything = np.arange(self.labels.size)
        return tuple(
            np.delete(everything, rows) if rows.size else everything for rows in self.left_out
        )

    @cached_property
    def class_counts(self) -> Floats:
        """Weight of each class in each set, before class weights: sets x classes."""
        total = np.bincount(self.labels, self.weights, self.n_classes)
        return np.array(
            [
                total - np.bincount(self.labels[rows], self.weights[rows], self.n_classes)
                for rows in self.left_out
            ]
        )


def one_set(
    labels: Ints, weights: Floats, class_weight: Floats, numbers: Ints | None = None
) -> TrainingSets:
    """One set of tables, from all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models import one_set
    >>> one_set(np.array([0, 1, 1]), np.ones(3), np.ones(2)).class_counts
    array([[1., 2.]])
    """
    return TrainingSets(labels, weights, (np.empty(0, np.int64),), class_weight, numbers)


class Grid(NamedTuple):
    """What is learnt once about a continuous column and shared by all sets."""

    resolution: float = 1.0  #: mean gap between distinct values
    n_values: int = 1  #: number of distinct values
    points: Floats = np.empty(0)  #: the codes of a column on a grid as numbers from 0 to 1


class Spec(Protocol):
    """Description of a column that feature models need besides its statistics."""

    @property
    def model(self) -> str:
        """Name of the feature model."""

    @property
    def n_distinct(self) -> int:
        """Number of distinct values."""

    @property
    def resolution(self) -> float:
        """Mean gap between distinct values."""

    @property
    def points(self) -> Floats:
        """The codes of a column on a grid as numbers from 0 to 1; empty for others."""


@dataclass(frozen=True)
class ModelSettings:
    """What the statistics of a single column cannot tell.

    Parameters
    ----------
    smoothing : pseudo-count of every level, or "mean" for Guyon's prior.
    binary_mean : mean frequency of 1 over all binary columns, sets x classes ("mean" only).
    extra_variance : added to every variance (scikit-learn's rule); None for Weka's intervals.
    class_weight : factor on the counts of each class.
    bits : logarithms of whole numbers are rounded to 2^-bits nat, prime by prime.
    silent_constants : a column of zeros and ones of which a single value is seen says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models import ModelSettings
    >>> settings = ModelSettings(smoothing=1.0, extra_variance=None, class_weight=np.ones(2))
    >>> settings.binary_mean is None
    True
    """

    smoothing: float | str
    extra_variance: float | None
    class_weight: Floats
    binary_mean: Floats | None = None
    bits: int = MOST_BITS
    silent_constants: bool = False


# -- The rows behind what is said, and the evidence for which they can vouch ----------------------


#: Of the evidence itself, this share is outside of an interval, half of it at either end.
OUTSIDE = 0.1

#: Pseudo-rows, whatever was chosen, are brought to so many of the rarer class: what is known from
#: elsewhere (other levels, both columns of a pair) tells less of a value than it foretells.
FEWEST_PSEUDO, MOST_PSEUDO = 0.5, 1.0

# Beyond so many rows an interval is a point.
_MOST = 1e9


class Support(NamedTuple):
    """What stands behind the values of a column, values x classes; NaN where nothing is said.

    Parameters
    ----------
    point : log P(value | class), or the same less log P(value), before it is held to its rows.
    rows : training rows of each class behind it; of a density, how many rows would tell a share
        just as well.
    prior : pseudo-rows, by which it is drawn to what the column says on the whole.
    whole : rows of each class of which those with the value are a part; infinite where that is told
        by `rows` already.
    weights : of the classes, with which the model says it; held fixed.
    shares : of the classes; where weights differ.
    added : corrections, in nat; held fixed.

    Examples
    --------
    A value that 8 of 50 rows of one class and 2 of 50 of another have, one pseudo-row each:

    >>> import numpy as np
    >>> from bayesieve.models.base import Support
    >>> rows = np.array([[8.0, 2.0]])
    >>> found = Support(np.log(rows + 1), rows, np.ones((1, 2)), np.array([50.0, 50.0]))
    >>> low, high = found.interval(0, 1)
    >>> np.exp([low[0], high[0]]).round(2)
    array([ 1.17, 10.82])
    """

    point: Floats
    rows: Floats
    prior: Floats
    whole: Floats
    weights: Floats | None = None
    shares: Floats | None = None
    added: Floats | None = None

    def with_silent_code(self) -> "Support":
        """One more code, which says nothing."""
        pad = (0, 1), (0, 0)
        point = np.pad(self.point, pad, constant_values=np.nan)
        added = None if self.added is None else np.pad(self.added, pad)
        rows, prior = np.pad(self.rows, pad), np.pad(self.prior, pad)
        return self._replace(point=point, rows=rows, prior=prior, added=added)

    def interval(
        self, first: int, second: int, said: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Between what the evidence of each value lies, for one class against another, in nat.

        Of the rows of the two classes behind a value, the share of the first has a Beta posterior;
        these are its odds at 5 and 95 %.

        Parameters
        ----------
        first, second : positions of the classes.
        said : what the model says of each value; it is never outside.
        """
        both, found = [first, second], []
        if self.weights is not None and self.added is not None and not self.weights[both].any():
            # All correction (a late term, points of a card): no share of rows tells how sure it is.
            unknown = np.full(len(self.point), np.nan)
            return unknown, unknown
        rows, prior, whole = self.rows[:, both], self.prior[:, both], self.whole[both]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least = prior.min(1, keepdims=True)
            kept = prior * (np.clip(least, FEWEST_PSEUDO, MOST_PSEUDO) / least)
            # A large share of a class is told by more than its rows.
            vary = (1 / (rows + kept)).sum(1)
            left = np.maximum(vary - (1 / (whole + kept)).sum(1), vary / _MOST)
            a, b = np.minimum((rows + kept) * (vary / left)[:, None], _MOST).T
            point = np.log(rows + prior) @ [1.0, -1.0]
            for p in (OUTSIDE / 2, 1 - OUTSIDE / 2):
                odds = np.log(betaincinv(a, b, p)) - np.log(betaincinv(b, a, 1 - p))
                end = self._moved(first, second, odds - point)
                fixed = 0.0 if self.added is None else self.added[:, first] - self.added[:, second]
                found.append(end + fixed)
        low, high = found
        return (low, high) if said is None else (np.minimum(low, said), np.maximum(high, said))

    def _moved(self, first: int, second: int, by: Floats) -> Floats:
        """What is said of two classes when the odds between them are others by so much."""
        one, other = self.point[:, first], self.point[:, second]
        if self.weights is None or self.shares is None:
            return one - other + by
        w, v = self.weights[first], self.weights[second]
        if w == v:
            return w * (one - other + by)
        pooled = np.log(np.exp(self.point) @ self.shares)
        odds = one - other + np.log(self.shares[first] / self.shares[second])
        mine = np.logaddexp(0, -odds) - np.logaddexp(0, -odds - by)
        its = np.logaddexp(0, odds) - np.logaddexp(0, odds + by)
        return w * (one - pooled + mine) - v * (other - pooled + its)


def normal_support(point: Floats, total: Floats, off: Floats) -> Support:
    """Behind normal densities, values x classes.

    The logarithm of a density of N rows varies by z^2 / N with their mean, and by (z^2 - 1)^2 / 2 N
    with their deviation: together as much as that of a share of 2 N / (1 + z^4) rows.

    Parameters
    ----------
    point : log-densities.
    total : rows of each class.
    off : how many deviations values are from the mean of each class.
    """
    with np.errstate(over="ignore"):
        rows = 2 * total / (1 + np.square(np.square(off)))
    prior = np.broadcast_to(total / max(total.sum(), 1.0), rows.shape)
    return Support(point, rows, prior, np.full(total.size, np.inf))


# -- Feature models --------------------------------------------------------------------------------


class FeatureModel:
    """Base class of feature models: the distribution of a column given the class.

    A model of one's own is a subclass with a `name`, `statistics`, `merge`, `terms` and `bound`;
    what it does not say has an answer here.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models import MODELS, ModelSettings, one_set
    >>> from bayesieve.models.base import Grid
    >>> sets = one_set(np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    >>> model = MODELS["bernoulli"]
    >>> counts = model.statistics(np.array([0, 1, 1, 1], np.uint8), 3, sets)
    >>> terms = model.terms(counts, np.arange(3), Grid(), ModelSettings(1.0, None, np.ones(2)))
    >>> np.exp(terms.finite[0, :2])  # P(value | class), with one pseudo-count a value
    array([[0.5 , 0.25],
           [0.5 , 0.75]])
    """

    name: str  #: public
    discrete: bool = False  #: does the column hold codes (True) or numbers (False)?
    silent_unseen: bool = False  #: does a level without any training row say nothing?
    grid_codes: int = 0  #: codes are at most so many intervals of numbers; 0: they are the values
    held: bool = False  #: does evidence never outrun the rows behind it?
    leaves_one_out: bool = False  #: is there a closed form for a row that is taken out?

    @property
    def nominal(self) -> bool:
        """Are the values names, in no order?"""
        return self.discrete and not self.grid_codes

    def statistics(self, column: Array, n_codes: int, sets: TrainingSets) -> Statistics:
        """Statistics of one column for every set."""
        raise NotImplementedError(f"feature model {type(self).__name__!r} must give statistics.")

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        """Statistics of two disjoint groups of rows together."""
        raise NotImplementedError(f"feature model {self.name!r} cannot merge statistics.")

    def terms(
        self, statistics: Statistics, values: Array, grid: Grid, settings: ModelSettings
    ) -> Terms:
        """Terms of the values: sets x values x classes."""
        raise NotImplementedError(f"feature model {type(self).__name__!r} must give terms.")

    def left_out(
        self, speaker: "ColumnTerms", values: Array, column: Array, sets: TrainingSets
    ) -> Terms:
        """Own-class terms when one row with that value and class is taken out: values x classes.

        Parameters
        ----------
        speaker : statistics, grid and settings of the column.
        values : those to speak of.
        column, sets : all values of the column, and the rows that were counted.
        """
        raise NotImplementedError(f"feature model {self.name!r} has no closed form for that.")

    def support(self, speaker: "ColumnTerms", values: Array) -> Support | None:
        """The rows behind what is said of each value; None: nobody knows.

        Parameters
        ----------
        speaker : statistics, grid and settings of the column; of the first set.
        values : those to speak of; of a discrete column, all codes in their order.
        """
        return None

    def silent_lone(self, settings: ModelSettings) -> bool:
        """When the only row with a value is taken out, does its line say nothing?"""
        return self.silent_unseen

    def limit(self, finite: Floats, settings: ModelSettings) -> Floats:
        """Bring the terms of whole lines (last axis: classes) within the bound."""
        return finite

    def bound(self, settings: ModelSettings) -> float | None:
        """Largest size of a term known beforehand, or None: look at the table."""
        return None

    def bells(
        self, statistics: Statistics, grid: Grid, settings: ModelSettings
    ) -> list[list["Bells"]] | None:
        """Each class's components as sums of bell curves, or None: it has no such form."""
        return None

    def empty_term(self, grid: Grid, settings: ModelSettings) -> float:
        """What a class without any value of the column says."""
        return 0.0

    def least_term(self, settings: ModelSettings) -> float | None:
        """The least that a value can say, where there is such a floor."""
        return None

    def idle_classes(self, statistics: Statistics) -> list[tuple[int, int]]:
        """Classes with fewer distinct values than the model has components, and how many."""
        return []


Made = TypeVar("Made")

_ROOM_BITS = 62

# exp of minus this is 0 in float64: one impossible term outweighs any finite sum.
_BEYOND = 1024.0


@dataclass(frozen=True)
class Scale:
    """Fixed point: integers in units of 2^-bits nat; a log 0 costs `impossible` units."""

    bits: int
    impossible: int
    bound: float  #: no sum of terms exceeds this many nat

    @property
    def unit(self) -> float:
        return 2.0**-self.bits

    @classmethod
    def for_terms(cls, bounds: Iterable[float], n_impossible: int) -> "Scale":
        """The finest unit in which the sum over all features still fits an int64.

        Parameters
        ----------
        bounds : largest |finite term| of every feature, and of the prior.
        n_impossible : how many of them hold a log 0.
        """
        total = max(math.fsum(bounds), 1.0)
        cost = 2.0 ** math.ceil(math.log2(2 * total + _BEYOND)) if n_impossible else 0.0
        total += n_impossible * cost
        bits = min(MOST_BITS, _ROOM_BITS - math.ceil(math.log2(total)))
        return cls(bits, int(math.ldexp(cost, bits)), total)

    def fix(self, terms: Terms) -> Ints:
        """Round once; from here on, sums are exact and do not depend on order."""
        scaled = np.ldexp(terms.finite, self.bits)
        fixed = np.rint(scaled, out=scaled).astype(np.int64)
        if terms.impossible is not None:
            fixed -= self.impossible * terms.impossible
        return fixed

    def release(self, fixed: Ints) -> Floats:
        """Back to nat; infinite where a log 0 is among the terms (of one side of a difference)."""
        nat = np.ldexp(fixed.astype(np.float64), -self.bits)
        if self.impossible:
            far = np.abs(fixed) >= self.impossible // 2
            nat[far] = np.copysign(np.inf, nat[far])
        return nat


class ColumnTerms(NamedTuple):
    """Statistics and settings from which the terms of one column are made."""

    model: FeatureModel
    statistics: Statistics
    grid: Grid
    settings: ModelSettings

    @property
    def work(self) -> int:
        """How much there is to do before a column on a grid can speak: pairs of codes."""
        if not self.grid.points.size:
            return 0
        n_sets, n_codes, n_classes = self.statistics.shape
        return int(n_sets * n_codes * n_codes * n_classes)

    def of(self, values: Array, table_set: int | None = None) -> Terms:
        """Terms of the values for all sets, or for one: [sets x] values x classes."""
        statistics = self.statistics
        if table_set is not None:
            statistics = _one_set(statistics, table_set)
        terms = self.model.terms(statistics, values, self.grid, self.settings)
        terms = terms._replace(finite=self.model.limit(terms.finite, self.settings))
        if table_set is None:
            return terms
        impossible = terms.impossible
        return Terms(terms.finite[0], None if impossible is None else impossible[0])

    def left_out(self, values: Array, column: Array, sets: TrainingSets) -> Terms:
        """Terms when the line itself is taken out: own class x values x classes.

        Entry [y, v, k] serves a line of class y with value v.
        """
        pair = self.with_and_without(values, column, sets)
        classes = range(pair.finite.shape[-1])
        finite = np.stack([seen_from(pair.finite, y) for y in classes])
        impossible = None
        if pair.impossible is not None:
            impossible = np.stack([seen_from(pair.impossible, y) for y in classes])
        return Terms(self.model.limit(finite, self.settings), impossible)

    def with_and_without(self, values: Array, column: Array, sets: TrainingSets) -> Terms:
        """Terms with all rows, and with one row of the value fewer in each class: 2 x values x ...

        All that `left_out` holds, before the model's limit, in a fraction of the room: taking a
        line out changes the terms of its own class, and no others; see `seen_from`.
        """
        model, statistics, grid, settings = self
        base = model.terms(statistics, values, grid, settings)
        own = model.left_out(self, values, column, sets)
        finite = np.concatenate([base.finite, own.finite[None]])
        impossible = np.zeros(finite.shape, bool)
        if base.impossible is not None:
            impossible[0] = base.impossible[0]
        if own.impossible is not None:
            impossible[1] = own.impossible
        if self.model.silent_lone(settings):
            alone = np.append(self.statistics[0, :-1].sum(-1) == 1, False)
            finite[:, alone] = 0.0
            impossible[:, alone] = False
        return Terms(finite, impossible if impossible.any() else None)


def seen_from(pair: Array, own_class: int, at: Array | slice = slice(None)) -> Array:
    """What lines of one class read of terms with and without them: values x classes."""
    found = pair[0, at].copy()
    found[:, own_class] = pair[1, at, own_class]
    return found


def _one_set(statistics: Statistics, table_set: int) -> Statistics:
    """Keep a single set, whatever the statistics are made of."""
    one = slice(table_set, table_set + 1)
    if isinstance(statistics, tuple):
        return type(statistics)(*(part[one] for part in statistics))
    return statistics[one]


def choose_scale(
    columns: Sequence[ColumnTerms], tables: Sequence[Terms | None], prior: Terms
) -> Scale:
    """The scale of a model: bounds known beforehand, or read off the tables."""
    bounds = [float(np.abs(prior.finite).max())]
    n_impossible = int(prior.impossible is not None)
    for column, table in zip(columns, tables, strict=True):
        bound = column.model.bound(column.settings)
        if bound is None:
            assert table is not None
            bound = float(np.abs(table.finite).max(initial=0.0))
            n_impossible += table.impossible is not None
        bounds.append(bound)
    return Scale.for_terms(bounds, n_impossible)


def in_units_of_scale(make: Callable[[int], tuple[Made, Scale]]) -> tuple[Made, Scale]:
    """What `make` makes of a number of bits: the finest, or once more the bits of its scale.

    Terms rounded to a fine unit and then to a coarser one would no longer add up exactly.
    """
    made, scale = make(MOST_BITS)
    if scale.bits < MOST_BITS:
        made, _ = make(scale.bits)
    return made, scale


# -- Terms that have weights: columns, and pairs of columns ----------------------------------------


def corrected(table: Ints, correction: Ints | None) -> Ints:
    """Weighted terms and what is added to them; codes beyond those corrected stay."""
    if correction is None:
        return table
    found, whole = table.copy(), correction << (SCORE_BITS - CORRECTION_BITS)
    found[: len(whole)] += whole
    return found


@dataclass(frozen=True)
class PairTerms:
    """One pair of columns and its weights.

    Parameters
    ----------
    columns : positions of the two columns.
    groups : coarse code of each code of the two columns; the last one says nothing.
    counts : rows of each class in each cell, groups x groups x classes, without the silent ones.
    ratios : log [P(cell | class) / P(cell)] in whole units, groups x groups x classes.
    weights : sixteenths, one a class.
    correction : what is added to the weighted ratios, in whole units of 2^-CORRECTION_BITS nat,
        groups x groups x classes; None: nothing.
    """

    columns: tuple[int, int]
    groups: tuple[Ints, Ints]
    counts: Floats
    ratios: Ints
    weights: Ints
    correction: Ints | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Groups of the two columns, without the silent ones."""
        return self.counts.shape[0], self.counts.shape[1]

    @property
    def table(self) -> Ints:
        """Terms as the model says them, silent groups included: groups x groups x classes."""
        return np.pad(self.said, ((0, 1), (0, 1), (0, 0)))

    @property
    def said(self) -> Ints:
        """Terms as the model says them: groups x groups x classes."""
        return corrected(self.ratios * self.weights, self.correction)

    def terms_of(self, first: Ints, second: Ints) -> Ints:
        """Weighted terms of rows whose two columns have these codes: rows x classes."""
        found: Ints = self.table[self.groups[0][first], self.groups[1][second]]
        return found

    def moved(self, columns: tuple[int, int]) -> "PairTerms":
        """The pair, its columns at other positions."""
        return replace(self, columns=columns)


@dataclass(frozen=True)
class Weighting:
    """What makes a model a weighted one.

    Parameters
    ----------
    weights : of the columns for each class, in sixteenths.
    pairs : pairs of columns that speak together.
    speaks : does it say anything that a value is missing?
    monotone : columns whose evidence may only rise (1) or fall (-1).
    priors : class probabilities for which the constants were moved; None: those of the rows.
    corrections : of each column, what is added to its weighted terms, in whole units of
        2^-CORRECTION_BITS nat, values x classes; None: nothing.  Empty: there are none at all.
    """

    weights: Ints
    pairs: tuple[PairTerms, ...] = ()
    speaks: bool = False
    monotone: tuple[tuple[int, int], ...] = ()
    priors: tuple[float, ...] | None = None
    corrections: tuple[Ints | None, ...] = ()

    def correction(self, column: int) -> Ints | None:
        """What is added to the weighted terms of a column."""
        return self.corrections[column] if self.corrections else None

    def has(self, column: int) -> bool:
        """Is the column a term by itself?  Some speak in pairs alone."""
        return bool(self.weights[column].any()) or self.correction(column) is not None

    def restrict(self, columns: Sequence[int]) -> "Weighting":
        """Some columns only, and the pairs of which both are among them."""
        at = {int(j): place for place, j in enumerate(columns)}
        return replace(
            self,
            weights=self.weights[list(columns)],
            pairs=tuple(
                pair.moved((at[pair.columns[0]], at[pair.columns[1]]))
                for pair in self.pairs
                if at.keys() >= set(pair.columns)
            ),
            monotone=tuple((at[j], sign) for j, sign in self.monotone if j in at),
            corrections=tuple(self.correction(j) for j in columns) if self.corrections else (),
        )


def cells(groups: tuple[Ints, Ints], first: Ints, second: Ints) -> Ints:
    """Codes of a pair: first group x second group, and one code that says nothing."""
    a, b = groups[0][first], groups[1][second]
    n_a, n_b = groups[0][-1], groups[1][-1]
    return np.where((a == n_a) | (b == n_b), n_a * n_b, a * n_b + b)
