"""How many files a newcomer must open to follow the calls that people make."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import bayesieve

ROOT = Path(bayesieve.__file__).parent

BEGIN = """
import json, sys
from contextlib import nullcontext
import numpy as np, pandas as pd
sys.path.insert(0, sys.argv[1])
from follow import as_python, crossed
found = []
rng = np.random.default_rng(0)
X, y = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef")), rng.integers(0, 2, 120)
X["a"] += y
"""

FOLLOW = """
call()
with {kernels}():
    found.append(crossed(call))
"""

END = """
print(json.dumps(found))
"""

#: What is called, and how many files it crosses at most: the numbers may only fall.  The second
#: call counts, without the compiler (but for the command line, whose report would take minutes).
CALLS = {
    "NaiveBayesSelector().fit": (
        "from bayesieve import NaiveBayesSelector\ncall = lambda: NaiveBayesSelector().fit(X, y)",
        30,
    ),
    "WeightedNaiveBayes().fit": (
        "from bayesieve import WeightedNaiveBayes\ncall = lambda: WeightedNaiveBayes().fit(X, y)",
        24,
    ),
    "a selector with everything named": (
        """
from bayesieve import NaiveBayesSelector
named = dict(search="backward-forward", criterion="probability", cv="train", validation=0.5,
             choice="best", reweigh=False, random_state=0)
B = (X > 0).astype(int)
call = lambda: NaiveBayesSelector(**named).fit(B, y)
""",
        22,
    ),
    "bayesieve select": (
        """
import pathlib, tempfile
from bayesieve.__main__ import main
folder = pathlib.Path(tempfile.mkdtemp())
X.assign(y=y).to_csv(folder / "table.csv", index=False)
sys.argv = ["bayesieve", "select", str(folder / "table.csv"), "--target", "y", "--quiet",
            "--force", "--out", str(folder / "out")]
def call():
    try:
        main()
    except SystemExit as end:
        assert not end.code, end
""",
        50,
    ),
    "an edit of a session": (
        """
from bayesieve import Session
session = Session(X, y)
def call():
    session.add("b")
    session.losses_if_left()
    session.undo()
""",
        14,
    ),
}


SHELL, NAMED = "bayesieve select", "a selector with everything named"
PYTHON = [call for call in CALLS if call != SHELL]


def crossings_of(calls, compiler=True):
    """Files of the package that the second of two calls runs through, by call."""
    parts = [BEGIN]
    for call in calls:
        kernels = "nullcontext" if call == SHELL else "as_python"
        parts += [CALLS[call][0], FOLLOW.format(kernels=kernels)]
    done = subprocess.run(
        [sys.executable, "-c", "".join([*parts, END]), str(Path(__file__).parent)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "0" if compiler else "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(calls, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.fixture(scope="module")
def crossings():
    """One process for all calls."""
    return crossings_of(CALLS)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_crosses_few_files(call, crossings):
    assert 3 < len(crossings[call]) <= CALLS[call][1], crossings[call]


@pytest.mark.parametrize(
    "call", [pytest.param(c, marks=() if c == NAMED else pytest.mark.slow) for c in PYTHON]
)
def test_nothing_is_missed_where_kernels_stay_compiled(call, crossings):
    """The compiler switched off altogether: up to half a minute a call, for the same files."""
    assert crossings_of([call], compiler=False)[call] == crossings[call]


def test_files_are_found_from_their_names():
    """No name but a kernel's beside its owner's, or `base`, stands more than twice."""
    files = [path for path in ROOT.rglob("*.py") if path.parent.name != "kernels"]
    names = Counter(path.name for path in files)
    del names["__init__.py"], names["base.py"]
    assert {name: n for name, n in names.items() if n > 2} == {}
    # A card brought four: its search, its estimator, its parts, its page; shapes brought one.
    assert len(list(ROOT.rglob("*.py"))) <= 187


def test_classes_are_found_from_their_names():
    """No two classes of one name (but those that only a type checker sees)."""
    sources = [path.read_text("utf-8") for path in ROOT.parent.glob("bayesieve*/**/*.py")]
    names = Counter(re.findall(r"^class (\w+)", "\n".join(sources), re.MULTILINE))
    assert {name for name, n in names.items() if n > 1} == set()


def test_types_say_something():
    words = sum(path.read_text("utf-8").count("Any") for path in ROOT.rglob("*.py"))
    assert words < 200
