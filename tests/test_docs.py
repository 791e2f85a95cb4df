"""The documentation: its code runs, prints what it says, and leaves no public name out."""

import importlib
import inspect
import re
import runpy
import tomllib
from pathlib import Path

import matplotlib
import pytest

from bayesieve.criteria import CRITERIA
from bayesieve.indicators import SCORES
from bayesieve.models import MODELS
from bayesieve.rankings import RANKINGS
from bayesieve.search import SEARCHES
from blocks import find_blocks, run_page

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
MODULES = (
    "bayesieve", "bayesieve.search", "bayesieve.criteria", "bayesieve.rankings", "bayesieve.models",
    "bayesieve.datasets", "bayesieve.indicators", "bayesieve.explain", "bayesieve.explain.report",
    "bayesieve.evaluation.performance", "bayesieve.explain.modelfile.file", "bayesieve_papers",
    "bayesieve.export", "bayesieve.plot",
)  # fmt: skip
REGISTRIES = (CRITERIA, MODELS, RANKINGS, SCORES, SEARCHES)
PUBLIC = [(module, name) for module in MODULES for name in importlib.import_module(module).__all__]


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    """Files go to a folder of their own, pictures to memory, and registries stay what they were."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    before = [dict(registry) for registry in REGISTRIES]
    yield
    for registry, known in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(known)


def _id(page):
    return page.relative_to(DOCS).as_posix()


# Pages about papers fit for as long as all others together; they say nothing new about calls.
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow, id=_id(page))
        if page.parent.name == "papers"
        else pytest.param(page, id=_id(page))
        for page in PAGES
        if find_blocks(page)
    ],
)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page):
    fenced = [block for block in find_blocks(page) if not block.language.startswith("{")]
    n_run = run_page(page)
    assert n_run or all(block.language == "console" for block in fenced)


def test_the_quickstart_says_the_same_on_the_command_line_as_in_python():
    """Both are printed by programs: see above."""
    printed = [each.text for each in find_blocks(DOCS / "start.md") if each.language == "text"]
    explained = [text for text in printed if text.startswith("row 0: ")]
    assert len(explained) == 2
    assert explained[0] == explained[1]


@pytest.mark.parametrize("example", EXAMPLES, ids=_id)
def test_an_example_is_short_runs_and_is_shown(example, capsys):
    assert len(example.read_text("utf-8").splitlines()) < 40
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    shown = "\n".join(page.read_text("utf-8") for page in PAGES)
    assert f"{{literalinclude}} examples/{example.name}" in shown


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_a_public_name_has_an_example_that_runs(module, name):
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value) or inspect.isfunction(value):
        text = inspect.getdoc(value) or ""
        assert ">>>" in text.split("Examples\n--------\n")[-1] != text
    else:
        assert isinstance(value, dict)  # a registry


def test_the_reference_names_everything_public():
    """Functions of the same name in two modules are documented where most people import them."""
    listed, module = set(), ""
    for page in (DOCS / "api").glob("*.md"):
        said = page.read_text("utf-8")
        for kind, name in re.findall(r"(currentmodule|auto(?:class|function|data)):: (\S+)", said):
            if kind == "currentmodule":
                module = name
            else:
                listed.add((module, name))
    top = {name for module, name in listed if module == "bayesieve"}
    missing = [(m, n) for m, n in PUBLIC if (m, n) not in listed and n not in top]
    assert not missing
    for module, name in listed - set(PUBLIC):
        assert hasattr(importlib.import_module(module), name)


def test_the_rooms_of_the_architecture_page_are_the_law():
    law = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))
    layers = law["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = [room.strip() for layer in layers for room in layer.split("|")]
    text = (DOCS / "architecture.md").read_text("utf-8")
    table = text.partition("## The rooms")[2].partition("\n## ")[0]
    assert rooms[:1] == ["__main__"]
    assert re.findall(r"^\| `([a-z]+)` \|", table, re.M) == rooms[1:]
    package = DOCS.parent / "src" / "bayesieve"
    found = {path.stem for path in package.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert found - {"__pycache__", "__init__", "__main__"} == set(rooms[1:])


def test_figures_are_small_and_shown():
    shown = "\n".join(page.read_text("utf-8") for page in PAGES)
    figures = [path for path in (DOCS / "figures").iterdir() if path.is_file()]
    assert figures
    for path in figures:
        assert path.stat().st_size < 150_000
        assert f"figures/{path.name}" in shown


def test_the_walk_passes_each_room_once_and_never_back():
    """A room hands values only to rooms that may import it."""
    law = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))
    layers = law["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {room.strip(): -at for at, layer in enumerate(layers) for room in layer.split("|")}
    picture = (DOCS / "figures" / "flow.svg").read_text("utf-8")
    rooms = re.findall(r'data-room="(\w+)"', picture)
    aside = {"__main__", "checks", "session", "export", "plot"}  # no part of a fit
    assert sorted(rooms) == sorted(set(height) - aside)
    ways = re.findall(r'data-from="(\w+)" data-to="(\w+)"', picture)
    assert {room for way in ways for room in way} == {*rooms, "fit"}
    inside = [(one, other) for one, other in ways if "fit" not in (one, other)]
    assert all(height[one] < height[other] for one, other in inside)
    assert all(rooms.index(one) < rooms.index(other) for one, other in inside)
    # What stands before fit has nothing behind it, and fit begins with the data.
    assert {way for way in ways if way[1] == "fit"} == {("datasets", "fit"), ("indicators", "fit")}
    assert ("fit", "data") in ways
