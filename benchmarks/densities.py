"""Numbers as tables: grid, counts, densities and their choice; and a search over such columns.

    python benchmarks/densities.py [--rows 100000 --columns 1000 --classes 3]

Times of one column by part (processor time, the least of several), of many columns on two threads,
of a table as large as texture (5500 rows x 40 columns x 11 classes), and of a forward search over
continuous columns beside categorical ones of the same shape and as many levels.
"""

import argparse
import time

import numpy as np

from bayesieve import NaiveBayes, NaiveBayesSelector
from bayesieve.data.columns import encode, learn
from bayesieve.engine.threads import Threads
from bayesieve.models import MODELS, ModelSettings, build_columns, one_set
from bayesieve.models.columns import grid_of
from bayesieve.models.density import DENSITIES


def least(action, times=5, clock=time.process_time):
    """Least seconds of several runs."""
    found = []
    for _ in range(times):
        start = clock()
        action()
        found.append(clock() - start)
    return min(found)


def table(n_rows, n_columns, n_classes, seed=0):
    """Columns that tell a little about the classes each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    shift = rng.normal(size=(n_columns, n_classes))
    return [rng.normal(size=n_rows) + shift[j][y] for j in range(n_columns)], y


def one_column(n_rows, n_classes):
    """Seconds of each part."""
    (values,), y = table(n_rows, 1, n_classes)
    model, sets = MODELS["density"], one_set(y, np.ones(n_rows), np.ones(n_classes))
    spec = learn("x", "density", values, True, grid_codes=model.grid_codes)
    codes = encode(spec, values)
    counts = model.statistics(codes, spec.n_codes, sets)
    found = {
        "grid": lambda: learn("x", "density", values, True, grid_codes=model.grid_codes),
        "codes": lambda: encode(spec, values),
        "counts": lambda: model.statistics(codes, spec.n_codes, sets),
    }
    whole, units, grid = np.ascontiguousarray(counts[:, :-1]), np.ones(n_classes), grid_of(spec)
    for name, judge in DENSITIES.items():
        found[name] = lambda judge=judge: judge(whole, units, grid)
    for action in found.values():
        action()  # compiled
    return {name: least(action, 9) for name, action in found.items()}


def all_columns(columns, y, n_classes, n_threads):
    """Grid, codes, counts, densities and choice of all columns; the codes are kept."""
    model, sets = MODELS["density"], one_set(y, np.ones(y.size), np.ones(n_classes))
    settings = ModelSettings(1.0, None, np.ones(n_classes))
    kept = np.empty((len(columns), y.size), np.uint8)
    tables = [None] * len(columns)

    def task(lo, hi):
        for j in range(lo, hi):
            spec = learn("x", "density", columns[j], True, grid_codes=model.grid_codes)
            kept[j] = encode(spec, columns[j])
            counts = model.statistics(kept[j], spec.n_codes, sets)
            tables[j] = build_columns([spec], [counts], settings)[0].of(np.empty(0))

    with Threads(n_threads) as engine:
        engine.run(task, len(columns), kept.size)
    return kept, tables


def search(tables, model, max_features=10):
    """Seconds of a forward search on new tables: densities are kept for a while."""
    found = []
    for columns, y in tables:
        X = np.column_stack(columns)
        selector = NaiveBayesSelector(
            NaiveBayes(model), "forward", "probability", validation=None, max_features=max_features
        )
        found.append(least(lambda s=selector, X=X, y=y: s.fit(X, y), 1))
    return min(found)


def main():
    """Print all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--classes", type=int, default=3)
    asked = parser.parse_args()
    for name, seconds in one_column(asked.rows, asked.classes).items():
        print(f"one column, {name}: {seconds * 1e3:.2f} ms")
    for n_threads in (1, 2):
        columns, y = table(asked.rows, asked.columns, asked.classes, n_threads)
        start = time.perf_counter(), time.process_time()
        all_columns(columns, y, asked.classes, n_threads)
        taken, worked = time.perf_counter() - start[0], time.process_time() - start[1]
        print(f"{asked.columns} columns on {n_threads} thread(s): {taken:.2f} s", end=" ")
        print(f"({worked:.2f} s of work)")
    columns, y = table(5500, 40, 11)
    X = np.column_stack(columns)
    NaiveBayes("gaussian").fit(X, y)
    taken = least(lambda: NaiveBayes().fit(X, y), 1)
    print(f"fit of 5500 x 40 x 11, one thread: {taken:.3f} s")
    tables = [table(20_000, 200, 3, seed) for seed in range(3)]
    coded = [
        ([encode(learn("x", "density", x, True, grid_codes=255), x) + 0.5 for x in columns], y)
        for columns, y in tables
    ]
    numbers, names = search(tables, "density"), search(coded, "categorical")
    print(f"forward search, 20000 x 200: numbers {numbers:.2f} s, categories {names:.2f} s")


if __name__ == "__main__":
    main()
