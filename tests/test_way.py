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
import numpy as np, pandas as pd
found = []
rng = np.random.default_rng(0)
X, y = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef")), rng.integers(0, 2, 120)
X["a"] += y
"""

FOLLOW = """
call()
seen = set()
sys.setprofile(lambda frame, event, arg: seen.add(frame.f_code.co_filename))
call()
sys.setprofile(None)
found.append(sorted(seen))
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


def crossed(calls, compiled):
    """Files of the package that the second of two calls runs through, by call."""
    setups = [CALLS[call][0] for call in calls]
    done = subprocess.run(
        [sys.executable, "-c", "".join([BEGIN, *(setup + FOLLOW for setup in setups), END])],
        env={**os.environ, "NUMBA_DISABLE_JIT": "0" if compiled else "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return {
        call: [name for name in files if name.startswith(str(ROOT))]
        for call, files in zip(calls, found, strict=True)
    }


@pytest.fixture(scope="module")
def crossings():
    """Two processes for all calls: one compiles, one does not."""
    shell = [call for call in CALLS if call.startswith("bayesieve")]
    rest = [call for call in CALLS if call not in shell]
    return crossed(rest, compiled=False) | crossed(shell, compiled=True)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_crosses_few_files(call, crossings):
    assert 3 < len(crossings[call]) <= CALLS[call][1], crossings[call]


def test_files_are_found_from_their_names():
    """No name but a kernel's beside its owner's, or `base`, stands more than twice."""
    files = [path for path in ROOT.rglob("*.py") if path.parent.name != "kernels"]
    names = Counter(path.name for path in files)
    del names["__init__.py"], names["base.py"]
    assert {name: n for name, n in names.items() if n > 2} == {}
    # A card brought three: its search, its estimator, its page.
    assert len(list(ROOT.rglob("*.py"))) <= 185


def test_classes_are_found_from_their_names():
    """No two classes of one name (but those that only a type checker sees)."""
    sources = [path.read_text("utf-8") for path in ROOT.parent.glob("bayesieve*/**/*.py")]
    names = Counter(re.findall(r"^class (\w+)", "\n".join(sources), re.MULTILINE))
    assert {name for name, n in names.items() if n > 1} == set()


def test_types_say_something():
    words = sum(path.read_text("utf-8").count("Any") for path in ROOT.rglob("*.py"))
    assert words < 200
