"""Every block of Python in the README runs."""

from pathlib import Path

import pytest

from blocks import PYTHON, find_blocks, run_python

README = Path(__file__).parents[1] / "README.md"
BLOCKS = [block for block in find_blocks(README) if block.language == PYTHON]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {block.line}")
def test_the_readme_runs(block):
    space = {}
    run_python(block, README, space)
    assert len(space) > 1
