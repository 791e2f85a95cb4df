"""Seconds that `import bayesieve` takes, beside what it stands on.

    python benchmarks/imports.py [--runs 15 --most 0.6]

Fresh processes in turn: `import bayesieve`, and the parts of scikit-learn and narwhals that it
needs anyway; medians of wall and processor seconds.  Then which modules of its own cost most, and
which modules of others come with it alone.  Bytecode is kept, as where it is installed.  Ends with
an error where the import costs more than `--most` processor seconds beyond what it stands on.
Writes benchmarks/results/imports.json.
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

OURS = "import bayesieve"
BASE = "import sklearn.base, sklearn.feature_selection, narwhals"
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def environment(folder):
    """Bytecode is written, and read again by the next process."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder}


def once(code, folder):
    """Wall and processor seconds of one process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment(folder))
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent


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
    parser.add_argument("--most", type=float, default=0.6)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spent = {OURS: [], BASE: []}
        for code in spent:
            once(code, folder)  # bytecode
        for _ in range(given.runs):
            for code, seconds in spent.items():
                seconds.append(once(code, folder))
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
    beyond = found[OURS]["processor"] - found[BASE]["processor"]
    print(f"{beyond:6.2f} s of processor beyond; modules of our own {total:.0f} ms, of which")
    for ms, name in mine:
        print(f"{ms:9.1f} ms  {name}")
    print(f"with it come {len(others)} other modules: {', '.join(others)}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    told = {"seconds": found, "beyond": beyond, "own_ms": total, "slowest": mine, "others": others}
    (results / "imports.json").write_text(json.dumps(told, indent=1))
    if beyond > given.most:
        sys.exit(f"importing costs {beyond:.2f} s beyond what it stands on, not {given.most:g}.")


if __name__ == "__main__":
    main()
