"""What counts say: binary and categorical columns, numbers in intervals, and priors.

Terms are the logarithms of shares of counts.

Rounding log 2/3 and log 4/6 after a subtraction of floats may give neighbouring integers, so that
rows with equal odds no longer tie.  Here the logarithm of a whole number is the sum of the rounded
logarithms of its primes: log ab = log a + log b to the last unit, hence sums of such terms are
equal integers wherever the products that they stand for are equal fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm

import numpy as np

from ..checks import Array, Bools, as_fraction, check_number, choose
from ..data.columns import MOST_CODES
from .base import (
    MOST_BITS,
    ColumnTerms,
    FeatureModel,
    Floats,
    Grid,
    Ints,
    ModelSettings,
    Support,
    Terms,
    TrainingSets,
)


@dataclass(frozen=True)
class CountModel(FeatureModel):
    """P(value | class) from counts and pseudo-counts.

    The last code of a column says nothing (missing, or a value never seen): its terms are 0 and it
    is left out of the totals.

    Parameters
    ----------
    name : public name.
    silent_unseen : a level without a single training row says nothing, whatever the smoothing;
        otherwise smoothing alone speaks for it, as in scikit-learn's BernoulliNB.
    grid_codes : levels are at most so many intervals of numbers; 0: they are the values.
    """

    name: str
    silent_unseen: bool = False
    discrete: bool = True
    leaves_one_out: bool = True
    grid_codes: int = 0

    def statistics(self, column: Array, n_codes: int, sets: TrainingSets) -> Floats:
        """Weighted counts, sets x codes x classes."""
        from ..data.kernels.exact import count_by_class

        counts = np.empty((sets.n_sets, n_codes, sets.n_classes))
        count_by_class(column, sets.labels, sets.unequal_weights, *sets.left_out_flat, counts)
        return counts

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Counts add up."""
        return one + other

    def terms(
        self, statistics: Floats, values: Array, grid: Grid, settings: ModelSettings
    ) -> Terms:
        """Log-probabilities of all codes; `values` and `grid` are not needed."""
        counts = statistics[..., :-1, :]
        terms = self._log_share(counts, counts.sum(-2, keepdims=True), settings)
        return _with_silent_code(_silence(terms, self._silent(counts, settings)))

    def left_out(
        self, speaker: ColumnTerms, values: Array, column: Array, sets: TrainingSets
    ) -> Terms:
        """Terms with one row fewer in the value's and the class's count: closed form."""
        raw = speaker.statistics[0, :-1]
        counts = raw - (raw > 0)
        # A class without rows is nobody's own: any number will do.
        total = np.maximum(raw.sum(0) - 1, 0)[None]
        terms = self._log_share(counts, total, speaker.settings)
        silent = (raw.sum(1) == 1) & self.silent_lone(speaker.settings)
        if self._quiet(speaker.settings):
            silent |= self._silent(raw, speaker.settings)
        return _with_silent_code(_silence(terms, silent))

    def silent_lone(self, settings: ModelSettings) -> bool:
        """Levels that nobody else has; of zeros and ones, what is left is a constant."""
        return self.silent_unseen or self._quiet(settings)

    def _quiet(self, settings: ModelSettings) -> bool:
        """Do constants say nothing?"""
        return settings.silent_constants and self.name == "bernoulli"

    def _silent(self, counts: Floats, settings: ModelSettings) -> Bools:
        """Which levels say nothing: ... x levels."""
        rows = counts.sum(-1)
        if self._quiet(settings):
            return np.broadcast_to(((rows > 0).sum(-1) < 2)[..., None], rows.shape)
        return (rows == 0) & self.silent_unseen

    def support(self, speaker: ColumnTerms, values: Array) -> Support:
        """Rows of each level, and pseudo-counts of half a row at least; of a constant, none."""
        seen, settings = speaker.statistics[0, :-1], speaker.settings
        pseudo = self._pseudo(len(seen), settings)
        pseudo = np.maximum(pseudo[0] if pseudo.ndim > 2 else pseudo, 0.5)
        prior = np.broadcast_to(pseudo[: len(seen)] / settings.class_weight, seen.shape)
        point = np.log(seen + prior) - np.log(seen.sum(0) + prior.sum(0))
        known = seen.sum(1, keepdims=True) > 0
        silent = (~known & self.silent_unseen) | (known.sum() < 2)
        found = Support(np.where(silent, np.nan, point), seen, prior, seen.sum(0))
        return found.with_silent_code()

    def limit(self, finite: Floats, settings: ModelSettings) -> Floats:
        """Counts bound themselves."""
        return finite

    def bound(self, settings: ModelSettings) -> None:
        """Known only from the table."""
        return

    def _log_share(self, counts: Floats, total: Floats, settings: ModelSettings) -> Terms:
        """Log (count + pseudo) / (total + sum of pseudo); its limit where both are 0."""
        n_levels = max(counts.shape[-2], 1)
        pseudo = self._pseudo(n_levels, settings)
        top = counts * settings.class_weight + pseudo
        bottom = total * settings.class_weight + pseudo.sum(-2, keepdims=True)
        impossible = (top <= 0) & (bottom > 0)
        logs = None
        if settings.smoothing != "mean":
            alpha, weight = float(settings.smoothing), settings.class_weight
            logs = log_shares(counts, total, alpha, weight, settings.bits)
        if logs is not None:
            finite = np.ldexp((logs[0] - logs[1]).astype(np.float64), -settings.bits)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                finite = np.where(impossible, -np.log(bottom), np.log(top) - np.log(bottom))
        if (bottom <= 0).any():
            finite = np.where(bottom <= 0, -log_one(n_levels, settings.bits), finite)
        return Terms(finite, impossible)

    def _pseudo(self, n_levels: int, settings: ModelSettings) -> Floats:
        if settings.smoothing != "mean":
            return np.full((max(n_levels, 1), 1), float(settings.smoothing))
        if self.silent_unseen or settings.binary_mean is None:
            return np.full((max(n_levels, 1), 1), 1.0 / max(n_levels, 1))
        mean = settings.binary_mean[:, None, :]
        return np.concatenate([1.0 - mean, mean], axis=1)


def binary_mean(counts: list[Floats], n_sets: int, n_classes: int) -> Floats:
    """Mean over binary columns of the frequency of 1: the prior of Guyon 2005, sets x classes."""
    total = np.zeros((n_sets, n_classes))
    present = np.zeros_like(total)
    for column in counts:
        rows = column[:, :2].sum(1)
        known = rows > 0
        total += np.divide(column[:, 1], rows, out=np.zeros_like(total), where=known)
        present += known
    return np.divide(total, present, out=np.full_like(total, 0.5), where=present > 0)


def _silence(terms: Terms, silent: Bools) -> Terms:
    """No term for these levels."""
    if not silent.any():
        return terms
    speak = ~silent[..., None]
    assert terms.impossible is not None
    return Terms(np.where(speak, terms.finite, 0.0), terms.impossible & speak)


def _with_silent_code(terms: Terms) -> Terms:
    """Append the code that says nothing."""
    pad = [(0, 0)] * (terms.finite.ndim - 2) + [(0, 1), (0, 0)]
    assert terms.impossible is not None
    impossible = np.pad(terms.impossible, pad) if terms.impossible.any() else None
    return Terms(np.pad(terms.finite, pad), impossible)


def log_shares_of(class_count: Floats) -> Floats:
    """Log-shares of the classes, one row added to each."""
    from ..data.kernels.exact import log_all

    counts = np.append(class_count + 1.0, class_count.sum() + class_count.size)
    logs = np.empty(counts.size)
    log_all(counts, logs)
    return logs[:-1] - logs[-1]


def prior_terms(
    counts: Floats, priors: str | Floats | None, class_weight: Floats, bits: int = MOST_BITS
) -> Terms:
    """Log-prior of each class in each set: sets x classes.

    Parameters
    ----------
    counts : weight of each class in each set.
    priors : None for the counts themselves, "uniform", or one probability a class.
    bits : logarithms of fractions are rounded to 2^-bits nat, prime by prime.
    """
    shape = counts.shape
    if priors is None:
        weighted = counts * class_weight
        total = weighted.sum(-1, keepdims=True)
        share = weighted / np.maximum(total, np.finfo(float).tiny)
        rest = 0.0 - np.log(np.maximum(total, 1.0))
        logs = _log_shares_of_counts(counts, class_weight, bits)
    else:
        given = np.full(shape[-1], 1 / shape[-1]) if isinstance(priors, str) else priors
        share = np.broadcast_to(given, shape).astype(float)
        rest = np.zeros(1)
        logs = _log_known([as_fraction(part) for part in np.asarray(given, float).tolist()], bits)
    impossible = share <= 0
    if logs is not None:
        finite = np.broadcast_to(np.ldexp(logs.astype(np.float64), -bits), shape)
    else:
        with np.errstate(divide="ignore"):
            finite = np.log(share)
    return Terms(np.where(impossible, rest, finite), impossible if impossible.any() else None)


def _log_shares_of_counts(counts: Floats, class_weight: Floats, bits: int) -> Ints | None:
    """Logarithms of each class's share of the weighted counts of its set; None where unknown."""
    weights = [as_fraction(weight) for weight in class_weight.tolist()]
    known = [weight for weight in weights if weight is not None]
    if len(known) < len(weights) or not _whole(counts):
        return None
    shared = lcm(*(weight.denominator for weight in known))
    whole = [int(weight * shared) for weight in known]
    if float(counts.sum(-1).max(initial=0.0)) * max(whole) >= _MOST_PRODUCT:
        shares: list[Fraction | None] = []
        for line in counts.reshape(-1, len(known)).tolist():
            parts = [weight * int(count) for weight, count in zip(known, line, strict=True)]
            total = sum(parts)
            shares += [part / total if total else None for part in parts]
        found = _log_known(shares, bits)
        return None if found is None else found.reshape(counts.shape)
    tops = counts.astype(np.int64) * np.array(whole, np.int64)
    bottoms = tops.sum(-1, keepdims=True)
    if not bottoms.all():
        return None
    if bottoms.max(initial=0) > MOST_NUMBER:
        common = np.gcd(tops, bottoms)
        tops, bottoms = tops // common, bottoms // common
    # Of a fraction that is not reduced, both logarithms have the same too much.
    if bottoms.max(initial=0) > MOST_NUMBER:
        return None
    logs = additive_log(tops, bits)
    logs -= additive_log(bottoms, bits)
    return logs


def _log_known(parts: Sequence[Fraction | None], bits: int) -> Ints | None:
    """Logarithms of fractions, all of which are known; or None."""
    known = [part for part in parts if part is not None]
    return log_parts(known, bits) if len(known) == len(parts) else None


# Sets whose priors are made at once: as many numbers as sets times classes, several times over.
_SETS = 256


def left_out_priors(
    sets: TrainingSets, priors: str | Floats | None, bits: int = MOST_BITS
) -> Terms:
    """Log-priors seen by a line of each class when it is taken out: own class x classes."""
    n_classes, counts = sets.n_classes, sets.class_counts
    finite, impossible = np.empty((n_classes, n_classes)), np.zeros((n_classes, n_classes), bool)
    for lo in range(0, n_classes, _SETS):
        some = slice(lo, min(lo + _SETS, n_classes))
        less = np.repeat(counts, some.stop - lo, axis=0)
        own = np.arange(some.stop - lo), np.arange(lo, some.stop)
        less[own] = np.maximum(less[own] - 1.0, 0.0)
        found = prior_terms(less, priors, sets.class_weight, bits)
        finite[some] = found.finite
        if found.impossible is not None:
            impossible[some] = found.impossible
    return Terms(finite, impossible if impossible.any() else None)


def check_priors(priors: object, n_classes: int) -> str | Floats | None:
    """None, "uniform", or one probability a class."""
    if priors is None:
        return None
    if isinstance(priors, str):
        return choose("priors", priors, ["uniform"])
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"priors must be None, 'uniform' or one number for each class; got {priors!r}."
        ) from error
    if given.shape != (n_classes,):
        raise ValueError(
            f"priors must hold one number for each of the {n_classes} classes; got shape "
            f"{given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any() or not np.isclose(given.sum(), 1.0):
        raise ValueError(
            f"priors must be probabilities that sum to 1; got {given.tolist()}, sum "
            f"{given.sum():g}."
        )
    return given


def check_smoothing(smoothing: object) -> float | str:
    """A pseudo-count >= 0, or "mean"."""
    if isinstance(smoothing, str):
        return choose("smoothing", smoothing, ["mean"])
    return float(check_number("smoothing", smoothing, low=0.0, high=1e12))


#: Numbers beyond this are not taken apart: their primes are too far to look for.
MOST_NUMBER = 2**32

# Products below this are exact whole numbers of 64 bits.
_MOST_PRODUCT = 2.0**62

_LEAST_TABLE, _MOST_TABLE = 2**10, 2**20


def additive_log(numbers: Ints, bits: int) -> Ints:
    """Logarithms in units of 2^-bits nat with log ab = log a + log b exactly; 0 for 0.

    Parameters
    ----------
    numbers : whole numbers from 0 to `MOST_NUMBER`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.counts import additive_log
    >>> one, two, three, six = additive_log(np.array([1, 2, 3, 6]), bits=40)
    >>> one - two == three - six
    np.True_
    """
    if not numbers.size:
        return np.empty(numbers.shape, np.int64)
    largest = int(numbers.max())
    if largest < max(_LEAST_TABLE, min(4 * numbers.size, _MOST_TABLE)):
        table: Ints = _table(max(_LEAST_TABLE, 1 << largest.bit_length()), bits)[numbers]
        return table
    from ..data.kernels.exact import log_each

    distinct, back = np.unique(numbers, return_inverse=True)
    found = np.empty(distinct.size, np.int64)
    log_each(np.maximum(distinct, 1), 2.0**bits, found)
    return found[back].reshape(numbers.shape)


@lru_cache(maxsize=1024)
def log_one(number: int, bits: int) -> float:
    """The additive logarithm of one number, in nat."""
    return float(np.ldexp(float(additive_log(np.array([number]), bits)[0]), -bits))


def log_shares(
    counts: Floats, totals: Floats, pseudo: float, class_weight: Floats, bits: int
) -> tuple[Ints, Ints] | None:
    """Logarithms of (w c + a) and of (w n + l a), 2^-bits nat, up to what they have in common.

    Where w c + a = 0 stands log 1.  None where counts are no whole numbers, or weights and
    pseudo-count no small fractions.

    Parameters
    ----------
    counts, totals : c and n before class weights; ... x levels x classes, and ... x 1 x classes.
    pseudo, class_weight : a, the same for all l levels, and w.
    """
    units = _in_whole_numbers(pseudo, tuple(class_weight.tolist()))
    if units is None or not (_whole(counts) and _whole(totals)):
        return None
    if totals.max(initial=0) > MOST_NUMBER:  # weights near the float maximum would overflow
        return None
    times, plus, one = units
    n_levels = counts.shape[-2]
    tops, bottoms = counts * times + plus, totals * times + max(n_levels, 1) * plus
    # What remains beside log 0 is the total's part, in the same units.
    tops = np.where(tops > 0, tops, one)
    if max(tops.max(initial=0), bottoms.max(initial=0)) > MOST_NUMBER:
        return None
    return additive_log(tops.astype(np.int64), bits), additive_log(bottoms.astype(np.int64), bits)


def log_parts(parts: Sequence[Fraction], bits: int) -> Ints | None:
    """Logarithms of fractions (0 for 0), units of 2^-bits nat; None where one is too large."""
    numbers = [number for part in parts for number in (part.numerator, part.denominator)]
    if max(numbers) > MOST_NUMBER:
        return None
    logs = additive_log(np.array(numbers, np.int64), bits).reshape(-1, 2)
    return logs[:, 0] - logs[:, 1]


@lru_cache(maxsize=64)
def _in_whole_numbers(
    pseudo: float, class_weight: tuple[float, ...]
) -> tuple[Floats, Floats, Floats] | None:
    """By class: what to multiply a count with, what to add, and what 1 is; None: no fractions."""
    alpha = as_fraction(pseudo)
    weights = [as_fraction(weight) for weight in class_weight]
    if alpha is None or None in weights:
        return None
    p, q = alpha.as_integer_ratio()
    ratios = [weight.as_integer_ratio() for weight in weights if weight is not None]
    times = np.array([float(top * q) for top, _ in ratios])
    plus = np.array([float(bottom * p) for _, bottom in ratios])
    one = np.array([float(bottom * q) for _, bottom in ratios])
    return times, plus, one


def _whole(numbers: Floats) -> bool:
    return bool((numbers == np.rint(numbers)).all())


@lru_cache(maxsize=4)
def _table(size: int, bits: int) -> Ints:
    from ..data.kernels.exact import log_up_to

    found = np.empty(size, np.int64)
    log_up_to(2.0**bits, found)
    found.flags.writeable = False
    return found


# -- Numbers in intervals, each a level: cuts by minimum description length ------------------------

# Counts looked at together: as many as stay in the cache.
_CELLS = 1 << 16


def mdl_cuts(values: Floats, labels: Ints, n_classes: int, weights: Floats | None = None) -> Floats:
    """Cuts that each pay for themselves, by recursive entropy minimisation.

    Parameters
    ----------
    values : ndarray
        A continuous column; NaN is left out.
    labels : ndarray of int
        Class index of every row.
    n_classes : int
        Number of classes.
    weights : ndarray, optional
        How many rows each row stands for.

    Returns
    -------
    cuts : ndarray
        Ascending; a value belongs to bin ``searchsorted(cuts, value)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.counts import mdl_cuts
    >>> mdl_cuts(np.arange(20.0), np.repeat([0, 1], 10), 2)
    array([9.5])
    """
    known = ~np.isnan(values)
    values, labels = values[known], labels[known]
    weights = np.ones(values.size) if weights is None else weights[known]
    distinct, at = np.unique(values, return_inverse=True)
    counts = np.zeros((distinct.size, n_classes))
    np.add.at(counts, (at, labels), weights)
    at = mdl_borders(counts)
    return distinct[at - 1] / 2 + distinct[at] / 2


def mdl_borders(counts: Floats) -> Ints:
    """Cuts of values that are counted: the first value after each cut, ascending.

    Parameters
    ----------
    counts : ndarray
        Weight of the rows, ascending values x classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.counts import mdl_borders
    >>> mdl_borders(np.repeat([[2.0, 0.0], [0.0, 2.0]], 5, axis=0))
    array([5])
    """
    found: list[int] = []
    parts = [(0, len(counts))]
    while parts:
        start, end = parts.pop()
        cut = _best_cut(counts[start:end])
        if cut is not None:
            middle = start + cut
            found.append(middle)
            parts += [(start, middle), (middle, end)]
    return np.array(sorted(found), np.int64)


def _best_cut(counts: Floats) -> int | None:
    """Where to cut a run of distinct values (class counts, values x classes), or None."""
    if counts.shape[0] < 2:
        return None
    total = counts.sum(0)
    best, at, n = np.inf, 0, 0.0
    of_parts, parts = (0.0, 0.0), (total, total)
    before, step = np.zeros_like(total), max(_CELLS // total.size, 1)
    for lo in range(0, len(counts) - 1, step):
        left = np.vstack([before, counts[lo : min(lo + step, len(counts) - 1)]]).cumsum(0)[1:]
        right = total - left
        n_left, n_right = left.sum(1), right.sum(1)
        n = n or n_left[0] + n_right[0]
        of_left, of_right = _entropy(left), _entropy(right)
        mixed = (n_left * of_left + n_right * of_right) / n
        here = int(np.argmin(mixed))
        if mixed[here] < best:
            best, at = mixed[here], lo + here
            of_parts, parts = (of_left[here], of_right[here]), (left[here], right[here])
        before = left[-1]
    whole = float(_entropy(total[None])[0])
    classes = [int((part > 0).sum()) for part in (total, *parts)]
    # What the cut gains must exceed the price of telling where it is and what the parts hold.
    # log2(3^k - 2), in a form that does not overflow.
    k = classes[0]
    extra = (
        k * np.log2(3.0)
        + np.log2(1.0 - 2.0 * 3.0**-k)
        - (classes[0] * whole - classes[1] * of_parts[0] - classes[2] * of_parts[1])
    )
    if whole - best <= (np.log2(max(n - 1, 1)) + extra) / n:
        return None
    return at + 1


def _entropy(counts: Floats) -> Floats:
    """Entropy in bits of each row of counts."""
    share = counts / np.maximum(counts.sum(1, keepdims=True), np.finfo(float).tiny)
    logs = np.log2(np.where(share > 0, share, 1.0))
    return -(share * logs).sum(1)


#: Intervals of equally many rows: from so many, to so many.
FEWEST_INTERVALS, MOST_INTERVALS = 2, 32


@dataclass(frozen=True)
class IntervalModel(CountModel):
    """Intervals that pay for themselves (minimum description length, Fayyad and Irani 1993).

    Cuts lie between codes of an unsupervised grid and are found anew in each training set.  They
    have seen the class of every row, so that no row can be taken out afterwards.
    """

    grid_codes: int = MOST_CODES
    leaves_one_out: bool = False

    def terms(
        self, statistics: Floats, values: Array, grid: Grid, settings: ModelSettings
    ) -> Terms:
        """Log-share of each code's interval; `values` and `grid` are not needed."""
        parts = []
        for counts in statistics:
            starts = np.append(0, mdl_borders(counts[:-1] * settings.class_weight))
            parts.append(self._of_intervals(counts, starts, settings))
        finite = np.concatenate([part.finite for part in parts])
        if all(part.impossible is None for part in parts):
            return Terms(finite)
        never = [
            np.zeros(part.finite.shape, bool) if part.impossible is None else part.impossible
            for part in parts
        ]
        return Terms(finite, np.concatenate(never))

    def support(self, speaker: ColumnTerms, values: Array) -> Support:
        """The rows of each code's interval."""
        seen, settings = speaker.statistics[0, :-1], speaker.settings
        if not len(seen):
            return super().support(speaker, values)
        starts = np.append(0, mdl_borders(seen * settings.class_weight))
        joined = ColumnTerms(self, np.add.reduceat(seen, starts), speaker.grid, settings)
        padded = np.pad(joined.statistics, ((0, 1), (0, 0)))[None]
        found = super().support(joined._replace(statistics=padded), values)
        sizes = np.diff(np.append(starts, len(seen)))
        at = np.append(np.repeat(np.arange(starts.size), sizes), starts.size)
        return Support(found.point[at], found.rows[at], found.prior[at], found.whole)

    def _of_intervals(self, counts: Floats, starts: Array, settings: ModelSettings) -> Terms:
        """Counts of joined codes, said for each of them: 1 x codes x classes."""
        n_codes = len(counts) - 1
        if not n_codes:
            return super().terms(counts[None], starts, Grid(), settings)
        joined = np.concatenate([np.add.reduceat(counts[:-1], starts), counts[-1:]])
        terms = super().terms(joined[None], starts, Grid(), settings)
        sizes = np.diff(np.append(starts, n_codes))
        at = np.append(np.repeat(np.arange(starts.size), sizes), starts.size)
        never = terms.impossible
        return Terms(terms.finite[:, at], None if never is None else never[:, at])
