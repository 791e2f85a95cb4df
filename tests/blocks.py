"""Code blocks of markdown pages, and how they run."""

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

#: Languages of blocks: run as Python, run on the command line, what the block before printed, and
#: commands for a terminal that no test runs.
PYTHON, SHELL, OUTPUT, TERMINAL = "python", "sh", "text", "console"

_FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1 *$", re.DOTALL | re.MULTILINE)
_CLOSE_ENOUGH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block: its language (or directive), its text, and the line it starts on."""

    language: str
    text: str
    line: int


def find_blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[2].strip(), found[3], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def run_python(block: Block, page: Path, space: dict[str, Any]) -> str:
    """Run a block of Python in a namespace; returns what it printed."""
    # Blank lines in front, so that a traceback names the line of the page.
    code = compile("\n" * block.line + block.text, str(page), "exec")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, space)
    return said.getvalue()


def run_shell(block: Block) -> str:
    """Run the lines of a block on the command line of bayesieve; returns what they printed."""
    from bayesieve.app.cli import app

    said = ""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            assert words[0] == "bayesieve", f"{line!r} is not a command of bayesieve"
            result = CliRunner().invoke(app, words[1:])
            assert result.exit_code == 0, f"{line}: {result.output} {result.exception}"
            said += result.stdout
    return said


def run_page(page: Path) -> int:
    """Run all blocks of a page in one namespace, compare what they print; returns how many ran."""
    space: dict[str, Any] = {"__name__": "__main__"}
    said, n_run = "", 0
    for block in find_blocks(page):
        where = f"{page.name}, line {block.line}"
        if block.language == PYTHON:
            said = run_python(block, page, space)
        elif block.language == SHELL:
            said = run_shell(block)
        elif block.language == OUTPUT:
            same = doctest.OutputChecker().check_output(block.text, said, _CLOSE_ENOUGH)
            assert same, f"{where} says\n{block.text}\nbut this was printed:\n{said}"
        else:
            known = block.language == TERMINAL or block.language.startswith("{")
            assert known, f"{where}: blocks of {block.language!r} are not known"
        n_run += block.language in (PYTHON, SHELL)
    return n_run
