"""The documentation's own feature model, through everything that speaks a model."""

import contextlib
import io
import runpy
from pathlib import Path

import numpy as np
import pytest

from bayesieve import explain, explain_model, load_model, save_model
from bayesieve.explain.report import make_report
from bayesieve.export import to_python, to_sql
from bayesieve.models import MODELS

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "add_feature_model.py"


@pytest.fixture(scope="module")
def found():
    """What the example makes; its model is registered while this module runs."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        space = runpy.run_path(str(EXAMPLE))
    yield {**space, "said": said.getvalue()}
    del MODELS["poisson"]


def test_it_is_chosen_and_predicts(found):
    assert found["said"].startswith("[")
    assert set(found["selector"].estimator_.feature_models_) == {"poisson"}


def test_it_is_explained(found):
    selector, X = found["selector"], found["X"]
    odds = np.log(selector.predict_proba(X[:5]))
    for row, each in enumerate(explain(selector, X[:5])):
        total = sum(bar.log_ratio for bar in each.evidence)
        assert total == pytest.approx(abs(odds[row, 1] - odds[row, 0]), abs=1e-9)
    model = explain_model(selector)
    calls = next(feature for feature in model.features if feature.feature == "x0")
    assert max(calls.importance) > 0.1


def test_it_travels_in_a_file(found, tmp_path):
    selector, X = found["selector"], found["X"]
    save_model(selector, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    chosen = X[:, np.sort(selector.selected_)]
    np.testing.assert_array_equal(again.predict_proba(chosen), selector.predict_proba(X))
    del MODELS["poisson"]
    try:
        with pytest.raises(ValueError, match="model must hold one of bernoulli"):
            load_model(tmp_path / "model.json")
    finally:
        MODELS["poisson"] = found["PoissonModel"]()


def test_it_has_a_report(found):
    page = make_report(found["selector"], found["X"], found["y"], include_rows=True, n_resamples=0)
    assert "poisson" in page


@pytest.mark.parametrize("export", [to_sql, to_python])
def test_other_languages_refuse_it_by_name(found, export):
    with pytest.raises(
        ValueError, match=r"'x\d' is modelled as 'poisson', which offers no `bells`"
    ):
        export(found["selector"])
