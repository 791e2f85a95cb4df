"""Mixtures beside scikit-learn's GaussianMixture, ReliefF beside skrebate.

    python benchmarks/relevance.py [FOLDER]

FOLDER holds letter, texture and waveform40 (see `bayesieve.datasets.load`); tables of their shapes
are simulated otherwise.  scikit-learn is timed on some of the columns, skrebate (where installed)
on all of waveform40.  Writes benchmarks/results/relevance.json.
"""

import json
import resource
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.mixture import GaussianMixture

from bayesieve import rank
from bayesieve.datasets import load, make_waveform
from bayesieve.models import MODELS, one_set
from timing import median_time

PEER_TOLERANCE = 1e-3  # GaussianMixture's default
N_COMPONENTS = 5


def tables(arguments):
    """Letter, texture and waveform40, or tables of their shapes."""
    if arguments:
        data = {
            name: load(name, folder=arguments[0]) for name in ("letter", "texture", "waveform40")
        }
        return {name: (each.X, each.y) for name, each in data.items()}
    rng = np.random.default_rng(0)
    made = {}
    for name, rows, columns, classes, digits in (
        ("letter", 20000, 16, 26, 0), ("texture", 5500, 40, 11, 3),
    ):  # fmt: skip
        y = rng.integers(0, classes, rows)
        X = rng.normal(size=(classes, columns))[y] * 2 + rng.normal(size=(rows, columns))
        made[name] = (np.round(X * (2 if digits == 0 else 1), digits), y)
    return {**made, "waveform40": make_waveform(5000, 19, random_state=0)}


def mixtures(X, y):
    """Seconds for all classes and columns: ours, and scikit-learn's from a sample of columns."""
    classes, labels = np.unique(y, return_inverse=True)
    sets = one_set(labels.astype(np.int64), np.ones(len(y)), np.ones(classes.size))
    model = replace(MODELS[f"mixture-{N_COMPONENTS}"], tolerance=PEER_TOLERANCE)
    columns = [np.ascontiguousarray(column) for column in X.T]
    ours = median_time(lambda: [model.statistics(column, 1, sets) for column in columns])
    sample = range(0, X.shape[1], max(X.shape[1] // 4, 1))
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for j in sample:
            for k in range(classes.size):
                GaussianMixture(N_COMPONENTS).fit(X[labels == k][:, [j]])
    return ours, (time.perf_counter() - start) / len(sample) * X.shape[1]


def main():
    """Print one line a figure."""
    data = tables(sys.argv[1:])
    results = {}
    for name in ("letter", "texture"):
        ours, peer = mixtures(*data[name])
        results[name] = {"ours": ours, "scikit-learn": peer, "ratio": peer / ours}
        print(f"mixtures of {name}: {ours:.3f} s (1 thread), scikit-learn {peer:.2f} s, "
              f"{peer / ours:.0f} times as long")  # fmt: skip
    for name in ("waveform40", "letter"):
        X, y = data[name]
        rank(X[:200], np.arange(200) % 2, "relieff")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        rank(X, y, "relieff", n_jobs=2)
        results[f"relieff {name}"] = time.perf_counter() - start
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
        print(f"relieff on {name} {X.shape}: {results[f'relieff {name}']:.2f} s (2 threads), peak "
              f"memory grew by {grown:.0f} MB; the table has {X.nbytes / 1e6:.0f} MB")  # fmt: skip
    try:
        from skrebate import ReliefF
    except ImportError:
        print("skrebate is not installed: not timed")
    else:
        X, y = data["waveform40"]
        start = time.perf_counter()
        ReliefF(n_neighbors=10, n_jobs=1).fit(X, np.unique(y, return_inverse=True)[1])
        results["skrebate"] = time.perf_counter() - start
        ratio = results["skrebate"] / results["relieff waveform40"]
        print(f"skrebate on waveform40: {results['skrebate']:.1f} s, {ratio:.0f} times as long")
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "relevance.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
