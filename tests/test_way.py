"""How many files a newcomer must open to follow one `fit`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bayesieve

ROOT = Path(bayesieve.__file__).parent
MOST = 22

FOLLOWED = """
import json, sys
import numpy as np, pandas as pd
from bayesieve import NaiveBayesSelector
rng = np.random.default_rng(0)
X, y = pd.DataFrame(rng.integers(0, 2, (60, 5)), columns=list("abcde")), rng.integers(0, 2, 60)
named = dict(search="backward-forward", criterion="probability", cv="train", validation=0.5,
             choice="best", reweigh=False, random_state=0)
NaiveBayesSelector(**named).fit(X, y)
seen = set()
sys.setprofile(lambda frame, event, arg: seen.add(frame.f_code.co_filename))
NaiveBayesSelector(**named).fit(X, y)
sys.setprofile(None)
print(json.dumps(sorted(seen)))
"""


def test_a_dense_fit_crosses_few_files():
    done = subprocess.run(
        [sys.executable, "-c", FOLLOWED],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    crossed = [name for name in json.loads(done.stdout) if name.startswith(str(ROOT))]
    rooms = {Path(name).relative_to(ROOT).parts[0] for name in crossed}
    assert {"data", "models", "engine", "criteria", "search", "estimators"} <= rooms
    assert len(crossed) <= MOST, crossed


def test_files_stay_small():
    longest = {
        path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in ROOT.rglob("*.py")
    }
    assert {name: n for name, n in longest.items() if n > 450} == {}


def test_types_say_something():
    words = sum(path.read_text("utf-8").count("Any") for path in ROOT.rglob("*.py"))
    assert words < 200
