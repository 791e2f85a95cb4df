"""Speed, memory and cold start of the ledger, beside scikit-learn in the same run.

    python benchmarks/ledger.py [--skip-peer]

Prints a table and writes it to benchmarks/results/ledger.json.  3000 rows x 810 binary indicators x
4 classes, as in the experiments of Rabenoro 2015; times are medians of warm runs.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.naive_bayes import BernoulliNB

from bayesieve import NaiveBayesSelector
from bayesieve.criteria import CRITERIA
from bayesieve.data.columns import ColumnSpec
from bayesieve.data.sample import class_factors
from bayesieve.engine.contract import WHOLE, Units
from bayesieve.engine.dense import DenseLedger
from bayesieve.engine.layout import DenseColumns, scoring
from bayesieve.engine.threads import Threads
from bayesieve.models import ModelSettings
from bayesieve.search import GreedySearch, Limits
from bayesieve.search.objective import Objective, SubsetScorer
from timing import median_time

N_ROWS, N_SCORES, N_LEVELS, N_CLASSES, N_THREADS = 3000, 90, 9, 4, 2
#: The criteria that read dense ledgers.
DENSE = [name for name, criterion in CRITERIA.items() if criterion.form != "moves"]


def indicators(n_rows=N_ROWS, seed=0):
    """Redundant binary indicators: thresholds on scores that each react to some of the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(N_CLASSES), n_rows // N_CLASSES))
    effect = rng.normal(0, 0.6, (N_CLASSES, N_SCORES)) * (rng.random((N_CLASSES, N_SCORES)) < 0.4)
    shared = rng.normal(size=(n_rows, 10)) @ rng.normal(size=(10, N_SCORES)) / np.sqrt(10)
    scores = effect[y] + shared + 0.7 * rng.normal(size=(n_rows, N_SCORES))
    levels = np.linspace(-1.6, 1.6, N_LEVELS)
    X = (scores[:, :, None] > levels).reshape(n_rows, -1).astype(np.uint8)
    return X, y


def make_objective(X, y, criterion, cv, engine):
    """The objective alone, without selector or validation part."""
    weights = np.ones(len(y))
    factors = class_factors(None, y, weights, N_CLASSES)
    found = scoring(cv, y, weights, np.arange(len(y)), factors)
    columns = DenseColumns(found.sets, found.lines, found.loo, X.shape[1])
    for j in range(X.shape[1]):
        spec = ColumnSpec(f"x{j}", "bernoulli", levels=np.array([0.0, 1.0]))
        columns.add(spec, X[:, j].copy(), X[:, j].copy())
    settings = ModelSettings(1.0, None, found.sets.class_weight)
    ledger = DenseLedger.build([columns], settings, None, (1,) * N_CLASSES, engine)[0]
    units = Units(tuple((j,) for j in range(X.shape[1])))
    return ledger, Objective(SubsetScorer(ledger, CRITERIA[criterion], units), units)


def time_scans(X, y, record):
    """Nanoseconds a row-feature cell for the best of all candidates, by criterion and threads."""
    for criterion in DENSE:
        for threads in (1, N_THREADS):
            with Threads(threads) as engine:
                ledger, objective = make_objective(X, y, criterion, "train", engine)
                for unit in range(0, 100, 5):
                    objective.add(unit)
                candidates = objective.addable()

                def task(ledger=ledger, objective=objective, candidates=candidates):
                    ledger.apply((), WHOLE)  # forgets what was derived from the sums
                    objective.best_add(candidates)

                seconds = median_time(task, 31)
                cells = len(candidates) * len(y)
                record(f"scan {criterion}, {threads} threads, ns a cell", seconds / cells * 1e9)


def time_searches(X, y, record):
    """Full searches through the public face, everything included."""
    for search in ("forward", "backward"):
        for criterion in DENSE:
            selector = NaiveBayesSelector(
                search=search, criterion=criterion, validation=None, n_jobs=N_THREADS
            )
            record(
                f"full {search} search, {criterion}, s",
                median_time(lambda s=selector: s.fit(X, y), 3),
            )
    selector = NaiveBayesSelector(n_jobs=N_THREADS, random_state=0)
    X2, y2 = indicators(2 * N_ROWS)
    record("default selector (backward-forward, 6000 rows, half validate), s",
           median_time(lambda: selector.fit(X2, y2), 3))  # fmt: skip


def time_cv(X, y, record, repeats=7):
    """What exact cross-validation costs beside a training score, timed in turns."""
    for criterion in DENSE:
        times = {"train": [], "loo": [], 5: [], 10: []}
        for _ in range(repeats):
            for cv, found in times.items():
                selector = NaiveBayesSelector(
                    search="forward", criterion=criterion, validation=None, cv=cv,
                    n_jobs=N_THREADS, max_features=400,
                )  # fmt: skip
                start = time.perf_counter()
                selector.fit(X, y)
                found.append(time.perf_counter() - start)
        for cv in ("loo", 5, 10):
            ratio = statistics.median(times[cv]) / statistics.median(times["train"])
            record(f"400 forward steps, {criterion}, cv={cv}, ratio to cv=train", ratio)


def time_growth(X, y, record):
    """Does a step cost more when many features are in?  The peer's does: it fits them all."""
    with Threads(N_THREADS) as engine:
        for criterion in ("error", "probability"):
            _, objective = make_objective(X, y, criterion, "train", engine)
            walk = GreedySearch("forward").steps(objective, Limits())
            steps = np.diff([time.perf_counter() for _ in walk])
            record(f"forward step here, {criterion}, with 400 features in / with 5 in",
                   np.median(steps[380:420]) / np.median(steps[5:45]))  # fmt: skip
    few, many = (
        median_time(lambda n=n: BernoulliNB().fit(X[:, :n], y).score(X[:, :n], y)) for n in (6, 401)
    )
    record("one candidate of scikit-learn's, with 400 features in / with 5 in", many / few)


def time_peer(X, y, record, n_steps=3):
    """scikit-learn's sequential selector on one training split, the same features asked for."""
    everything = np.arange(len(y))
    split = [(everything, everything)]
    ours = NaiveBayesSelector(
        search="forward", criterion="error", validation=None, n_features=n_steps, n_jobs=N_THREADS
    )
    ours.fit(X, y)
    previous = 0.0
    for n_features in (1, n_steps):
        peer = SequentialFeatureSelector(
            BernoulliNB(), n_features_to_select=n_features, cv=split, n_jobs=1
        )
        start = time.perf_counter()
        peer.fit(X, y)
        previous = time.perf_counter() - start
        record(f"scikit-learn SFS, {n_features} forward steps, s", previous)
    same = set(np.flatnonzero(peer.get_support())) == set(ours.selected_.tolist())
    record("same features as scikit-learn", bool(same))
    with Threads(N_THREADS) as engine:
        for criterion in ("error", "probability"):
            _, objective = make_objective(X, y, criterion, "train", engine)

            times = []
            for _ in range(40):
                start = time.perf_counter()
                unit, _ = objective.best_add(objective.addable())
                objective.add(unit)
                times.append(time.perf_counter() - start)
                objective.drop(unit)
            seconds = statistics.median(times)
            record(f"forward step here, {criterion}, ms", seconds * 1e3)
            record(
                f"forward step, {criterion}: times faster than SFS", previous / n_steps / seconds
            )


def measure_memory(record, n_rows=30_000):
    """Peak of what a fit allocates, beside the table itself."""
    X, y = indicators(n_rows)
    X = np.ascontiguousarray(X)
    for cv in ("train", 10):
        selector = NaiveBayesSelector(search="forward", max_features=3, validation=None, cv=cv)
        selector.fit(X, y)
        tracemalloc.start()
        selector.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        record(f"peak memory of a fit on {n_rows} rows, cv={cv}, times the table (1 byte a cell)",
               peak / X.nbytes)  # fmt: skip


def measure_cold(record):
    """Import time beyond scikit-learn's, and the first fit with no cached kernel."""

    def run(code, **env):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **env})
        return time.perf_counter() - start

    base = "import sklearn.naive_bayes, sklearn.feature_selection, sklearn.model_selection"
    both = [(run(base), run(f"{base}\nfrom bayesieve import NaiveBayesSelector")) for _ in range(9)]
    plain, with_us = (statistics.median(times) for times in zip(*both, strict=True))
    record("import beyond scikit-learn's, s", with_us - plain)
    fit = (
        "import numpy as np; from bayesieve import NaiveBayesSelector; "
        "rng = np.random.default_rng(0); X = rng.integers(0, 2, (200, 20)); "
        "X = np.column_stack([X, rng.normal(size=(200, 3))]); y = rng.integers(0, 2, 200); "
        "NaiveBayesSelector(n_jobs=2, random_state=0).fit(X, y)"
    )
    with tempfile.TemporaryDirectory() as folder:
        record("first fit of a new machine, import and compiling included, s",
               run(fit, NUMBA_CACHE_DIR=folder))  # fmt: skip
        record("the same with cached kernels, s", run(fit, NUMBA_CACHE_DIR=folder))


def main():
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip-peer", action="store_true", help="leave scikit-learn out")
    arguments = parser.parse_args()
    results = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count()}

    def record(name, value):
        results[name] = value
        print(
            f"{name:75s} {value if isinstance(value, bool) else format(value, '.4g')}", flush=True
        )

    X, y = indicators()
    time_scans(X, y, record)
    time_searches(X, y, record)
    time_cv(X, y, record)
    time_growth(X, y, record)
    measure_memory(record)
    measure_cold(record)
    if not arguments.skip_peer:
        time_peer(X, y, record)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "ledger.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
