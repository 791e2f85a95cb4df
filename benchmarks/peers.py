"""bayesieve beside other selectors: same data, same task, one run.

Every tool runs on one thread (Khiops decides for itself), in a process of its own, after a warm-up
on a tiny table; one that passes the time limit is stopped and not asked for larger tables.
`python peers.py --peers .venv-peers/bin/python [--limit 60] [--quick]`
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np

import peer_task

HERE = Path(__file__).parent
COLUMNS = [(2000, 100), (2000, 1000), (2000, 10_000)]
ROWS = [(1000, 100), (10_000, 100), (100_000, 100), (1_000_000, 100)]
SIZES = {
    "wrapper": COLUMNS + ROWS,
    "mrmr": COLUMNS + ROWS,
    "information": COLUMNS + ROWS,
    "relieff": [*COLUMNS[:2], *ROWS[:2]],
    "selective": COLUMNS[:2] + ROWS,
    "binary model": COLUMNS + ROWS,
    "mixture model": [COLUMNS[0], *ROWS[:3]],
}
NUMBERS = ("relieff", "mixture model")


def make(n_rows, n_columns, numbers, seed=0):
    """Three classes; 20 columns that tell something, 20 noisy copies of them, the others noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    strength = np.linspace(0.05, 0.35, 20)
    high = rng.integers(0, 3, 20)
    chance = np.full((3, n_columns), 0.3)
    chance[high, np.arange(20)] += strength
    X = rng.random((n_rows, n_columns), dtype=np.float32) < chance[y].astype(np.float32)
    copies = min(n_columns - 20, 20)
    flip = rng.random((n_rows, copies)) < 0.1
    X[:, 20 : 20 + copies] = X[:, :copies] ^ flip
    if numbers:
        return X + rng.normal(0, 0.7, X.shape), y
    return X.astype(np.uint8), y


def run(task, tool, data, python, limit):
    """One child; None where it passed the limit or failed, with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        environment = os.environ | {
            "OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE),
            "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(Path(python).parent.parent),
        }  # fmt: skip
        command = [python, str(HERE / "peer_task.py"), task, tool, str(data), str(out)]
        try:
            # The warm-up may take a while of its own: imports, compilation.
            done = subprocess.run(
                command, env=environment, timeout=limit + 30, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"more than {limit} s"}
        if not out.exists():
            said = (done.stderr.strip().splitlines() or ["no word"])[-1]
            return {"failed": said[:200]}
        return json.loads(out.read_text())


def compare(tasks, python, limit, quick):
    """All results, a line printed for each."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks:
            tools, stopped = peer_task.TASKS[task], set()
            for size in SIZES[task][: 1 if quick else None]:
                path = Path(folder) / f"{task}{size}.npz"
                X, y = make(size[0] + min(size[0], 20_000), size[1], task in NUMBERS)
                np.savez(path, X=X[: size[0]], y=y[: size[0]], X_test=X[size[0] :],
                         y_test=y[size[0] :])  # fmt: skip
                ours = None
                for tool in tools:
                    axis = "columns" if size in COLUMNS else "rows"
                    if (tool, axis) in stopped:
                        continue
                    interpreter = sys.executable if tool == "bayesieve" else python
                    found = run(task, tool, path, interpreter, limit)
                    if "failed" in found or found["seconds"] > limit:
                        stopped.add((tool, axis))
                    ours = found if tool == "bayesieve" else ours
                    line = {
                        "task": task,
                        "tool": tool,
                        "rows": size[0],
                        "columns": size[1],
                        **found,
                    }
                    results.append(line | _beside(found, ours))
                    print(_words(results[-1]), flush=True)
                path.unlink()
    return results


def _beside(found, ours):
    """Time as a multiple of ours, and whether the same features were chosen."""
    if "failed" in found or ours is None or "failed" in ours:
        return {}
    beside = {"times": found["seconds"] / ours["seconds"]}
    if found["chosen"] is not None:
        beside["same"] = sorted(found["chosen"]) == sorted(ours["chosen"])
    return beside


def _words(r):
    start = f"{r['task']:14s} {r['rows']:8d} x {r['columns']:5d}  {r['tool']:15s}"
    if "failed" in r:
        return f"{start} {r['failed']}"
    same = {True: "same features", False: "other features", None: ""}[r.get("same")]
    return (
        f"{start} {r['seconds']:10.4f} s {r.get('times', float('nan')):9.1f} x  "
        f"{r['memory']:8.1f} MB  {r['n_features']:6d} features  "
        f"accuracy {r['accuracy']:.4f}  {same}"
    )


def draw(results, path):
    """Time against size, one panel a task and axis."""
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(r["task"] for r in results))
    tools = list(dict.fromkeys(r["tool"] for r in results))
    inks = ["#c0392b", "#1b6ca8", "#2e7d4f", "#c46210", "#6a4c9c", "#795548", "#8a939c", "#00796b"]
    colours = dict(zip(tools, inks, strict=False))
    figure = Figure(figsize=(9, 2.6 * len(tasks)), layout="constrained")
    for i, task in enumerate(tasks):
        for k, (axis, sizes) in enumerate((("columns", COLUMNS), ("rows", ROWS))):
            ax = figure.add_subplot(len(tasks), 2, 2 * i + k + 1)
            for tool in tools:
                mine = [r for r in results if r["task"] == task and r["tool"] == tool
                        and (r["rows"], r["columns"]) in sizes and "failed" not in r]  # fmt: skip
                if mine:
                    ax.plot([r[axis] for r in mine], [r["seconds"] for r in mine], "o-", ms=4,
                            color=colours[tool], label=tool)  # fmt: skip
            ax.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds")
            ax.set_title(task, fontsize=10, loc="left")
            if ax.lines:
                ax.legend(fontsize=7, frameon=False)
            for side in ("top", "right"):
                ax.spines[side].set_visible(False)
    figure.savefig(path, dpi=110)


def main():
    """Compare, write down, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", required=True, help="Python of the peers' environment")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a tool may take")
    parser.add_argument("--tasks", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--quick", action="store_true", help="the smallest size only")
    options = parser.parse_args()
    start = time.perf_counter()
    results = compare(options.tasks, options.peers, options.limit, options.quick)
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    about = {
        "date": date.today().isoformat(), "machine": f"{os.cpu_count()} cores, {_processor()}",
        "python": platform.python_version(), "bayesieve": version("bayesieve"),
        "seconds": time.perf_counter() - start, "limit": options.limit,
    }  # fmt: skip
    (folder / "peers.json").write_text(json.dumps({"about": about, "results": results}, indent=1))
    draw(results, folder / "peers.png")
    print(f"{folder / 'peers.json'} and peers.png; {about['seconds']:.0f} s")


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        found = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        return next(found)
    except (OSError, StopIteration):
        return platform.processor()


if __name__ == "__main__":
    main()
