"""Speed of window tests, indicators and information rankings, beside scipy and mrmr_selection.

    python benchmarks/indicators.py

mrmr_selection is timed where it is installed (`pip install mrmr_selection`).  Prints a table and
writes it to benchmarks/results/indicators.json.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.feature_selection import mutual_info_classif

from bayesieve import rank
from bayesieve.datasets import make_signals
from bayesieve.indicators import Indicators
from timing import median_time

N_THREADS = 2
WIDTHS = (30, 50, 100)


def variance_test(left, right, axis=-1):
    """Two-sided F test of equal variances, vectorised over rows."""
    one, other = np.var(left, axis=axis, ddof=1), np.var(right, axis=axis, ddof=1)
    n = left.shape[axis] - 1
    return 2 * stats.f.sf(np.maximum(one, other) / np.minimum(one, other), n, n)


PEERS = {
    "U": lambda a, b, axis=-1: stats.mannwhitneyu(a, b, method="asymptotic", axis=axis).pvalue,
    "KS": lambda a, b, axis=-1: stats.ks_2samp(a, b, method="exact", axis=axis).pvalue,
    "F": variance_test,
}


def time_windows(series, seconds, record):
    """A window test: ours within the whole job, scipy's on a sample, call by call and by axis."""
    sample, few = series[:40], series[:2]

    def count(some):
        return sum(max(x.size - w + 1, 0) for x in some for w in WIDTHS) * len(PEERS)

    def by_axis():
        for x in sample:
            for width in WIDTHS:
                if x.size >= width:
                    cut = np.lib.stride_tricks.sliding_window_view(x, width)
                    for peer in PEERS.values():
                        peer(cut[:, : width // 2], cut[:, width // 2 :])

    def call_by_call():
        for x in few:
            for width in WIDTHS:
                if x.size >= width:
                    for cut in np.lib.stride_tricks.sliding_window_view(x, width):
                        for peer in PEERS.values():
                            peer(cut[: width // 2], cut[width // 2 :])

    mine = seconds / count(series)
    axis = median_time(by_axis, 1) / count(sample)
    calls = median_time(call_by_call, 1) / count(few)
    record("window test here, indicators included, microseconds", mine * 1e6)
    record("scipy's vectorised form, microseconds", axis * 1e6)
    record("scipy call by call, microseconds", calls * 1e6)
    record("times faster than scipy's vectorised form", axis / mine)
    record("times faster than scipy call by call", calls / mine)


def time_rankings(X, y, record):
    """Rankings of 6000 x 810 indicators."""
    for method in ("mutual-information", "mrmr"):
        seconds = median_time(lambda m=method: rank(X, y, m, n_features=100, n_jobs=N_THREADS))
        record(f"{method}, k = 100, s", seconds)
    start = time.perf_counter()
    mutual_info_classif(X, y, discrete_features=True)
    record("scikit-learn mutual_info_classif, s", time.perf_counter() - start)
    try:
        from mrmr import mrmr_classif
    except ImportError:
        print("mrmr_selection is not installed: not timed")
        return
    frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])]).astype(float)
    start = time.perf_counter()
    mrmr_classif(frame, pd.Series(y), K=100, show_progress=False, n_jobs=1)
    peer = time.perf_counter() - start
    record("mrmr_selection, k = 100, s", peer)
    record("mrmr: times faster than mrmr_selection", peer / seconds)


def main():
    """Run all parts."""
    results = {}

    def record(name, value):
        results[name] = value
        print(f"{name:60s} {value:.4g}", flush=True)

    signals = make_signals(random_state=0)
    indicators = Indicators(n_jobs=N_THREADS)
    seconds = median_time(lambda: indicators.fit_transform(signals.series))
    record("all window tests and 810 indicators of 6000 signals, s", seconds)
    time_windows(signals.series, seconds, record)
    time_rankings(indicators.transform(signals.series), signals.y, record)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "bayesieve", "demo"], check=True, capture_output=True)
    record("bayesieve demo, s", time.perf_counter() - start)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "indicators.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
