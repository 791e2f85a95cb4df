"""The README is short, its code prints what it shows, and its links and picture are there."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from blocks import OUTPUT, find_blocks, run_page

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text("utf-8")
PICTURES = re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)


def _words(picture):
    return [text.text for text in ElementTree.parse(picture).iter() if text.tag.endswith("}text")]


def test_the_readme_is_short():
    assert len(TEXT.splitlines()) <= 120


def test_the_code_of_the_readme_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert any(block.language == OUTPUT for block in find_blocks(README))
    assert run_page(README) >= 3


@pytest.mark.parametrize("link", sorted({*re.findall(r"\]\(([^)#:]+)", TEXT), *PICTURES}))
def test_a_link_leads_somewhere(link):
    assert (ROOT / link).is_file()


def test_the_picture_is_what_the_code_draws(tmp_path, monkeypatch):
    """Letter by letter: how matplotlib places them may change with its version."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "docs" / "examples" / "draw_decision.py"), run_name="__main__")
    assert len(PICTURES) == 2
    for picture in PICTURES:
        shown, drawn = ROOT / picture, tmp_path / Path(picture).name
        assert shown.stat().st_size < 150_000
        assert "worst perimeter = 87.16" in _words(shown)
        assert _words(shown) == _words(drawn)
