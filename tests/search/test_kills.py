"""kill -9 at random moments: a search goes on as if nothing had been."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

VICTIM = Path(__file__).parents[1] / "victim.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def kill(kind, seed, n_kills, folder):
    """Kills by case; the victim itself compares every outcome with the undisturbed one."""
    done = subprocess.run(
        [sys.executable, str(VICTIM), kind, str(seed), str(n_kills), str(folder)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["searches", "weights"])
def test_a_few_kills(tmp_path, kind):
    assert sum(kill(kind, 0, 3, tmp_path).values()) >= 3


@pytest.mark.slow
def test_fifty_kills(tmp_path):
    kills = kill("searches", 1, 50, tmp_path)
    assert sum(kills.values()) >= 50
    assert len(kills) >= 12  # every kind of search


@pytest.mark.slow
def test_twenty_kills_of_weights(tmp_path):
    kills = kill("weights", 1, 20, tmp_path)
    assert sum(kills.values()) >= 20
