"""Speed of the grid of 810 indicators on many series, and of each score beside scipy's form.

    python benchmarks/scores.py [--quick] [--peers PYTHON]

A score is timed on 6000 series of 200 points, its peer on a few of them: the same trace as a Python
function of a series, by scipy and numpy over all windows at once as far as they go.  With
``--peers``, the Python of an environment with tsfresh, six scores of whole series stand beside
tsfresh's.  Seconds are of the clock, and of the processors (all threads together), which other
work on the machine disturbs less.  Prints a table and writes it to benchmarks/results/scores.json.
"""

import argparse
import json
import math
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import signal, stats

from bayesieve.engine.threads import Threads
from bayesieve.indicators import SCORES, Indicators, Score
from bayesieve.indicators.scores import LIBRARY

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


def best_of(task, repeats=5, clock=time.perf_counter):
    """Seconds of the fastest of some runs, after one to warm up."""
    task()
    found = []
    for _ in range(repeats):
        start = clock()
        task()
        found.append(clock() - start)
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
            mine = best_of(lambda: list(score.columns(series, engine)), 9, time.process_time)  # noqa: B023
            its = best_of(lambda: list(peer.columns(few, engine)), 4, time.process_time)  # noqa: B023
        mine, its = mine / n_series, its / len(few)
        record(f"{name}: microseconds a series", mine * 1e6)
        record(f"{name}: times as fast as its peer", its / mine)


def time_grid(n_series, record):
    """The 810 indicators of many series, twice the number, and longer ones."""
    rng = np.random.default_rng(0)
    indicators = Indicators(n_jobs=N_THREADS).fit(rng.normal(size=(10, N_POINTS)))
    seconds, processor = {}, {}
    for n in (n_series // 8, n_series):
        X = rng.normal(size=(n, N_POINTS))
        start, used = time.perf_counter(), time.process_time()
        indicators.transform(X)
        seconds[n], processor[n] = time.perf_counter() - start, time.process_time() - used
    what = f"810 indicators of {n_series} series of {N_POINTS} points"
    record(f"{what}, s", seconds[n_series])
    record(f"{what}, processor s", processor[n_series])
    few, many = processor.values()
    record("exponent of the time in the number of series", math.log(many / few) / math.log(8))
    long = []
    for size in (1000, 4000):
        X = rng.normal(size=(max(n_series // 400, 20), size))
        long.append(best_of(lambda: indicators.transform(X), 2, time.process_time))  # noqa: B023
    record("exponent of the time in the length of the series", math.log(long[1] / long[0], 4))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    record("most memory, GB", peak)


def beside_tsfresh(python, n_series, record):
    """Six scores of whole series, one thread each; the values must be the same."""
    X = np.random.default_rng(0).normal(size=(n_series, N_POINTS)) + 5
    whole = [
        SCORES["highest"],
        SCORES["lowest"],
        SCORES["total-variation"].over(window=[0]),
        SCORES["slope"].over(window=[0]),
        SCORES["autocorrelation"].over(window=[0], lag=[1]),
        SCORES["permutation-entropy"].over(window=[0], order=[3]),
    ]
    with Threads(1) as engine:

        def score():
            return [column.values for each in whole for column in each.columns(list(X), engine)]

        mine, found = best_of(score, clock=time.process_time), score()
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder, "series.npy"), Path(folder, "answer.npz")
        np.save(given, X)
        script = Path(__file__).parent / "series_peer.py"
        subprocess.run([python, script, given, answer], check=True, capture_output=True)
        peer = np.load(answer)
        theirs, (_, seconds) = peer["features"], peer["seconds"]
    theirs[:, 3] = np.abs(theirs[:, 3])
    theirs[:, 5] /= math.log(6)  # ours is a share of the most there can be
    worth = (N_POINTS - 1) / N_POINTS  # tsfresh divides its sum of n - 1 products by n - 1
    theirs[:, 4] *= worth
    np.testing.assert_allclose(np.array(found).T, theirs, rtol=1e-8, atol=1e-10)
    record("six scores of whole series: microseconds a series", mine / n_series * 1e6)
    record("the same six by tsfresh: microseconds a series", seconds / n_series * 1e6)
    record("six scores: times as fast as tsfresh", seconds / mine)


def main():
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer series")
    parser.add_argument("--peers", help="Python of an environment with tsfresh")
    options = parser.parse_args()
    results = {}

    def record(name, value):
        results[name] = value
        print(f"{name:60s} {value:.4g}", flush=True)

    time_grid(5_000 if options.quick else 100_000, record)
    time_scores(300 if options.quick else 6000, record)
    if options.peers:
        beside_tsfresh(options.peers, 300 if options.quick else 2000, record)
    missing = set(LIBRARY) - set(PEERS)
    assert not missing, missing
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "scores.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
