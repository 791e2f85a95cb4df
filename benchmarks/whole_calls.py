"""Whole calls, reading included: `rank`, `NaiveBayes.fit`, and the rankings by information.

    python benchmarks/whole_calls.py [--rows 20000 --columns 5000] [--quick]

Every figure is the median of warm calls on 2 threads, scikit-learn's beside it in the same run:
`BernoulliNB` for fits on zeros and ones, one `np.sort` along the rows for continuous values.
Figures in brackets are those of praznik (R, 2 threads, the table already in R's memory as factors)
that the project was given; this run does not measure them.  Writes
benchmarks/results/whole_calls.json.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from sklearn.feature_selection import mutual_info_classif
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from bayesieve import NaiveBayes, rank
from timing import median_time

THREADS = 2
PRAZNIK = {
    "mrmr": (0.35, 4.7),
    "cmim": (0.10, 0.24),
    "jmi": (0.75, 7.8),
    "jmim": (0.32, 1.0),
    "disr": (0.82, 9.7),
}
FORMS = ["uint8", "uint8 F", "bool", "bool F", "int64", "int64 F", "float64", "float64 F"]
FRAMES = ["pandas uint8", "polars uint8", "arrow uint8", "pandas float64", "polars float64"]


def form(X, name):
    """The table of zeros and ones in another form."""
    library, _, dtype = name.partition(" ")
    if library not in ("pandas", "polars", "arrow"):
        order = "F" if dtype == "F" else "C"
        return np.array(X, dtype=library, order=order)
    names = [f"c{j}" for j in range(X.shape[1])]
    if library == "pandas":
        return pd.DataFrame(X.astype(dtype), columns=names)
    columns = {name: np.ascontiguousarray(X[:, j].astype(dtype)) for j, name in enumerate(names)}
    return pl.DataFrame(columns) if library == "polars" else pa.table(columns)


def zeros_and_ones(found, n_rows, n_columns, repeats):
    """Every form of the same table."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_rows, n_columns), dtype=np.uint8)
    y = rng.integers(0, 3, n_rows)
    for name in FORMS + FRAMES:
        table = form(X, name)
        row = {
            "rank": median_time(lambda: rank(table, y, n_jobs=THREADS), repeats),  # noqa: B023
            "fit": median_time(lambda: NaiveBayes().fit(table, y), repeats),  # noqa: B023
        }
        row["BernoulliNB"] = median_time(lambda: BernoulliNB().fit(table, y), 1)  # noqa: B023
        show(found, f"zeros and ones, {name}", row)


def continuous(found, n_rows, n_columns, repeats):
    """Normal values beside one sort."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, n_columns)), rng.integers(0, 3, n_rows)
    row = {
        "fit": median_time(lambda: NaiveBayes("gaussian").fit(X, y), repeats),
        "np.sort": median_time(lambda: np.sort(X, axis=0), repeats),
        "GaussianNB": median_time(lambda: GaussianNB().fit(X, y), repeats),
    }
    show(found, "continuous", row)


def sparse(found, repeats):
    """Many rare words."""
    X = scipy.sparse.random(800, 100_000, 0.01, "csr", random_state=0)
    X.data[:] = 1
    y = np.random.default_rng(1).integers(0, 2, 800)
    row = {
        "fit": median_time(lambda: NaiveBayes().fit(X, y), repeats),
        "rank": median_time(lambda: rank(X, y, n_jobs=THREADS), repeats),
        "BernoulliNB": median_time(lambda: BernoulliNB().fit(X, y), repeats),
    }
    show(found, "sparse 800 x 100000", row)


def shapes(found, repeats):
    """Few rows and many columns, and the other way round."""
    rng = np.random.default_rng(0)
    for n_rows, n_columns in ((3, 10_000), (1_000_000, 3)):
        X = rng.integers(0, 2, (n_rows, n_columns), dtype=np.uint8)
        y = np.arange(n_rows) % 2
        row = {
            "rank": median_time(lambda: rank(X, y, n_jobs=THREADS), repeats),  # noqa: B023
            "fit": median_time(lambda: NaiveBayes().fit(X, y), repeats),  # noqa: B023
            "BernoulliNB": median_time(lambda: BernoulliNB().fit(X, y), repeats),  # noqa: B023
        }
        show(found, f"{n_rows} x {n_columns}", row)


def information(found, sizes, repeats):
    """The family of information rankings."""
    rng = np.random.default_rng(0)
    for place, (n_rows, n_columns, n_classes, k) in enumerate(sizes):
        X = rng.integers(0, 2, (n_rows, n_columns), dtype=np.uint8)
        y = rng.integers(0, n_classes, n_rows)
        for name, peer in PRAZNIK.items():
            call = lambda: rank(X, y, name, n_features=k, n_jobs=THREADS)  # noqa: B023, E731
            row = {"rank": median_time(call, repeats), "[praznik]": peer[place]}
            show(found, f"{name}, {k} of {n_rows} x {n_columns} x {n_classes}", row)
        if n_columns < 1000:
            slow = lambda: mutual_info_classif(X, y, discrete_features=True)  # noqa: B023, E731
            show(
                found,
                f"scikit-learn's information, {n_columns} columns",
                {"s": median_time(slow, 1)},
            )


def memory(n_rows, n_columns):
    """Most memory of a fit and a ranking beside the table itself, in bytes a cell (Linux)."""
    code = (
        "import re, numpy as np\n"
        "from pathlib import Path\n"
        "from bayesieve import NaiveBayes, rank\n"
        "def most():\n"
        "    return int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
        f"X = np.random.default_rng(0).integers(0, 2, ({n_rows}, {n_columns}), dtype=np.uint8)\n"
        "y = np.arange(len(X)) % 3\n"
        "NaiveBayes().fit(X[:90, :9], y[:90]); rank(X[:90, :9], y[:90])\n"
        "Path('/proc/self/clear_refs').write_text('5')  # forget the peak so far\n"
        "before = most()\n"
        "NaiveBayes().fit(X, y); rank(X, y)\n"
        "print((most() - before) * 1024 / X.size)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return float(done.stdout)


def show(found, name, row):
    """Keep and print a line."""
    found[name] = row
    print(
        f"{name:42s}", "  ".join(f"{key} {value:.3f} s" for key, value in row.items()), flush=True
    )


def main():
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the columns")
    asked = parser.parse_args()
    n_columns = asked.columns // 10 if asked.quick else asked.columns
    found = {}
    zeros_and_ones(found, asked.rows, n_columns, asked.repeats)
    continuous(found, asked.rows, n_columns, asked.repeats)
    sparse(found, asked.repeats)
    shapes(found, asked.repeats)
    information(found, ((6000, 810, 4, 100), (asked.rows, n_columns, 3, 50)), asked.repeats)
    extra = memory(asked.rows, n_columns)
    found["memory"] = {"bytes a cell beside a table of bytes": extra}
    print(f"memory beside a table of bytes: {extra:.2f} bytes a cell")
    print(f"most memory of this run: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "whole_calls.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
