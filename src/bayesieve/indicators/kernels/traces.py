"""Kernels of traces: one loop over series, the trace chosen by name when it is compiled."""

import math

import numpy as np
from numba import literally, njit, typeof, types
from numba.extending import overload

from ...data.kernels.options import EXACT
from .windows import any_ties, in_range, replace_sorted, squares, window_means


@njit(**EXACT)
def _count(a, b, window):
    return max(a.size - window + 1, 0) if a.size == b.size else 0


@njit(**EXACT)
def difference(a, b, window):
    """Absolute mean differences."""
    n = _count(a, b, window)
    return np.abs(window_means(a - b, window)) if n else np.empty(0)


@njit(**EXACT)
def ratio(a, b, window):
    """How many times as large one mean is as the other; NaN where their signs differ."""
    n = _count(a, b, window)
    out = np.empty(n)
    if n == 0:
        return out
    one, other = window_means(a, window), window_means(b, window)
    for s in range(n):
        share = one[s] / other[s] if other[s] != 0.0 else np.nan
        out[s] = max(share, 1.0 / share) if share > 0.0 else np.nan
    return out


@njit(**EXACT)
def lost_correlation(a, b, window):
    """1 less the correlation; NaN where a channel is constant."""
    n = _count(a, b, window)
    out = np.zeros(n)
    if n == 0:
        return out
    a, b = in_range(a), in_range(b)
    shift_a, within_a = np.empty(a.size), np.empty(a.size)
    shift_b, within_b = np.empty(a.size), np.empty(a.size)
    squares(a, window, shift_a, within_a)
    squares(b, window, shift_b, within_b)
    one, other = a[:n] + shift_a[:n], b[:n] + shift_b[:n]
    for i in range(window):
        for s in range(n):
            out[s] += (a[s + i] - one[s]) * (b[s + i] - other[s])
    for s in range(n):
        both = math.sqrt(within_a[s]) * math.sqrt(within_b[s])
        out[s] = 1.0 - out[s] / both if both > 0.0 else np.nan
    return out


# -- Traces with one answer a point ----------------------------------------------------------------


# Makes the median of absolute deviations, or their mean, the standard deviation of normal values.
_OF_MEDIAN = 1.482602218505602
_OF_MEAN = 1.2533141373155003


@njit(**EXACT)
def level(x):
    """The values themselves."""
    return x


@njit(**EXACT)
def outside(x, low, high):
    """How far each point lies outside the limits; negative within them."""
    out = np.empty(x.size)
    for i in range(x.size):
        below, above = low - x[i], x[i] - high
        out[i] = below if below >= above else above
    return out


@njit(**EXACT)
def median_of(ordered):
    """Median of sorted values."""
    middle = ordered.size // 2
    if ordered.size % 2:
        return ordered[middle]
    return ordered[middle - 1] / 2.0 + ordered[middle] / 2.0


@njit(**EXACT)
def _median_distance(ordered, centre):
    """Median of the distances of sorted values from a centre among them."""
    n = ordered.size
    right = np.searchsorted(ordered, centre)
    left = right - 1
    before = now = 0.0
    for _ in range(n // 2 + 1):  # the nearest first
        before = now
        if left < 0 or (right < n and ordered[right] - centre < centre - ordered[left]):
            now = ordered[right] - centre
            right += 1
        else:
            now = centre - ordered[left]
            left -= 1
    return now if n % 2 else before / 2.0 + now / 2.0


@njit(**EXACT)
def _robust_unit(ordered, centre):
    """A robust deviation of sorted values; 0 where nothing deviates."""
    unit = _OF_MEDIAN * _median_distance(ordered, centre)
    return unit if unit > 0.0 else _OF_MEAN * np.abs(ordered - centre).mean()


@njit(**EXACT)
def robust_z(x):
    """Distances from the median of the series in robust deviations."""
    out = np.empty(x.size)
    if x.size == 0:
        return out
    ordered = np.sort(x)
    centre = median_of(ordered)
    unit = _robust_unit(ordered, centre)
    for i in range(x.size):
        out[i] = abs(x[i] - centre) / unit if unit > 0.0 else 0.0
    return out


@njit(**EXACT)
def hampel(x, window):
    """Distances from the median of the points around, in robust deviations of these.

    At the ends the window holds the first or the last points.
    """
    n = x.size
    if window > n:
        return np.empty(0)
    out = np.empty(n)
    ordered = np.sort(x[:window])
    start = 0
    for i in range(n):
        wanted = min(max(i - window // 2, 0), n - window)
        if wanted > start:
            replace_sorted(ordered, x[start], x[start + window])
            start = wanted
        centre = median_of(ordered)
        unit = _robust_unit(ordered, centre)
        out[i] = abs(x[i] - centre) / unit if unit > 0.0 else 0.0
    return out


@njit(**EXACT)
def _run_lengths(joined, out):
    """Length of the run that each point is in; joined[i]: does it go on from the point before?"""
    first = 0
    for i in range(1, out.size + 1):
        if i == out.size or not joined[i]:
            out[first:i] = i - first
            first = i


@njit(**EXACT)
def stuck(x, tolerance):
    """Points in the run of each point in which no step is larger than the tolerance."""
    out = np.empty(x.size)
    joined = np.empty(x.size, np.bool_)
    for i in range(1, x.size):
        joined[i] = abs(x[i] - x[i - 1]) <= tolerance
    _run_lengths(joined, out)
    return out


@njit(**EXACT)
def dropouts(x):
    """Points in the run of missing ones around each; 0 for a point that is there."""
    out = np.empty(x.size)
    gone = ~np.isfinite(x)
    joined = np.empty(x.size, np.bool_)
    for i in range(1, x.size):
        joined[i] = gone[i] == gone[i - 1]
    _run_lengths(joined, out)
    for i in range(x.size):
        if not gone[i]:
            out[i] = 0.0
    return out


@njit(**EXACT)
def cusum(x):
    """Sums of deviations from the mean, in standard deviations times the root of the length."""
    n = x.size
    out = np.zeros(n)
    if n < 2:
        return out[:0]
    x = in_range(x)
    mean = x[0] + (x - x[0]).mean()
    squares = total = 0.0
    for i in range(n):
        apart = x[i] - mean
        squares += apart * apart
        total += apart
        out[i] = abs(total)
    if np.ptp(x) == 0.0 or not squares > 0.0:
        return np.zeros(n)
    return out / math.sqrt(squares)


@njit(**EXACT)
def drift(x, weight, reference):
    """Moving average with exponential weights, away from a reference period's mean.

    In standard deviations of that average under the noise of the reference period, the first
    points of the series; NaN where these do not vary.
    """
    n = x.size
    if reference > n or reference < 2:
        return np.empty(0)
    x = in_range(x)
    first = x[:reference]
    mean = first[0] + (first - first[0]).mean()
    spread = math.sqrt(((first - mean) ** 2).sum() / (reference - 1))
    out = np.full(n, np.nan)
    if np.ptp(first) == 0.0 or not spread > 0.0:
        return out
    average, decay = 0.0, 1.0
    for i in range(n):
        average = weight * (x[i] - mean) / spread + (1.0 - weight) * average
        decay *= (1.0 - weight) ** 2
        out[i] = abs(average) / math.sqrt(weight / (2.0 - weight) * (1.0 - decay))
    return out


# -- Traces with one answer a break ----------------------------------------------------------------


# Where nothing varies on either side and yet they differ, a ratio to the noise ends here.
_MOST = 1e6


@njit(**EXACT)
def welch(x, window):
    """Absolute t statistics of Welch's test of equal means."""
    half = window // 2
    n = x.size - 2 * half + 1
    if n < 1:
        return np.empty(0)
    out = np.empty(n)
    x = in_range(x)
    shift, within = np.empty(x.size), np.empty(x.size)
    squares(x, half, shift, within)
    for t in range(n):
        gap = abs((x[t + half] - x[t]) + (shift[t + half] - shift[t]))
        error = math.sqrt((within[t] + within[t + half]) / (half - 1) / half)
        if gap == 0.0:
            out[t] = 0.0
        else:
            out[t] = min(gap / error, _MOST) if error > 0.0 else _MOST
    return out


@njit(**EXACT)
def levene(x, window):
    """Statistics of Levene's test of equal variances, from distances to the median."""
    half = window // 2
    n = x.size - 2 * half + 1
    if n < 1:
        return np.empty(0)
    means, within = np.empty(x.size - half + 1), np.empty(x.size - half + 1)
    x = in_range(x)
    ordered = np.sort(x[:half])
    for s in range(means.size):
        if s > 0:
            replace_sorted(ordered, x[s - 1], x[s + half - 1])
        centre = median_of(ordered)
        total = 0.0
        for value in ordered:
            total += abs(value - centre)
        means[s] = total / half
        total = 0.0
        for value in ordered:
            total += (abs(value - centre) - means[s]) ** 2
        within[s] = total
    out = np.empty(n)
    for t in range(n):
        gap = (means[t] - means[t + half]) ** 2 / 2.0 * half
        inside = within[t] + within[t + half]
        if gap == 0.0:
            out[t] = 0.0
        else:
            out[t] = min((2 * half - 2) * gap / inside, _MOST) if inside > 0.0 else _MOST
    return out


# -- Traces of windows against a reference period, the first points of a series --------------------


@njit(**EXACT)
def _apart(one, other):
    """Largest gap of two distribution functions, and the integral of the squared gap."""
    i = j = 0
    largest = total = 0.0
    at = min(one[0], other[0])
    gap = 0.0
    while i < one.size or j < other.size:
        if j == other.size or (i < one.size and one[i] <= other[j]):
            value = one[i]
        else:
            value = other[j]
        total += gap * gap * (value - at)
        while i < one.size and one[i] == value:
            i += 1
        while j < other.size and other[j] == value:
            j += 1
        gap = abs(i / one.size - j / other.size)
        largest = max(largest, gap)
        at = value
    return largest, total


@njit(**EXACT)
def _against_reference(x, reference, window, energy):
    n = x.size - reference - window + 1
    if n < 1:
        return np.empty(0)
    out = np.empty(n)
    first = np.sort(x[:reference])
    ordered = np.sort(x[reference : reference + window])
    for s in range(n):
        if s > 0:
            at = reference + s
            replace_sorted(ordered, x[at - 1], x[at + window - 1])
        largest, total = _apart(first, ordered)
        out[s] = math.sqrt(2.0 * total) if energy else largest
    return out


@njit(**EXACT)
def reference_ks(x, reference, window):
    """Kolmogorov-Smirnov statistics of windows against the reference period."""
    return _against_reference(x, reference, window, False)


@njit(**EXACT)
def reference_energy(x, reference, window):
    """Energy distances of windows from the reference period."""
    return _against_reference(x, reference, window, True)


# -- From the answers of a score along a series to one number --------------------------------------


# The rules that the kernels know.
LARGEST, SMALLEST, SHARE, RUN, AMONG = 0, 1, 2, 3, 4


@njit(**EXACT)
def _extreme(trace, smallest):
    """The largest answer, or the smallest."""
    sign = -1.0 if smallest else 1.0
    # Four stretches side by side, so that none waits for another; of equals the first one stays.
    n = trace.size // 4
    a = b = c = best = -np.inf
    for i in range(n):
        one, two = sign * trace[i], sign * trace[n + i]
        three, four = sign * trace[2 * n + i], sign * trace[3 * n + i]
        a = one if a < one < np.inf else a
        b = two if b < two < np.inf else b
        c = three if c < three < np.inf else c
        best = four if best < four < np.inf else best
    c = best if best > c else c
    b = c if c > b else b
    best = b if b > a else a
    for i in range(4 * n, trace.size):
        value = sign * trace[i]
        best = value if best < value < np.inf else best
    return np.nan if best == -np.inf else sign * best


@njit(**EXACT)
def reduce_trace(trace, rule, level, successive):
    """One number for all answers; those that are not finite do not count, NaN where none does."""
    if rule in (LARGEST, SMALLEST):
        return _extreme(trace, rule == SMALLEST)
    known = above = 0
    if rule == SHARE:
        for value in trace:
            known += np.int64(abs(value) < np.inf)
            above += np.int64(value > level) & np.int64(value < np.inf)
        return above / known if known else np.nan
    known = run = longest = inside = most = 0
    for i in range(trace.size):
        known += np.int64(np.isfinite(trace[i]))
        exceeds = np.int64(trace[i] > level and np.isfinite(trace[i]))
        run = (run + 1) * exceeds
        longest = max(longest, run)
        inside += exceeds
        if rule == AMONG and i >= successive:
            inside -= np.int64(trace[i - successive] > level and np.isfinite(trace[i - successive]))
        most = max(most, inside)
    if known == 0:
        return np.nan
    return float(longest if rule == RUN else most)


# -- Traces with one answer a window ---------------------------------------------------------------


# Power below this share of the whole series' is rounding.
_NOTHING = 1e-20


@njit(**EXACT)
def _size(x, window, least):
    """Points in a window, and how many windows there are."""
    size = x.size if window == 0 else window
    return size, (x.size - size + 1 if least <= size <= x.size else 0)


@njit(**EXACT)
def slope(x, window):
    """Absolute slopes of least-squares lines."""
    size, n = _size(x, window, 2)
    out = np.zeros(n)
    centre = (size - 1) / 2.0
    for i in range(size):
        for s in range(n):
            out[s] += (i - centre) * (x[s + i] - x[s])
    scale = size * (size * size - 1.0) / 12.0
    for s in range(n):
        out[s] = abs(out[s]) / scale
    return out


@njit(**EXACT)
def _signs(value, others):
    """How many others lie below the value, less how many lie above."""
    total = 0
    for other in others:
        total += np.int64(value > other) - np.int64(value < other)
    return total


@njit(**EXACT)
def _kendall_ties(part):
    """Sum of t (t - 1) (2 t + 5) over groups of t equal values."""
    ordered = np.sort(part)
    total, run = 0.0, 1
    for i in range(1, ordered.size + 1):
        if i < ordered.size and ordered[i] == ordered[i - 1]:
            run += 1
        else:
            total += run * (run - 1.0) * (2.0 * run + 5.0)
            run = 1
    return total


@njit(**EXACT)
def mann_kendall(x, window):
    """Absolute z statistics of the Mann-Kendall test of a trend, with ties and continuity."""
    size, n = _size(x, window, 2)
    out = np.empty(n)
    if n == 0:
        return out
    has_ties = any_ties(x)
    total = 0
    for i in range(1, size):
        total += _signs(x[i], x[:i])
    for s in range(n):
        ties = _kendall_ties(x[s : s + size]) if has_ties else 0.0
        spread = math.sqrt((size * (size - 1.0) * (2.0 * size + 5.0) - ties) / 18.0)
        out[s] = max(abs(total) - 1, 0) / spread if spread > 0.0 else 0.0
        if s + 1 < n:
            kept = x[s + 1 : s + size]
            total += _signs(x[s], kept) + _signs(x[s + size], kept)
    return out


@njit(**EXACT)
def autocorrelation(x, lag, window):
    """Correlations of a window with itself some points later; NaN where it is constant."""
    size, n = _size(x, window, lag + 2)
    out = np.zeros(n)
    if n == 0:
        return out
    x = in_range(x)
    shift, within = np.empty(x.size), np.empty(x.size)
    squares(x, size, shift, within)
    mean = x[:n] + shift[:n]
    if n == 1:
        total = 0.0
        for i in range(x.size - lag):
            total += (x[i] - mean[0]) * (x[i + lag] - mean[0])
        out[0] = total
    else:
        for i in range(size - lag):
            for s in range(n):
                out[s] += (x[s + i] - mean[s]) * (x[s + i + lag] - mean[s])
    for s in range(n):
        out[s] = out[s] / within[s] if within[s] > 0.0 else np.nan
    return out


@njit(**EXACT)
def total_variation(x, window):
    """Mean absolute steps."""
    size, n = _size(x, window, 2)
    out = np.zeros(n)
    for i in range(size - 1):
        for s in range(n):
            out[s] += abs(x[s + i + 1] - x[s + i])
    for s in range(n):
        out[s] /= size - 1
    return out


@njit(**EXACT)
def zero_crossings(x, window):
    """Shares of steps that cross the mean of the window."""
    size, n = _size(x, window, 2)
    out = np.zeros(n)
    if n == 0:
        return out
    mean = window_means(x, size)
    for i in range(size - 1):
        for s in range(n):
            out[s] += np.int64((x[s + i] >= mean[s]) != (x[s + i + 1] >= mean[s]))
    for s in range(n):
        out[s] /= size - 1
    return out


@njit(**EXACT)
def _patterns(x, order):
    """Number of the order of each point and those after it; of equals the first is lower."""
    out = np.empty(max(x.size - order + 1, 0), np.int64)
    for s in range(out.size):
        code = 0
        for i in range(order):
            later = 0
            for j in range(i + 1, order):
                later += np.int64(x[s + j] < x[s + i])
            code = code * (order - i) + later
        out[s] = code
    return out


@njit(**EXACT)
def permutation_entropy(x, order, window):
    """Entropies of the orders of successive points: 0 always the same, 1 all alike often."""
    size, n = _size(x, window, order + 1)
    out = np.empty(n)
    if n == 0:
        return out
    codes = _patterns(x, order)
    n_codes = 1
    for i in range(2, order + 1):
        n_codes *= i
    inside = size - order + 1
    logs = np.array([c * math.log(c) if c else 0.0 for c in range(inside + 1)])
    counts = np.zeros(n_codes, np.int64)
    for i in range(inside):
        counts[codes[i]] += 1
    for s in range(n):
        total = 0.0
        for count in counts:
            total += logs[count]
        out[s] = max(math.log(inside) - total / inside, 0.0) / math.log(n_codes)
        if s + 1 < n:
            counts[codes[s]] -= 1
            counts[codes[s + inside]] += 1
    return out


@njit(**EXACT)
def periodicity(x, window):
    """Shares of the variance at the strongest frequency of the periodogram; 0 for a constant.

    The transform of a window is that of the one before with a point taken off and one put on,
    turned by one step.
    """
    size, n = _size(x, window, 4)
    out = np.zeros(n)
    if n == 0:
        return out
    x = in_range(x)
    centre = x[0] + (x - x[0]).mean()
    angles = 2.0 * math.pi / size * np.arange(1, size // 2 + 1)
    cosines, sines = np.cos(angles), np.sin(angles)
    real, imaginary = np.zeros(angles.size), np.zeros(angles.size)
    shift, within = np.empty(x.size), np.empty(x.size)
    squares(x, size, shift, within)
    floor = _NOTHING * ((x - centre) ** 2).sum() * size
    for i in range(x.size):
        change = x[i] - (x[i - size] if i >= size else centre)
        best = total = 0.0
        for k in range(angles.size):
            turned = real[k] + change
            real[k] = turned * cosines[k] - imaginary[k] * sines[k]
            imaginary[k] = turned * sines[k] + imaginary[k] * cosines[k]
        if i < size - 1:
            continue
        for k in range(angles.size):
            power = real[k] * real[k] + imaginary[k] * imaginary[k]
            if 2 * (k + 1) == size:
                power /= 2.0
            total += power
            best = max(best, power)
        start = i - size + 1
        out[start] = best / total if within[start] > 0.0 and total > floor else 0.0
    return out


# -- One loop over series for every trace ----------------------------------------------------------


_LARGEST = np.finfo(np.float64).max


def kernel_of(name):
    """The trace of a name such as "points.level": its kind, and the function here."""
    return globals()[name.partition(".")[2]]


def reads_two(name):
    """Does a trace read two channels?"""
    return name.startswith("channels.")


def trace_of(name, one, other, point):
    """The trace of one series, or of two channels of it."""
    return kernel_of(name)(one, other, *point) if reads_two(name) else kernel_of(name)(one, *point)


@overload(trace_of)
def _trace_of(name, one, other, point):
    if not isinstance(name, types.StringLiteral):
        return None
    kernel = kernel_of(name.literal_value)
    if reads_two(name.literal_value):
        return lambda name, one, other, point: kernel(one, other, *point)
    return lambda name, one, other, point: kernel(one, *point)


@njit(**EXACT)
def _finite(x):
    """Is every value a number?"""
    odd = 0
    for value in x:
        odd += np.int64(not abs(value) <= _LARGEST)
    return odd == 0


@njit(**EXACT)
def score_series(
    name, values, pointers, usable, takes_missing, point, rule, levels, successive, lo, hi, out
):
    """Scores of series lo..hi: out[reading, series], a reading a level and number of places.

    values holds the channels in its rows; series without an answer keep what `out` has.
    """
    literally(name)
    one, other = values[0], values[-1]
    for j in range(lo, hi):
        x, y = one[pointers[j] : pointers[j + 1]], other[pointers[j] : pointers[j + 1]]
        if usable[j] and (takes_missing or (_finite(x) and (values.shape[0] == 1 or _finite(y)))):
            answers = trace_of(name, x, y, point)
            for k in range(levels.size):
                out[k, j] = reduce_trace(answers, rule, levels[k], successive[k])


def score_loop(name, *arguments):
    """`score_series` compiled for a trace and arguments of these types.

    A call by name alone would look for the trace anew each time, which takes longer than many
    series do.
    """
    if not hasattr(score_series, "compile"):  # numba is switched off
        return score_series
    return score_series.compile((types.literal(name), *map(typeof, arguments)))
