"""What users write is accepted by their type checker: the package is typed, and says so."""

import subprocess
import sys
from pathlib import Path

import pytest

from blocks import PYTHON, find_blocks

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy has learnt of the package serves all."""
    return str(tmp_path_factory.mktemp("mypy"))


@pytest.mark.parametrize("page", ["cookbook.md", "start.md"])
def test_mypy_accepts_the_pages(tmp_path, page, cache):
    code = "\n".join(each.text for each in find_blocks(DOCS / page) if each.language == PYTHON)
    (tmp_path / "mine.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--check-untyped-defs", "--ignore-missing-imports",
         "--cache-dir", cache, "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_mypy_tells_a_mistake(tmp_path, cache):
    (tmp_path / "mine.py").write_text(
        "from bayesieve import WeightedNaiveBayes\nWeightedNaiveBayes(max_terms=[5])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports",
         "--cache-dir", cache, "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "max_terms" in done.stdout
