"""Memory and speed of `bayesieve predict` on a CSV file of any size.

A child process predicts an eighth of the file and then all of it; its peak memory must be about the
same.  Run: python benchmarks/stream.py [--gigabytes 1] [--format csv|parquet|arrow]
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from bayesieve import NaiveBayes, save_model

# Rows made and written at a time, and columns of each kind.
ROWS, NUMBERS, TEXTS = 100_000, 12, 4
# Peak memory of the whole over that of an eighth.
MOST_GROWTH = 1.25


def make_rows(rng: np.random.Generator, n: int = ROWS) -> pl.DataFrame:
    """Numbers, texts and a class; some cells are missing."""
    y = rng.integers(0, 3, n)
    columns = {f"number {j}": (rng.normal(size=n) + y * (j % 3)).round(4) for j in range(NUMBERS)}
    levels = np.array(["red", "green, or so", "7", ""], dtype=object)
    texts = {f"text {j}": levels[rng.integers(0, 4, n)] for j in range(TEXTS)}
    frame = pl.DataFrame({**columns, **texts, "class": np.array(["a", "b", "c"])[y]})
    rare = pl.col("number 0") > 3
    return frame.with_columns(pl.when(~rare).then(pl.col("number 0")).alias("number 0"))


def make_data(path: Path, size: int) -> None:
    """A CSV file of about so many bytes, or the same table in another format."""
    block, written = make_rows(np.random.default_rng(0)), 0
    text = path.with_suffix(".csv")
    with text.open("wb") as file:
        while file.tell() < size:
            file.write(block.write_csv(include_header=not written).encode())
            written += 1
    if path != text:
        lazy = pl.scan_csv(text)
        (lazy.sink_parquet if path.suffix == ".parquet" else lazy.sink_ipc)(path)
        text.unlink()


def predict(model: Path, data: Path, out: Path) -> tuple[float, float]:
    """Seconds, and peak megabytes of the child process."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "bayesieve", "predict", str(model), str(data)]
    child = subprocess.Popen([*command, "--out", str(out)])
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed with status {status}.")
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - start, used.ru_maxrss * unit / 2**20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--format", choices=["csv", "parquet", "arrow"], default="csv")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = make_rows(np.random.default_rng(1), 5000)
        model, data, out = folder / "model.json", folder / f"data.{options.format}", folder / "out"
        save_model(NaiveBayes().fit(rows.drop("class"), rows["class"].to_numpy()), model)
        peaks = []
        for part in (8, 1):
            # In a process of its own: a child starts with the peak of its parent.
            make = multiprocessing.get_context("spawn").Process(
                target=make_data, args=(data, int(options.gigabytes * 2**30 / part))
            )
            make.start()
            make.join()
            seconds, peak = predict(model, data, out)
            peaks.append(peak)
            size = data.stat().st_size / 2**20
            print(
                f"{size:8.0f} MB: {seconds:6.1f} s, {size / seconds:6.1f} MB/s, peak {peak:6.0f} MB"
            )
    print(f"peak of the whole over that of an eighth: {peaks[1] / peaks[0]:.2f}")
    if peaks[1] > MOST_GROWTH * peaks[0]:
        sys.exit(f"the memory grows with the file: more than {MOST_GROWTH} times.")


if __name__ == "__main__":
    main()
