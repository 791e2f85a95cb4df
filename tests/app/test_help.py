"""Help in panels, mistakes that are answered without waiting, and how far repeated fits are."""

import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import bayesieve
from bayesieve.app.cli import CHAPTERS, PAPERS, VERBS
from bayesieve.app.options import PANELS
from bayesieve.evaluation.crossfit import hearing
from bayesieve.search.progress import FitsLine
from bayesieve_papers import PAPERS as KNOWN

#: What no mistake and no help should wait for.
HEAVY = {"sklearn", "numba", "scipy", "polars", "narwhals", "pandas", "matplotlib", "joblib"}

MISTAKES = [
    (["select", "missing.csv", "--target", "y", "--out", "o"], 2, "'missing.csv' does not exist"),
    (["select", "t.csv", "--bogus"], 2, "no such option: --bogus"),
    (["select", "t.csv", "--out", "o", "--n-features", "0"], 2, "'--n-features'"),
    (["select", "t.csv", "--out", "o", "--preset", "fw"], 2, "Did you mean 'few'?"),
    (["select", "t.csv", "--out", "o", "--resume"], 2, "--resume needs --checkpoint"),
    (["selct"], 2, "no such command 'selct'"),
    (["look", "missing.csv"], 2, "'missing.csv' does not exist"),
    (["card", "missing.csv", "--target", "y", "--out", "o"], 2, "'missing.csv' does not exist"),
    (["report", "no.json", "t.csv", "--out", "r.html"], 2, "'no.json' does not exist"),
    (["decide", "no.json", "t.csv"], 2, "'no.json' does not exist"),
    (["calibrate", "no.json", "t.csv"], 2, "'no.json' does not exist"),
    (["predict", "t.csv", "missing.csv"], 2, "'missing.csv' does not exist"),
    (["explain", "no.json", "t.csv"], 2, "'no.json' does not exist"),
    (["nested", "missing.csv"], 2, "'missing.csv' does not exist"),
    (["stability", "missing.csv"], 2, "'missing.csv' does not exist"),
    (["drift", "no.json", "t.csv"], 2, "'no.json' does not exist"),
    (["rank", "missing.csv"], 2, "'missing.csv' does not exist"),
    (["signals", "missing.csv", "--out", "o"], 2, "'missing.csv' does not exist"),
    (["studio", "missing.csv"], 2, "'missing.csv' does not exist"),
    (["reproduce", "rubeno"], 2, "paper must be one of"),
    (["compare", "t.csv", "--out", "t.csv"], 2, "is a file; name a folder"),
]

TRY = """
import contextlib, io, json, sys
from bayesieve.__main__ import main
told = []
for words in json.loads(sys.argv[1]):
    sys.argv, out, err, code = ["bayesieve", *words], io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
    told.append([code or 0, out.getvalue(), err.getvalue(), sorted(set(sys.modules) & set(HEAVY))])
print(json.dumps(told))
"""


def tried(commands, folder, **environment):
    """Exit code, output, errors and heavy modules after each of some commands, in one process."""
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {sorted(HEAVY)}\n{TRY}", json.dumps(commands)],
        env={**os.environ, "PYTHONPATH": str(Path(bayesieve.__file__).parents[1]), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_mistakes_wait_for_no_library(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,v\n")
    found = tried([words for words, _, _ in MISTAKES], tmp_path)
    for (words, code, sentence), (ended, out, err, heavy) in zip(MISTAKES, found, strict=True):
        assert (ended, out, heavy) == (code, "", []), words
        assert sentence in err, words
        assert err.count("\n") == 1, words
    assert {words[0] for words, _, _ in MISTAKES} >= set(VERBS) - {"scores", "demo", "datasets"}


def test_help_fits_and_waits_for_no_library(tmp_path):
    found = tried([["--help"], *([verb, "--help"] for verb in VERBS)], tmp_path, COLUMNS="80")
    for words, (ended, out, err, heavy) in zip(["", *VERBS], found, strict=True):
        assert (ended, err, heavy) == (0, "", []), words
        assert max(map(len, out.splitlines())) <= 80, words
        assert out.isascii(), words  # no boxes, no colours: it is piped
        titles = [line[:-1] for line in out.splitlines() if line[:1].isalpha() and line[-1] == ":"]
        panels = [title for title in titles if title in PANELS]
        assert panels == [title for title in PANELS if title in panels], words
        assert set(titles) - set(PANELS) <= {"Arguments", *(title for title, _ in CHAPTERS)}


def test_verbs_stand_in_the_order_of_work(tmp_path):
    ((_, out, _, _),) = tried([["--help"]], tmp_path)
    at = [out.index(f"\n  {verb} ") for verb in VERBS]
    assert at == sorted(at)
    begin = ["look", "select", "card", "report", "decide", "predict", "explain", "nested"]
    assert list(VERBS)[:8] == begin


def test_the_papers_are_those_that_can_be_reproduced():
    assert tuple(KNOWN) == PAPERS


def test_the_package_s_names_are_what_its_rooms_have():
    """Names that are imported late: the same for Python as for type checkers."""
    source = Path(bayesieve.__file__).read_text("utf-8")
    for name, home in bayesieve._HOMES.items():
        module = __import__(f"bayesieve.{home}", fromlist=[name])
        assert getattr(bayesieve, name) is getattr(module, name)
        (line,) = [each for each in source.splitlines() if each.startswith(f"    from .{home} ")]
        assert name in line.partition(" import ")[2].split(", ")
    assert sorted(bayesieve._HOMES) == sorted(bayesieve.__all__)
    assert set(bayesieve.__all__) <= set(dir(bayesieve))
    # A room of the same name does not take a function's place, whoever imports it.
    assert callable(bayesieve.explain)
    assert pickle.loads(pickle.dumps(bayesieve.explain)) is bayesieve.explain
    assert bayesieve.search.SEARCHES
    with pytest.raises(AttributeError, match="'bayesieve' has no attribute 'selct'"):
        bayesieve.selct  # noqa: B018


def test_fits_are_counted():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    live, log = Terminal(), io.StringIO()
    for stream in (live, log):
        line = FitsLine("folds", 3, stream)
        for _ in range(3):
            line._last -= 60  # a minute between two fits
            line.hear()
        line.close()
    said = [part.strip() for part in live.getvalue().split("\r")]
    assert said[1].startswith("folds: 0 of 3 fits")
    assert said[-1].startswith("folds: 3 of 3 fits in ")
    assert [each.split(",")[0] for each in log.getvalue().splitlines()] == [
        f"folds: {k} of 3 fits" for k in (1, 2, 3)
    ]
    with hearing("folds", 3, progress=False) as fitted_one:
        fitted_one()


def test_a_short_log_is_silent(capsys):
    with hearing("folds", 3, progress=True) as fitted_one:
        fitted_one()
    assert capsys.readouterr().err == ""
