"""Columns of 0 and 1 as bits beside bytes, in turns in one run.

    python benchmarks/bits.py [--rows N] [--columns P] [--classes K] [--rounds R]

Prints nanoseconds a cell of the best of all candidates, by criterion, and the room that the columns
take.  Without arguments: 3000 x 810 x 4, then 10^6 x 1000 x 2 (1.2 GB of memory).
"""

import argparse
import time

import numpy as np

from bayesieve.criteria import CRITERIA
from bayesieve.data.columns import ColumnSpec
from bayesieve.engine import layout as lines
from bayesieve.engine.contract import WHOLE, Units
from bayesieve.engine.dense import DenseLedger
from bayesieve.engine.layout import DenseColumns, scoring
from bayesieve.engine.threads import Threads
from bayesieve.models import ModelSettings
from bayesieve.search.objective import Objective, SubsetScorer

FORMS = {"bytes": 1 << 60, "bits": 0}


def make_ledger(n_rows, n_columns, n_classes, form):
    """A ledger of all rows, its columns kept in one form."""
    lines.MANY_CELLS = FORMS[form]
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    scored = scoring("train", y, np.ones(n_rows), np.arange(n_rows), [1] * n_classes)
    columns = DenseColumns(scored.sets, scored.lines, scored.loo, n_columns)
    for j in range(n_columns):
        bound = 100 + 8 * ((y + j) % n_classes)
        column = (rng.integers(0, 256, n_rows, dtype=np.uint8) < bound).astype(np.uint8)
        spec = ColumnSpec(f"x{j}", "bernoulli", levels=np.array([0.0, 1.0]))
        columns.add(spec, column, column)
    settings = ModelSettings(1.0, None, scored.sets.class_weight)
    ledger = DenseLedger.build([columns], settings, None, (1,) * n_classes, Threads(1))[0]
    return ledger, columns.cells.codes.nbytes + columns.cells.bits.nbytes


def compare(n_rows, n_columns, n_classes, n_rounds):
    """Print both forms, and their ratio."""
    made = {form: make_ledger(n_rows, n_columns, n_classes, form) for form in FORMS}
    units = Units(tuple((j,) for j in range(n_columns)))
    print(
        f"{n_rows} x {n_columns} x {n_classes}:", {k: f"{b:,} bytes" for k, (_, b) in made.items()}
    )
    for criterion in ("error", "probability", "log-likelihood"):
        times, found = {form: [] for form in FORMS}, {}
        for _ in range(n_rounds + 1):
            for form, (ledger, _) in made.items():
                objective = Objective(SubsetScorer(ledger, CRITERIA[criterion], units), units)
                ledger.apply((), WHOLE)  # forgets what was derived from the sums
                start = time.perf_counter()
                found[form] = objective.best_add(objective.addable())
                times[form].append(time.perf_counter() - start)
        assert found["bytes"] == found["bits"]
        each = {form: 1e9 * min(spent[1:]) / n_rows / n_columns for form, spent in times.items()}
        told = ", ".join(f"{form} {nano:.3f} ns a cell" for form, nano in each.items())
        print(f"  {criterion:15s} {told}, bits / bytes {each['bits'] / each['bytes']:.2f}")


def main():
    """Compare at one size, or at two."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("rows", "columns", "classes"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    sizes = [(3000, 810, 4), (1_000_000, 1000, 2)]
    if asked.rows:
        sizes = [(asked.rows, asked.columns or 1000, asked.classes or 2)]
    for size in sizes:
        compare(*size, asked.rounds)


if __name__ == "__main__":
    main()
