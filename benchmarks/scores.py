"""Speed of the grid of 810 indicators on many series, and of each score beside scipy's form.

    python benchmarks/scores.py [--quick]

A score is timed on 6000 series of 200 points, its peer on a few of them: the same trace as a Python
function of a series, by scipy and numpy over all windows at once as far as they go.  Prints a table
and writes it to benchmarks/results/scores.json.
"""

import json
import math
import resource
import sys
import time
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import signal, stats

from bayesieve.engine.threads import Threads
from bayesieve.indicators import Indicators, Score
from bayesieve.indicators.library import LIBRARY

N_THREADS = 2
N_POINTS = 200


# -- peers: the trace of one series, with scipy and numpy as far as they go ----------------------


def cut(x, window):
    """All windows of a series, as rows."""
    return sliding_window_view(x, window or x.size)


def halves(x, window):
    """The halves of all windows."""
    rows = cut(x, window // 2 * 2)
    return rows[:, : window // 2], rows[:, window // 2 :]


def robust(x):
    """Distances from the median in robust deviations."""
    return np.abs(x - np.median(x)) / stats.median_abs_deviation(x, scale="normal")


def hampel(x, window):
    """The same within the points around each."""
    rows = cut(np.pad(x, window // 2, mode="edge"), window)
    centre = np.median(rows, axis=1)
    return np.abs(x - centre) / stats.median_abs_deviation(rows, axis=1, scale="normal")


def runs(flags):
    """Lengths of runs of True."""
    edges = np.flatnonzero(np.diff(np.r_[0, flags.astype(int), 0]))
    return edges[1::2] - edges[::2]


def drift(x, weight, reference):
    """Moving average by scipy's filter, over its standard error."""
    first = x[:reference]
    average = signal.lfilter([weight], [1, weight - 1], (x - first.mean()) / first.std(ddof=1))
    decay = (1 - weight) ** (2 * np.arange(1, x.size + 1))
    return np.abs(average) / np.sqrt(weight / (2 - weight) * (1 - decay))


def slopes(x, window):
    """Slopes of all windows, by one product."""
    rows = cut(x, window)
    at = np.arange(rows.shape[1]) - (rows.shape[1] - 1) / 2
    return np.abs(rows @ at) / (at @ at)


def autocorrelation(x, lag, window):
    """Of all windows."""
    rows = cut(x, window)
    apart = rows - rows.mean(1, keepdims=True)
    return (apart[:, lag:] * apart[:, :-lag]).sum(1) / (apart**2).sum(1)


def entropies(x, order, window):
    """Entropies of the orders of successive points."""
    ranks = np.argsort(cut(x, order), axis=1, kind="stable") @ order ** np.arange(order)
    codes = np.unique(ranks, return_inverse=True)[1]
    inside = (window or x.size) - order + 1
    counts = [np.bincount(part) for part in cut(codes, inside)]
    return [stats.entropy(count) / math.log(math.factorial(order)) for count in counts]


def crossings(x, window):
    """Shares of steps over the mean."""
    rows = cut(x, window)
    return np.diff(rows >= rows.mean(1, keepdims=True), axis=1).mean(1)


def periodicity(x, window):
    """Share of the strongest peak."""
    power = signal.periodogram(cut(x, window), axis=1)[1]
    return power.max(1) / power.sum(1)


def trends(x, window):
    """Kendall's tau of time, window by window."""
    return [abs(stats.kendalltau(np.arange(part.size), part).statistic) for part in cut(x, window)]


def correlations(a, b, window):
    """Of all windows of two channels."""
    return 1 - stats.pearsonr(cut(a, window), cut(b, window), axis=1).statistic


PEERS = {
    "highest": lambda x: x,
    "lowest": lambda x: x,
    "outside": lambda x, low, high: np.maximum(low - x, x - high),
    "welch": lambda x, w: np.abs(stats.ttest_ind(*halves(x, w), axis=1, equal_var=False)[0]),
    "cusum": lambda x: np.abs(np.cumsum(x - x.mean())) / (x.std() * math.sqrt(x.size)),
    "levene": lambda x, w: stats.levene(*halves(x, w), axis=1).statistic,
    "mann-kendall": trends,
    "slope": slopes,
    "drift": drift,
    "spikes": robust,
    "hampel": hampel,
    "stuck": lambda x, tolerance: np.r_[0, runs(np.abs(np.diff(x)) <= tolerance)] + 1,
    "dropouts": lambda x: np.r_[0, runs(~np.isfinite(x))],
    "periodicity": periodicity,
    "autocorrelation": autocorrelation,
    "total-variation": lambda x, w: np.abs(np.diff(cut(x, w), axis=1)).mean(1),
    "zero-crossings": crossings,
    "permutation-entropy": entropies,
    "reference-ks": lambda x, reference, w: [
        stats.ks_2samp(x[:reference], part, method="asymp").statistic
        for part in cut(x[reference:], w)
    ],
    "reference-energy": lambda x, reference, w: [
        stats.energy_distance(x[:reference], part) for part in cut(x[reference:], w)
    ],
    "difference": lambda a, b, w: np.abs(cut(a - b, w).mean(1)),
    "ratio": lambda a, b, w: cut(a, w).mean(1) / cut(b, w).mean(1),
    "lost-correlation": correlations,
}


def best_of(task, repeats=5):
    """Seconds of the fastest of some runs, after one to warm up."""
    task()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        found.append(time.perf_counter() - start)
    return min(found)


def peer_of(name, score):
    """The score as one would register it: a Python function of a series."""
    pairs = score.n_channels == 2

    def largest(*record, **point):
        return np.nanmax(PEERS[name](*record, *point.values()))

    return Score(name, largest, score.grid, n_channels=2 if pairs else 1)


def time_scores(n_series, record):
    """Each score of the library beside its peer, one thread each."""
    rng = np.random.default_rng(0)
    X = list(rng.normal(size=(n_series, N_POINTS)) + 5)
    for name, score in LIBRARY.items():
        series = X if score.n_channels == 1 else [(x, X[i - 1]) for i, x in enumerate(X)]
        few, peer = series[: max(n_series // 100, 10)], peer_of(name, score)
        with Threads(1) as engine, np.errstate(all="ignore"):
            mine = best_of(lambda: list(score.columns(series, engine))) / n_series  # noqa: B023
            its = best_of(lambda: list(peer.columns(few, engine)), 2) / len(few)  # noqa: B023
        record(f"{name}: microseconds a series", mine * 1e6)
        record(f"{name}: times as fast as its peer", its / mine)


def time_grid(n_series, record):
    """The 810 indicators of many series, twice the number, and longer ones."""
    rng = np.random.default_rng(0)
    indicators = Indicators(n_jobs=N_THREADS).fit(rng.normal(size=(10, N_POINTS)))
    seconds = {}
    for n in (n_series // 8, n_series):
        X = rng.normal(size=(n, N_POINTS))
        start = time.perf_counter()
        indicators.transform(X)
        seconds[n] = time.perf_counter() - start
    record(f"810 indicators of {n_series} series of {N_POINTS} points, s", seconds[n_series])
    few, many = seconds.values()
    record("exponent of the time in the number of series", math.log(many / few) / math.log(8))
    long = []
    for size in (1000, 4000):
        X = rng.normal(size=(max(n_series // 400, 20), size))
        long.append(best_of(lambda: indicators.transform(X), 2))  # noqa: B023
    record("exponent of the time in the length of the series", math.log(long[1] / long[0], 4))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    record("most memory, GB", peak)


def main():
    """Run all parts."""
    results = {}

    def record(name, value):
        results[name] = value
        print(f"{name:60s} {value:.4g}", flush=True)

    quick = "--quick" in sys.argv
    time_grid(5_000 if quick else 100_000, record)
    time_scores(300 if quick else 6000, record)
    missing = set(LIBRARY) - set(PEERS)
    assert not missing, missing
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "scores.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
