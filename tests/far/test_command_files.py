"""Files and addresses that are not there, on the command line."""

import pytest
from clusters import table

from bayesieve import NaiveBayesSelector
from bayesieve.__main__ import main
from bayesieve.engine import DaskEngine


@pytest.fixture
def files(tmp_path):
    frame, _, _ = table()
    for k in range(3):
        frame.iloc[60 * k : 60 * (k + 1)].to_parquet(tmp_path / f"part{k}.parquet", index=False)
    frame.iloc[:60].drop(columns="b0").to_parquet(tmp_path / "odd.parquet", index=False)
    return tmp_path


def select(monkeypatch, *args):
    monkeypatch.setattr("sys.argv", ["bayesieve", "select", *map(str, args), "--quiet"])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


def said(monkeypatch, capsys, *args):
    assert select(monkeypatch, *args) == 2
    words = " ".join(capsys.readouterr().err.split())
    assert "Traceback" not in words
    return words


FAR = ("--target", "target", "--engine", "dask")


def test_files_that_are_not_there(files, monkeypatch, capsys):
    """As where a pattern matches nothing, which a shell hands on as it is."""
    given = (files / "no*.parquet", *FAR, "--out", files / "out")
    assert "no*.parquet' does not exist; name Parquet files" in said(monkeypatch, capsys, *given)


def test_what_is_no_address(files, monkeypatch, capsys):
    monkeypatch.setattr("distributed.Client", None)  # one would wait for its end
    given = (files / "part0.parquet", *FAR, "--scheduler", "hello", "--out", files / "out")
    words = said(monkeypatch, capsys, *given)
    assert "--scheduler must be the address of a scheduler, such as 'tcp://host:8786'" in words
    wrong = pytest.raises(ValueError, match="client must be the address of a scheduler")
    with wrong, DaskEngine("tcp://host").cluster():
        pass


def test_files_that_are_not_alike(files, monkeypatch, capsys):
    """Dask would leave out, without a word, what the first by name has not."""
    given = (files / "part0.parquet", files / "odd.parquet", *FAR, "--out", files / "out")
    assert "must have the same columns; 'b0' is in one only" in said(monkeypatch, capsys, *given)
    (files / "part0.parquet").write_text("hello")
    assert "part0.parquet cannot be read as Parquet" in said(monkeypatch, capsys, *given)


def test_files_of_unequal_columns(files, client):
    import dask.dataframe as dd

    (files / "odd.parquet").rename(files / "z.parquet")  # the first by name tells the columns
    X = dd.read_parquet([files / "part0.parquet", files / "z.parquet"])
    with pytest.raises(ValueError, match=r"must all have the same columns; .*\['b0'\]"):
        NaiveBayesSelector().fit(X, "target")
