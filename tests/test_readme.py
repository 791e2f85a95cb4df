"""Every block of Python in the README runs."""

import re
from pathlib import Path

import pytest

BLOCKS = re.findall(
    r"```python\n(.*?)```", (Path(__file__).parents[1] / "README.md").read_text("utf-8"), re.DOTALL
)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_readme_runs(block):
    space = {}
    exec(compile(block, "README.md", "exec"), space)
    assert len(space) > 1
