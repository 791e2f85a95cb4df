"""`look`: what is odd is named, what is not is left alone."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesieve import look

N = 600


def table(seed=0):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, N)
    frame = pd.DataFrame(
        {
            "age": np.where(draw.random(N) < 0.05, ">90", draw.integers(20, 90, N).astype(str)),
            "typed": draw.integers(0, 50, N).astype(str),
            "land": draw.choice(["DE", "de ", "Germany", "FR"], N),
            "when": pd.date_range("2020", periods=N),
            "written": pd.date_range("2020", periods=N).astype(str),
            "id": [f"p{i:05}" for i in range(N)],
            "nr": np.arange(N) + 7,
            "insulin": np.where(draw.random(N) < 0.3, 0, draw.integers(14, 300, N)),
            "dose": np.where(draw.random(N) < 0.1, 999, draw.normal(5, 2, N).round(1)),
            "same": 3,
            "empty": np.full(N, np.nan),
            "answer": y * 2 + 1,
            # Nothing is odd about these.
            "count": draw.poisson(2, N),
            "number": draw.normal(size=N),
            "level": draw.choice(["x", "y", "z"], N),
            "flag": draw.integers(0, 2, N),
            "shares": draw.integers(0, 100, N),
        }
    )
    return frame, y


WANTED = {
    "age": "mixed", "typed": "mixed", "land": "spellings", "when": "dates", "written": "dates",
    "id": "identifier", "nr": "identifier", "insulin": "gaps", "dose": "gaps", "same": "constant",
    "empty": "empty", "answer": "alone",
}  # fmt: skip


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_everything_odd_is_named_and_nothing_else(library):
    frame, y = table()
    found = look(frame if library == "pandas" else pl.from_pandas(frame), y)
    assert {each.column: each.kind for each in found.odd} == WANTED
    assert {each.name: each.odd for each in found.columns if each.odd} == WANTED
    assert (found.n_rows, found.classes) == (N, {"0": int((y == 0).sum()), "1": int(y.sum())})
    text = found.to_text()
    assert (
        "30 of 600 cells are no numbers, such as '>90'".replace(
            "30", str((frame.age == ">90").sum())
        )
        in text
    )
    assert len(found.to_frame("pandas")) == frame.shape[1]
    for each in found.odd:
        assert each.mend


def test_what_it_says_would_mend_it_does():
    frame, y = table()
    frame["insulin"] = frame.insulin.replace(0, np.nan)
    frame["dose"] = frame.dose.replace(999, np.nan)
    frame["age"] = pd.to_numeric(frame["age"], errors="coerce")
    frame["typed"] = pd.to_numeric(frame["typed"], errors="coerce")
    frame["land"] = frame["land"].str.strip().str.lower()
    frame["when"] = frame["when"].dt.month
    frame["written"] = pd.to_datetime(frame["written"]).dt.day_of_week
    frame = frame.drop(columns=["id", "nr", "same", "empty", "answer"])
    assert look(frame, y).odd == ()
    assert look(frame, y).caption() == f"{N} rows, {frame.shape[1]} columns; nothing looks odd"


def test_ordinary_tables_have_nothing_odd():
    for seed in range(20):
        draw = np.random.default_rng(seed)
        X = np.column_stack(
            [draw.normal(size=200), draw.poisson(3, 200), draw.exponential(size=200).round(1)]
        )
        assert look(X, draw.integers(0, 3, 200)).odd == ()


def test_targets_that_are_no_classes():
    X = np.random.default_rng(0).normal(size=(N, 2))
    (odd,) = look(X, X[:, 0] * 3).odd
    assert odd.kind == "target"
    assert f"{N} different numbers" in odd.what
    (odd,) = look(X, ["a"] * 300 + ["b"] * 298 + ["c"] * 2).odd
    assert odd.kind == "rare"


def test_bad_input_is_refused_in_words():
    with pytest.raises(ValueError, match=r"y must hold one class for each of the 5 rows"):
        look(np.zeros((5, 2)), [1, 2])
    with pytest.raises(ValueError, match="X must have rows and columns; got 1 dimensions"):
        look(np.zeros(5))
    with pytest.raises(TypeError, match="X must be a data frame or an array; got int"):
        look(5)
    assert look(pd.DataFrame()).columns == ()
