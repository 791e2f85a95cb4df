"""What users write is accepted by their type checker: the package is typed, and says so."""

import subprocess
import sys
from pathlib import Path

import pytest

from blocks import PYTHON, find_blocks

DOCS = Path(__file__).parents[1] / "docs"
CACHE = Path(__file__).parents[1] / ".mypy_cache" / "users"
PAGES = ("cookbook", "start")
MISTAKE = "from bayesieve import WeightedNaiveBayes\nWeightedNaiveBayes(max_terms=[5])\n"


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy says of all of it, in one run, since it reads the whole package first.

    What it finds out about the package is kept, as that of `make lint` is.
    """
    place = tmp_path_factory.mktemp("mypy")
    for page in PAGES:
        blocks = find_blocks(DOCS / f"{page}.md")
        code = "\n".join(each.text for each in blocks if each.language == PYTHON)
        (place / f"{page}.py").write_text(code)
    (place / "mistake.py").write_text(MISTAKE)
    options = ["--check-untyped-defs", "--ignore-missing-imports", "--cache-dir", str(CACHE)]
    files = [f"{name}.py" for name in (*PAGES, "mistake")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("page", PAGES)
def test_mypy_accepts_the_pages(page, said):
    assert [line for line in said if line.startswith(f"{page}.py")] == []


def test_mypy_tells_a_mistake_and_nothing_else(said):
    errors = [line for line in said if ": error:" in line]
    assert len(errors) == 1
    assert errors[0].startswith("mistake.py:2")
    assert "max_terms" in errors[0]
