"""Seconds that imports take, beside what they stand on, and those of help and mistakes.

    python benchmarks/imports.py [--runs 15 --most 0.15 --answer 0.6]

Fresh processes in turn: `import bayesieve`, whose names are imported when they are asked for; all
of its names; `import sklearn.base`, and the parts of scikit-learn and narwhals that all names need
anyway; medians of wall and processor seconds.  Then which modules of its own cost most, and which
modules of others come with it alone.  Then the command line: help, and mistakes in options and
files.  Bytecode is kept, as where it is installed.  Ends with an error where `import bayesieve`
costs more than `--most` processor seconds beyond `import sklearn.base`, or an answer of the command
line more than `--answer`.  Writes benchmarks/results/imports.json.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FACE, FLOOR = "import bayesieve", "import sklearn.base"
OURS = "from bayesieve import *"
BASE = "import sklearn.base, sklearn.feature_selection, narwhals"
#: What the command line answers without any work.
ANSWERS = (
    "--help",
    "select --help",
    "compare --help",
    "selct",
    "select --bogus",
    "select missing.csv --target y --out result",
    "predict missing.json missing.csv",
)
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def environment(folder):
    """Bytecode is written, and read again by the next process."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder}


def once(code, folder):
    """Wall and processor seconds of one process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment(folder), cwd=folder)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent


def answer(words):
    """The program that answers a command; what it says is not read."""
    return (
        "import contextlib, io, sys\n"
        f"sys.argv[1:] = {words.split()}\n"
        "from bayesieve.__main__ import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):"
        "\n    with contextlib.suppress(SystemExit):\n        main()"
    )


def modules(code, folder):
    """Names of all modules after an import."""
    told = f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", told],
        check=True,
        env=environment(folder),
        capture_output=True,
        text=True,
    )
    return set(done.stdout.split())


def slowest(folder, most=12):
    """Modules of our own by the milliseconds that they take themselves."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"{BASE}\n{OURS}"],
        check=True,
        env=environment(folder),
        capture_output=True,
        text=True,
    )
    found = [(int(spent) / 1000, name) for spent, name in _LINE.findall(done.stderr)]
    mine = sorted(((ms, name) for ms, name in found if name.startswith("bayesieve")), reverse=True)
    return sum(ms for ms, _ in mine), mine[:most]


def main():
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--most", type=float, default=0.15)
    parser.add_argument("--answer", type=float, default=0.6)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        answers = {f"bayesieve {words}": answer(words) for words in ANSWERS}
        spent = {code: [] for code in (FACE, FLOOR, OURS, BASE, *answers)}
        for code in spent:
            once(answers.get(code, code), folder)  # bytecode
        for _ in range(given.runs):
            for code, seconds in spent.items():
                seconds.append(once(answers.get(code, code), folder))
        total, mine = slowest(folder)
        others = sorted(
            name
            for name in modules(OURS, folder) - modules(BASE, folder)
            if not name.startswith("bayesieve")
        )
    found = {}
    for code, seconds in spent.items():
        wall, cpu = (statistics.median(each) for each in zip(*seconds, strict=True))
        found[code] = {"wall": wall, "processor": cpu}
        print(f"{wall:6.2f} s, {cpu:5.2f} s of processor: {code}")
    beyond = found[FACE]["processor"] - found[FLOOR]["processor"]
    whole = found[OURS]["processor"] - found[BASE]["processor"]
    print(f"{beyond:6.2f} s of processor beyond {FLOOR}")
    print(f"{whole:6.2f} s of processor for all names; modules of our own {total:.0f} ms, of which")
    for ms, name in mine:
        print(f"{ms:9.1f} ms  {name}")
    print(f"with it come {len(others)} other modules: {', '.join(others)}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    told = {"seconds": found, "beyond": beyond, "whole": whole, "own_ms": total, "slowest": mine}
    (results / "imports.json").write_text(json.dumps({**told, "others": others}, indent=1))
    if beyond > given.most:
        sys.exit(f"importing costs {beyond:.2f} s beyond {FLOOR}, not {given.most:g}.")
    slow = {words: found[words]["processor"] for words in answers}
    words = max(slow, key=slow.get)
    if slow[words] > given.answer:
        sys.exit(f"{words!r} takes {slow[words]:.2f} s of processor, not {given.answer:g}.")


if __name__ == "__main__":
    main()
