"""Memory of large tables: the command line on a CSV file, a search out of core, many classes.

    python benchmarks/memory.py [--csv-megabytes 1000 --packed-megabytes 2000]

`select` (forward, at most 5 features) on a CSV file of small whole numbers, texts and some
measurements: peak memory above that of a run on a tiny file, against the packed table.  Then a
Parquet file: the same search on its table packed in memory and packed into mapped files, each in a
process of its own: answers, seconds, and peak anonymous memory (the pages that are no copy of a
file).  Then fits of many classes and labels, and of 10^5 columns of zeros and ones: seconds and
peak memory beyond that of a small fit, or what is refused.  Writes benchmarks/results/memory.json.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

MEGA = 1e6
THREADS = 2
LETTERS = np.array(["red", "green", "blue", "white"])


class Peak:
    """The largest value of a line of /proc/self/status while the block runs, in megabytes."""

    def __init__(self, line="RssAnon"):
        self._line = f"{line}:"
        self.megabytes = 0.0
        self._stop = threading.Event()

    def now(self):
        """The value at this moment."""
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(self._line):
                return int(line.split()[1]) * 1024 / MEGA
        raise OSError(f"/proc/self/status has no line {self._line}")

    def _watch(self):
        while not self._stop.wait(0.002):
            self.megabytes = max(self.megabytes, self.now())

    def __enter__(self):
        self.before = self.now()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self.megabytes = max(self.megabytes, self.now()) - self.before


def rows_of_text(rng, n_rows, n_digits, n_texts, n_floats):
    """Lines of a CSV file: digits, texts, measurements, and a class that some digits know."""
    y = rng.integers(0, 3, n_rows)
    digits = rng.integers(0, 10, (n_rows, n_digits), dtype=np.uint8)
    told = rng.random((n_rows, 8)) < 0.3
    digits[:, :8] = np.where(told, y[:, None] + np.arange(8) % 4, digits[:, :8])
    cells = np.full((n_rows, 2 * n_digits), ord(","), np.uint8)
    cells[:, ::2] = digits + ord("0")
    texts = LETTERS[rng.integers(0, 4, (n_rows, n_texts))]
    floats = np.char.mod("%.5f", rng.normal(size=(n_rows, n_floats)) + 0.1 * y[:, None])
    rest = np.column_stack([texts, floats, np.array(["a", "b", "c"])[y]])
    return b"".join(
        c.tobytes() + (",".join(r) + "\n").encode() for c, r in zip(cells, rest, strict=True)
    )


def write_csv(path, megabytes, n_digits=1000, n_texts=20, n_floats=30):
    """A CSV file of about this size."""
    rng = np.random.default_rng(0)
    names = [f"d{j}" for j in range(n_digits)] + [f"t{j}" for j in range(n_texts)]
    names += [f"f{j}" for j in range(n_floats)]
    with path.open("wb") as file:
        file.write((",".join([*names, "class"]) + "\n").encode())
        while file.tell() < megabytes * MEGA:
            file.write(rows_of_text(rng, 2000, n_digits, n_texts, n_floats))


def write_parquet(path, megabytes, n_rows=250_000, n_floats=20):
    """A Parquet file whose packed columns take about this much."""
    rng = np.random.default_rng(1)
    n_bytes = int(megabytes * MEGA / n_rows) - 8 * n_floats
    y = rng.integers(0, 3, n_rows)
    columns = {}
    for j in range(n_bytes):
        column = rng.integers(0, 2 if j % 2 else 6, n_rows, dtype=np.uint8)
        if j % 50 == 0:
            told = rng.random(n_rows) < 0.2
            column = np.where(told, y, column).astype(np.uint8)
        columns[f"c{j}"] = column
    for j in range(n_floats):
        columns[f"f{j}"] = rng.normal(size=n_rows) + 0.1 * y
    pl.DataFrame({**columns, "class": y}).write_parquet(path, compression="lz4")


def select_in_child(path, out):
    """Peak resident memory of `bayesieve select` (all of it) in megabytes, and seconds."""
    script = (
        "import resource, sys; sys.argv = sys.argv[1:]\n"
        "from bayesieve.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)"
    )
    words = ["bayesieve", "select", path, "--target", "class", "--out", out, "--search", "forward"]
    command = [sys.executable, "-c", script, *map(str, [*words, "--max-features", 5, "--quiet"])]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1]), time.perf_counter() - start


def search_here(path, folder):
    """Pack and search in this process; prints one line of JSON."""
    from bayesieve import NaiveBayesSelector
    from bayesieve.engine import pack

    def fit(X):
        return NaiveBayesSelector(
            search="forward", max_features=5, random_state=0, n_jobs=THREADS
        ).fit(X, X.target)

    rng = np.random.default_rng(0)
    small = {f"c{j}": rng.integers(0, 2 + j, 600) for j in range(4)}
    fit(pack(pl.DataFrame({**small, "f": rng.normal(size=600), "y": rng.integers(0, 3, 600)}),
             folder, target="y"))  # fmt: skip
    with Peak() as peak:
        start = time.perf_counter()
        table = pack(path, folder, target="class")
        packed = time.perf_counter()
        selector = fit(table)
        end = time.perf_counter()
    answer = [selector.selected_.tolist(), repr(selector.path_.steps)]
    print(json.dumps({
        "anonymous_mb": peak.megabytes, "table_mb": table.nbytes / MEGA, "answer": answer,
        "pack_s": packed - start, "search_s": end - packed,
    }))  # fmt: skip


def search_in_child(path, folder):
    """What `search_here` prints, from a process of its own."""
    command = [sys.executable, __file__, "--search", str(path), "--folder", str(folder or "")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def command_line(folder, megabytes):
    """Figures of `select` on a CSV file."""
    from bayesieve.engine import pack

    big, small = folder / "big.csv", folder / "small.csv"
    write_csv(big, megabytes)
    write_csv(small, 0.01, 20, 2, 2)
    select_in_child(small, folder / "out")  # compiles
    baseline, _ = select_in_child(small, folder / "out")
    peak, seconds = select_in_child(big, folder / "out")
    packed = pack(big, folder, target="class").nbytes / MEGA
    found = {
        "csv_mb": big.stat().st_size / MEGA, "packed_mb": packed,
        "above_baseline_mb": peak - baseline, "ratio": (peak - baseline) / packed,
        "seconds": seconds,
    }  # fmt: skip
    big.unlink()
    print(f"select on a CSV of {found['csv_mb']:.0f} MB: {peak - baseline:.0f} MB above the "
          f"baseline of {baseline:.0f} MB, {found['ratio']:.2f} times the packed "
          f"{packed:.0f} MB (at most 3 wanted); {seconds:.0f} s")  # fmt: skip
    return found


def out_of_core(folder, megabytes):
    """Figures of a search in memory and out of core."""
    path = folder / "table.parquet"
    write_parquet(path, megabytes)
    inside, mapped = search_in_child(path, None), search_in_child(path, folder)
    same = inside.pop("answer") == mapped.pop("answer")
    allowed = mapped["table_mb"] / 4 + 500
    speed = inside["search_s"] / mapped["search_s"]
    print(f"table of {mapped['table_mb']:.0f} MB packed; same answer: {same}\n"
          f"  in memory: pack {inside['pack_s']:.1f} s, search {inside['search_s']:.1f} s, "
          f"{inside['anonymous_mb']:.0f} MB anonymous\n"
          f"  mapped: pack {mapped['pack_s']:.1f} s, search {mapped['search_s']:.1f} s, "
          f"{mapped['anonymous_mb']:.0f} MB anonymous (at most {allowed:.0f} wanted)\n"
          f"  speed out of core: {speed:.2f} of that in memory (at least 0.5 wanted)")  # fmt: skip
    return {"in_memory": inside, "mapped": mapped, "same_answer": same, "speed": speed}


#: Fits by name: estimator, rows, columns, classes, labels; time limit in seconds.
MANY = {
    "100 classes": ("selector", 800, 12, 100, 0, 5),
    "200 classes": ("selector", 800, 12, 200, 0, 5),
    "500 classes": ("selector", 2000, 12, 500, 0, 5),
    "5000 classes": ("selector", 10000, 12, 5000, 0, 5),
    "1000 labels": ("selector", 800, 12, 2, 1000, 5),
    "500 classes, weighted": ("weighted", 2000, 12, 500, 0, None),
    "10^5 columns of zeros and ones, weighted": ("weighted", 500, 100_000, 2, 0, None),
}


def many_here(name):
    """One of these fits in this process; prints one line of JSON."""
    import resource
    import warnings

    from bayesieve import NaiveBayesSelector, WeightedNaiveBayes

    def table(n_rows, n_columns, n_classes, n_labels):
        y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
        if n_columns > 1000:
            return (rng.random((n_rows, n_columns)) < 0.3).astype(np.uint8), y
        X = rng.normal(size=(n_classes, n_columns))[y] + rng.normal(size=(n_rows, n_columns))
        return X, (rng.random((n_rows, n_labels)) < 0.1).astype(int) if n_labels else y

    def fit(limit, *shape):
        made = NaiveBayesSelector() if kind == "selector" else WeightedNaiveBayes()
        made.set_params(time_limit=limit).fit(*table(*shape))

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGA

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    kind, n_rows, n_columns, n_classes, n_labels, limit = MANY[name]
    fit(None, 120, 4, 3 - (n_labels > 0), min(n_labels, 2))  # compiles
    before, start, refused = peak(), time.perf_counter(), None
    try:
        fit(limit, n_rows, n_columns, n_classes, n_labels)
    except (MemoryError, ValueError) as error:
        refused = str(error)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "beyond_mb": peak() - before, "refused": refused}))


def many_in_children():
    """Figures of many classes, each from a process of its own."""
    found = {}
    for name, (*_, limit) in MANY.items():
        command = [sys.executable, __file__, "--many", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[name] = figures = json.loads(done.stdout.splitlines()[-1])
        most = 60 if limit is None else limit + 2
        print(f"{name}: {figures['seconds']:.1f} s (at most {most} wanted), "
              f"{figures['beyond_mb']:.0f} MB (at most 1000 wanted)"
              + (f"; refused: {figures['refused']}" if figures["refused"] else ""))  # fmt: skip
    return found


def main():
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv-megabytes", type=float, default=1000)
    parser.add_argument("--packed-megabytes", type=float, default=2000)
    parser.add_argument("--search", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--many", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.many:
        many_here(arguments.many)
        return
    if arguments.search:
        search_here(arguments.search, arguments.folder or None)
        return
    with tempfile.TemporaryDirectory() as name:
        results = {
            "command_line": command_line(Path(name), arguments.csv_megabytes),
            "out_of_core": out_of_core(Path(name), arguments.packed_megabytes),
            "many": many_in_children(),
        }
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "memory.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
