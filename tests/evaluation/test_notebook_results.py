"""Results in notebooks: every one shows a table with a caption, and becomes a data frame."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bayesieve import (
    NaiveBayes,
    NaiveBayesSelector,
    calibrate,
    explain_model,
    nested,
    rank,
    stability,
)
from bayesieve.data.result import html_table, text_table
from bayesieve.datasets import make_signals
from bayesieve.evaluation.curve import evaluate_ranking
from bayesieve.rankings import relevance_matrix
from bayesieve.rankings.families import Families


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y


@pytest.fixture(scope="module")
def results(iris):
    X, y = iris
    selector = NaiveBayesSelector()
    with pytest.warns(UserWarning, match="."):
        calibrated = calibrate(NaiveBayes().fit(X, y), X, y).calibration_
    return {
        "ranking": rank(X, y),
        "nested": nested(selector, X, y, cv=3, random_state=0),
        "stability": stability(selector, X, y, n_resamples=4, random_state=0),
        "calibration": calibrated,
        "curve": evaluate_ranking(X, y, cv=3),
        "signals": make_signals(20, 2, random_state=0),
        "families": Families(("a", "b", "c"), np.array([0, 0, 2])),
    }


NAMES = ["ranking", "nested", "stability", "calibration", "curve", "signals", "families"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_result_becomes_a_frame(results, name, backend):
    found = results[name]
    columns = found.to_columns()
    frame = found.to_frame(backend)
    assert list(frame.columns) == list(columns)
    assert len(frame) == len(next(iter(columns.values()))) > 0
    assert type(frame).__module__.startswith(backend)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_a_table(results, name):
    page = results[name]._repr_html_()
    assert page.startswith("<table>")
    assert page.count("<tr>") <= 62
    assert len(repr(results[name])) < 400, "a result is no page of arrays"


def test_a_ranking_knows_its_columns(results, iris):
    X, _ = iris
    found = results["ranking"]
    assert found.names == tuple(X.columns)
    assert found.to_columns()["feature"] == [X.columns[j] for j in found.order]
    assert found.to_columns()["score"] == sorted(found.scores.tolist(), reverse=True)


def test_figures_are_those_of_the_result(results):
    found = results["nested"].to_columns()
    assert found["error"] == results["nested"].error.tolist()
    shares = results["stability"].to_columns()
    assert dict(zip(shares["feature"], shares["share"], strict=True)) == dict(
        zip(results["stability"].feature_names, results["stability"].frequency, strict=True)
    )
    curve = results["curve"].to_columns()
    assert np.allclose(curve["accuracy"], results["curve"].accuracies.mean(0), atol=0)
    signals = results["signals"]
    assert signals.to_columns()["points"] == [len(each) for each in signals.series]
    assert "20 normal" in repr(signals)


def test_stability_in_lines_leaves_out_what_was_never_selected(results):
    text = results["stability"].to_text(most=1)
    chosen = int((results["stability"].frequency > 0).sum())
    assert text.splitlines()[1].split() == ["feature", "selected", "share"]
    assert text.endswith(f"... and {chosen - 1} more") == (chosen > 1)


def test_hostile_names_are_text():
    X = np.arange(20).reshape(10, 2) % 3
    import pandas as pd

    frame = pd.DataFrame(X, columns=["<script>", "b"])
    page = rank(frame, [0, 1] * 5)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_heads_stand_above_their_cells_and_gaps_are_empty():
    page = html_table(
        {"a": ["x"], "n": [1.5], "gap": [float("nan")], "text": ["12"]}, figures=["text"]
    )
    left = ' style="text-align:left"'
    assert f"<th{left}>a</th><th>n</th><th>gap</th><th>text</th>" in page
    assert f"<td{left}>x</td><td>1.5</td><td></td><td>12</td>" in page


def test_a_path_is_guided_by_what_people_call_it(iris):
    page = NaiveBayesSelector().fit(*iris).path_._repr_html_()
    assert "guided by expected error" in page
    assert "validation_error" not in page
    assert "validation_error" in NaiveBayesSelector(validation=0.5).fit(*iris).path_._repr_html_()


def test_no_nat_without_times_as_likely(iris):
    model = NaiveBayes().fit(*iris)
    for shown in (explain_model(model), relevance_matrix(*iris)):
        page = shown._repr_html_()
        assert "nat" in page
        assert "times as likely" in page


def test_text_tables_put_numbers_to_the_right():
    assert text_table({"a": ["x"], "n": [1.5]}).splitlines() == ["a    n", "x  1.5"]
