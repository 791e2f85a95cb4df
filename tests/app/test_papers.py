"""Reproductions and the command line that runs them."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bayesieve_papers as papers
from bayesieve.__main__ import main
from bayesieve.app import cli
from bayesieve.indicators import Indicators, WindowScores
from bayesieve_papers import rabenoro, sotoca

runner = CliRunner()


@pytest.fixture(scope="module")
def quick():
    """All of it over 81 indicators in place of 810, since searches take their square."""
    few = WindowScores(levels=(0.001, 0.02, 0.1), shares=(0.1, 0.3), runs=(2,), among=())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rabenoro, "Indicators", partial(Indicators, [few]))
        return papers.run("rabenoro", quick=True, seed=3, n_jobs=1)


@pytest.mark.slow
def test_table_1_over_all_indicators():
    check_table_1(papers.run("rabenoro", quick=True, seed=3, n_jobs=1), 810)


def test_all_rows_of_table_1(quick):
    check_table_1(quick, 81)


def check_table_1(quick, n_indicators):
    rows = list(dict.fromkeys(record.row for record in quick.records))
    assert rows[:10] == [row for row, *_ in rabenoro.ROWS]
    assert len(rows) == 11
    assert [record.table for record in quick.records[:20]] == ["Table 1"] * 20
    for record in quick.records:
        assert record.column in ("features", "test error")
        assert record.spread >= 0
        if record.column == "features":
            assert 1 <= record.ours <= n_indicators
        else:
            assert 0 < record.ours < 0.3
    text = quick.to_text()
    assert "Backward-Forward, Probability" in text
    assert "0.1168" in text
    assert "of 2  the best wrapper beats both filters" in text


def test_the_papers_figures_are_its_own():
    # Table 1 as printed: features and test error of each row.
    printed = """
    MI filter Error 422 0.1387
    mRMR filter Error 19 0.1435
    Forward search Error 136 0.1237
    Forward search Probability 207 0.1225
    Backward search Error 27 0.1308
    Backward search Probability 86 0.1283
    Forward-Backward Error 92 0.1238
    Forward-Backward Probability 123 0.1237
    Backward-Forward Error 112 0.1267
    Backward-Forward Probability 122 0.1168
    """
    lines = [line.split() for line in printed.strip().splitlines()]
    assert [(row, n, e) for row, _, _, n, e in rabenoro.ROWS] == [
        (f"{' '.join(words[:-3])}, {words[-3]}", int(words[-2]), float(words[-1]))
        for words in lines
    ]


def test_records_as_json_and_a_figure(tmp_path, monkeypatch, quick):
    monkeypatch.setattr(papers, "run", lambda name, **options: quick)
    figure = tmp_path / "table1.png"
    done = runner.invoke(
        cli.app, ["reproduce", "rabenoro", "--quick", "--json", "--figure", str(figure)]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert set(found) == {"title", "records", "conclusions", "notes"}
    assert found["conclusions"][0] == {
        "claim": "the best wrapper beats both filters",
        "held": quick.conclusions[0].held,
        "of": 2,
    }
    records = found["records"]
    assert set(records[0]) == {"table", "row", "column", "paper", "ours", "spread"}
    assert len(records) == 22
    assert figure.stat().st_size > 10_000
    assert list(tmp_path.iterdir()) == [figure]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["reproduce", "rabenero"],
            "must be one of 'rabenoro', 'cortizo', 'ruta', 'sotoca', 'guyon'; got 'rabenero'",
        ),
        (["reproduce", "rabenoro", "--seed", "-1"], "should be greater than or equal to 0"),
        (["reproduce", "cortizo", "--data", "/no/such/folder"], "is not a folder"),
        (["reproduce", "rabenoro", "--figure", "table.xyz"], "must end in"),
        (["reproduce", "rabenoro", "--figure", "/no/such/folder/a.png"], "does not exist"),
        (["reproduce"], "PAPER"),
        (["repoduce"], "repoduce"),
    ],
)
def test_bad_use_is_said_before_any_work(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["bayesieve", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert message.lower() in " ".join(said.split()).lower()
    assert "Traceback" not in said


def test_a_failure_is_one_sentence_and_exit_code_1(capsys, monkeypatch):
    def fail(*arguments, **options):
        raise TypeError("something broke inside")

    monkeypatch.setattr(papers, "run", fail)
    monkeypatch.setattr("sys.argv", ["bayesieve", "reproduce", "rabenoro"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert capsys.readouterr().err == (
        "bayesieve: TypeError: something broke inside (bayesieve --debug shows where).\n"
    )


def test_examples_run():
    folder = Path(__file__).parents[2] / "examples"
    scripts = sorted(folder.glob("*.py"))
    assert scripts
    for script in scripts:
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "test error" in done.stdout


def test_demo_tells_the_story():
    done = runner.invoke(cli.app, ["demo", "--quick", "--seed", "1"])
    assert done.exit_code == 0, done.output
    assert "810 binary indicators" in done.output
    assert "Backward-Forward  Probability" in done.output
    assert done.output.count("times as likely under") == 10


def test_the_conclusions_of_sotoca_et_al_can_be_written_as_json():
    rng = np.random.default_rng(0)
    found = {
        (model, row, ranking): rng.random((5, 4))
        for model, printed in sotoca.MODELS.items()
        for row in list(printed)[:3]
        for ranking in sotoca.RANKINGS
    }
    reproduction = papers.Reproduction("Sotoca", conclusions=sotoca._conclusions(found))
    held = json.loads(json.dumps(reproduction.to_dict()))["conclusions"]
    assert [(each["of"], 0 <= each["held"] <= 3) for each in held] == [(3, True)] * 4
