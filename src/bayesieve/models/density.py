"""Continuous columns on a grid: densities made of counts, and the one that fits a column best."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..checks import Array
from ..data.columns import MOST_CODES
from .base import (
    ColumnTerms,
    Floats,
    Grid,
    ModelSettings,
    Support,
    Terms,
    TrainingSets,
    normal_support,
)
from .counts import CountModel
from .gaussian import LEAST_LOG, log_interval


class DensityRatios(NamedTuple):
    """What the codes of a column say, and how well that foretells the classes.

    Parameters
    ----------
    ratio : P(code | class) over P(code), sets x codes x classes.
    own : the same with one row of that code and class taken out of its class.
    loss : log-loss of the class given the code, rows taken out one by one; of each set.
    chosen : what the loss chose for each set: the step of a width, and the rows that are added; -1
        where there is none, or nothing foretells better than the shares of the classes.
    """

    ratio: Floats
    own: Floats
    loss: Floats
    chosen: Floats


Judge = Callable[[Floats, Floats, Grid], DensityRatios]


def grid_gaussian(counts: Floats, units: Floats, grid: Grid) -> DensityRatios:
    """One normal distribution a class: the probability of an interval of one resolution (Weka's).

    Parameters
    ----------
    counts : weight of the rows, sets x codes x classes.
    units : weight of a row of each class.
    grid : the codes as numbers, and how many distinct values the column has.
    """
    from .kernels.density import judge_given, left_moments

    points, totals = grid.points, counts.sum(1)
    mean, squares, _ = _moments(counts, points)
    left_mean, left_squares = np.empty(counts.shape), np.empty(counts.shape)
    left_moments(counts, units, points, mean, squares, left_mean, left_squares)
    rest = totals[:, None] - np.minimum(units, counts)
    logs = _log_normal(points[:, None], mean[:, None], squares[:, None], totals[:, None], grid)
    logs = np.where(totals[:, None] > 0, logs, -np.inf)
    top = logs.max(-1, keepdims=True, initial=LEAST_LOG)
    left = np.exp(_log_normal(points[:, None], left_mean, left_squares, rest, grid) - top)
    found = _empty(counts)
    judge_given(np.exp(logs - top), np.maximum(rest, 0.0) * left, counts, units, *found[:3])
    return found


def _log_normal(
    points: Floats, mean: Floats, squares: Floats, weight: Floats, grid: Grid
) -> Floats:
    width = _resolution(grid)
    variance = np.divide(squares, weight, out=np.zeros(squares.shape), where=weight > 0)
    deviation = np.maximum(np.sqrt(variance), width / 6)
    with np.errstate(divide="ignore"):
        return np.maximum(log_interval(points, mean, deviation, width), LEAST_LOG)


def kernel(counts: Floats, units: Floats, grid: Grid) -> DensityRatios:
    """A Gaussian kernel around each row of a class.

    Its width is Silverman's times a factor from 0.25 to 2.83, in steps of the root of 2, and at
    least half a resolution.  Where no factor foretells better than the shares of the classes, all
    ratios are 1; so they are at codes without rows that are nine widths away from every row.
    """
    from .kernels.density import judge_kernel

    silverman = _silverman(counts.sum(1), _moments(counts, grid.points)[2])
    found = _empty(counts)
    judge_kernel(counts, units, grid.points, silverman, _resolution(grid) / 2, *found)
    return found


def _moments(counts: Floats, points: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, sum of squares, and what Silverman's rule takes for the deviation: sets x classes."""
    from .kernels.density import moments

    mean, squares, spread = np.zeros((3, len(counts), counts.shape[-1]))
    moments(counts, points, mean, squares, spread)
    return mean, squares, spread


def _silverman(totals: Floats, spread: Floats) -> Floats:
    return 0.9 * spread * np.maximum(totals, 1.0) ** -0.2


def rank_kernel(counts: Floats, units: Floats, grid: Grid) -> DensityRatios:
    """A Gaussian kernel over the ranks of all rows, of a width from 0 to 0.16.

    Shares of the classes are shrunk to those of all rows by half a row, one or two.  Where nothing
    of that foretells better than the shares of the classes, all ratios are 1: with width 0, values
    that occur once each know the very rows and no others.
    """
    from .kernels.density import judge_rank_kernel

    found = _empty(counts)
    judge_rank_kernel(counts, units, *found)
    return found


def by_level(counts: Floats, units: Floats, grid: Grid) -> DensityRatios:
    """Shares of the classes in each level: (rows of the class + m x its share) / (rows + m).

    So a level says ever less as rows vanish, and one that nobody has says nothing.  How many rows
    m of all classes are added, 1 to 1024, is estimated from the column (empirical Bayes), by the
    least log-loss; where nothing of that foretells better than the shares of the classes, all
    ratios are 1.
    """
    from .kernels.density import judge_levels

    found = _empty(counts)
    judge_levels(counts, units, *found)
    return found


#: In this order: the first of equally good ones is taken.
DENSITIES: dict[str, Judge] = {
    "grid-gaussian": grid_gaussian,
    "kernel": kernel,
    "rank-kernel": rank_kernel,
}


# In place of no rows, and of infinitely many.
_LEAST, _EVER = 1e-300, 1e9

_JUDGES = {**DENSITIES, "levels": by_level}


# -- The rows behind what is said ------------------------------------------------------------------


def _behind(name: str, found: DensityRatios, seen: Floats, units: Floats, grid: Grid) -> Support:
    """What stands behind all codes of the first set.

    Parameters
    ----------
    name : of the density that was chosen, or "levels".
    found : what it says.
    seen : rows of each class, codes x classes.
    units : weight of a row of each class.
    grid : the codes as numbers.
    """
    from .kernels.density import N_WIDTHS, RANK_HALVINGS, kernel_sums, rank_sums

    point, (step, added) = np.log(found.ratio[0]), found.chosen[0]
    counts, total, n_codes = seen * units, seen.sum(0), len(seen)
    shares = (counts.sum(0) + 1) / (counts.sum(0) + 1).sum()
    if name == "levels":
        added = added if added > 0 else _EVER
        silent = seen.sum(1, keepdims=True) == 0
        prior = np.broadcast_to(added * shares / units, seen.shape)
        return Support(np.where(silent, np.nan, point), seen, prior, total)
    # The mean over a kernel varies less than a share of as many rows, by the root of 2, and the
    # width that foretells best errs about as much: a sum of n, heights 1, tells as n rows do.
    never = np.full(units.size, np.inf)
    if name == "rank-kernel":
        ranked = np.empty((RANK_HALVINGS + 1, units.size, n_codes))
        rank_sums(counts, ranked)
        prior = np.broadcast_to(max(added, 1.0) * shares / units, seen.shape)
        return Support(point, ranked[int(step)].T / units, prior, never)
    mean, squares, spread = _moments(counts[None], grid.points)
    if name == "grid-gaussian":
        variance = squares[0] / np.maximum(counts.sum(0), _LEAST)
        deviation = np.maximum(np.sqrt(variance), _resolution(grid) / 6)
        return normal_support(point, total, (grid.points[:, None] - mean[0]) / deviation)
    sums, widths = np.empty((N_WIDTHS, n_codes, units.size)), np.empty((N_WIDTHS, units.size))
    narrow = _silverman(counts.sum(0), spread[0]), _resolution(grid) / 2
    kernel_sums(counts, grid.points, *narrow, sums, widths)
    at = max(int(step), 0)
    # As the ratios are smoothed: one row, spread as those of all classes are.
    pooled = sums[at] / np.maximum(widths[at] * counts.sum(0), _LEAST) @ shares
    return Support(point, sums[at] / units, widths[at] * pooled[:, None] / units, never)


def _empty(counts: Floats) -> DensityRatios:
    one, n_sets = np.ones(counts.shape), counts.shape[0]
    return DensityRatios(one, one.copy(), np.zeros(n_sets), np.full((n_sets, 2), -1.0))


def _resolution(grid: Grid) -> float:
    """Mean gap between distinct values, in units of their range."""
    return 1.0 / max(grid.n_values - 1, 1)


@dataclass(frozen=True)
class DensityModel(CountModel):
    """Numbers as a table: log P(code | class) / P(code) on a grid that has not seen the classes.

    Statistics are counts of codes by class, so that they merge, and a fold's are the difference of
    two.  Whatever sees classes (widths, shrinking, which density) is made anew of each training
    set's counts, by the least log-loss of the class given the code, with each row taken out of its
    own class.  Taking a row out changes nothing but its class's counts: width, ranks, P(code) and
    the choice of density stay.

    Parameters
    ----------
    name : public name.
    members : names of the densities among which to choose.
    held : does evidence never outrun the rows behind it?  A tail then says what its last stretch of
        a few rows says, and where fewer than 5 rows of all classes say so nothing is more than 5
        times as likely under one class as under another.
    """

    members: tuple[str, ...] = tuple(DENSITIES)
    grid_codes: int = MOST_CODES
    held: bool = False

    def terms(
        self, statistics: Floats, values: Array, grid: Grid, settings: ModelSettings
    ) -> Terms:
        """Terms of all codes; `values` is not needed."""
        return _spoken(self._fit(statistics, grid, settings)[0].ratio)

    def left_out(
        self, speaker: ColumnTerms, values: Array, column: Array, sets: TrainingSets
    ) -> Terms:
        """Terms of all codes with one row fewer of the code in the class."""
        _, statistics, grid, settings = speaker
        return _spoken(self._fit(statistics, grid, settings)[0].own[0])

    def chosen(self, statistics: Floats, grid: Grid, settings: ModelSettings) -> list[str]:
        """The density that each set takes."""
        at = self._fit(statistics, grid, settings)[1]
        return [self.members[int(i)] for i in at]

    def support(self, speaker: ColumnTerms, values: Array) -> Support:
        """What stands behind all codes; behind a constant, and the code that says nothing, none."""
        _, statistics, grid, settings = speaker
        seen, units = statistics[0, :-1], settings.class_weight
        key = self.members, *_mark(seen, units, grid)
        support = _SUPPORTS.get(key)
        if support is None:
            found, at = self._fit(statistics[:1], grid, settings, hold=False)
            support = _behind(self.members[int(at[0])], found, seen, units, grid)
            if (seen.sum(-1) > 0).sum() < 2:
                support = support._replace(point=np.full(seen.shape, np.nan))
            support = support.with_silent_code()
            _SUPPORTS.put(key, support, 3 * support.rows.nbytes)
        return support

    def _fit(
        self, statistics: Floats, grid: Grid, settings: ModelSettings, hold: bool = True
    ) -> tuple[DensityRatios, Array]:
        units, held = settings.class_weight, self.held and hold
        counts = statistics[:, :-1] * units
        key = (self.members, held, *_mark(counts, units, grid))
        found = _KEPT.get(key)
        if found is None:
            found = _best(self.members, counts, units, grid)
            if held:
                self._hold(found[0], statistics[:, :-1])
            for part in found[0]:
                part.flags.writeable = False
            _KEPT.put(key, found, found[0].ratio.nbytes + found[0].own.nbytes)
        return found

    def _hold(self, found: DensityRatios, seen: Floats) -> None:
        """Hold what each set says to the rows behind it."""
        from .kernels.density import hold_to_rows

        for g, rows in enumerate(seen.sum(-1)):
            hold_to_rows(rows, self.grid_codes > 0, found.ratio[g], found.own[g])


def _mark(counts: Floats, units: Floats, grid: Grid) -> tuple[object, ...]:
    """What tells columns apart, in little room."""
    mark = blake2b(counts.tobytes(), digest_size=32).digest()
    return counts.shape, mark, units.tobytes(), grid.points.tobytes(), grid.n_values


Made = TypeVar("Made")


class _Kept(Generic[Made]):
    """What was made last, as long as it fits into so many bytes.

    A search and the final model, a unit and a coarser one ask for the same densities, column after
    column; making them costs more than comparing counts.
    """

    def __init__(self, most_bytes: int):
        self._most, self._bytes, self._lock = most_bytes, 0, Lock()
        self._found: dict[object, tuple[Made, int]] = {}

    def get(self, key: object) -> Made | None:
        """What was made of these counts, or None."""
        with self._lock:
            return self._found[key][0] if key in self._found else None

    def put(self, key: object, made: Made, size: int) -> None:
        """Keep it, and let go what is oldest."""
        with self._lock:
            if key in self._found or size > self._most:
                return
            self._found[key] = made, size
            self._bytes += size
            while self._bytes > self._most:
                _, gone = self._found.pop(next(iter(self._found)))
                self._bytes -= gone


_KEPT = _Kept[tuple[DensityRatios, Array]](2**25)

_SUPPORTS = _Kept[Support](2**24)


def _best(
    members: tuple[str, ...], counts: Floats, units: Floats, grid: Grid
) -> tuple[DensityRatios, Array]:
    """What the best member says in each set, and which one it is."""
    found = [_JUDGES[name](counts, units, grid) for name in members]
    which = np.argmin([each.loss for each in found], axis=0)
    picked = [np.stack([found[int(i)][part][g] for g, i in enumerate(which)]) for part in range(4)]
    return DensityRatios(*picked), which


def _spoken(ratio: Floats) -> Terms:
    """Logarithms, and the code that says nothing."""
    pad = [(0, 0)] * (ratio.ndim - 2) + [(0, 1), (0, 0)]
    return Terms(np.log(np.pad(ratio, pad, constant_values=1.0)))
