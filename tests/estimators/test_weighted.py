"""`WeightedNaiveBayes`: its face, its exports, and what it refuses."""

import json
import os
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

import bayesieve
from bayesieve import (
    NaiveBayes,
    WeightedNaiveBayes,
    calibrate,
    explain,
    explain_model,
    nested,
    stability,
)
from bayesieve.explain.modelfile.file import model_from_dict, model_to_dict
from bayesieve.export import to_python, to_sql
from bayesieve.plot import NomogramDisplay
from bayesieve.search import GreedySearch
from jitless import printed_both_ways
from plain import plain_selector
from weighted import cut_journals, terms_of


def table(seed=0, n=400):
    """Numbers, categories, a pair that matters, and missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    flip = rng.random(n) < 0.08
    one = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "size": np.round(rng.normal(size=n) + y, 2),
            "colour": np.where(rng.random(n) < 0.5, "red", np.array(["a", "b", "c"])[y]),
            "left": one,
            "right": one ^ (y == 2) ^ flip,
            "noise": np.round(rng.normal(size=n), 1),
        }
    )
    X.loc[rng.random(n) < 0.1, "size"] = np.nan
    X["colour"] = X["colour"].astype(object).where(rng.random(n) > 0.05, None)
    return X, np.array(["u", "v", "w"])[y]


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return X, y, WeightedNaiveBayes().fit(X, y)


def test_terms_weights_and_tables(fitted):
    X, y, model = fitted
    assert any(len(columns) == 2 for columns in terms_of(model))
    assert model.weights_.shape == (len(terms_of(model)), 3)
    assert (model.weights_ * 16 == np.rint(model.weights_ * 16)).all()
    assert model.weights_.min() >= 0
    assert model.weights_.max() <= 1
    pair = next(term for term in model.terms_ if len(term["columns"]) == 2)
    assert pair["table"].ndim == 3
    assert model.score(X, y) > 0.7
    used = sorted({j for columns in terms_of(model) for j in columns})
    assert list(model.get_feature_names_out()) == [X.columns[j] for j in used]
    assert model.path_.to_frame().shape[0] == len(model.path_)
    assert model.path_.steps[-1].score < model.path_.steps[0].score


def test_two_calls_and_any_number_of_threads_agree(fitted):
    X, y, model = fitted
    for other in (WeightedNaiveBayes(n_jobs=2), WeightedNaiveBayes(n_jobs=-1)):
        other.fit(X, y)
        assert terms_of(other) == terms_of(model)
        assert (other.weights_ == model.weights_).all()
        assert (other.predict_proba(X) == model.predict_proba(X)).all()


def test_any_size_on_the_path(fitted):
    X, _y, model = fitted
    for size in range(len(terms_of(model)) + 1):
        small = model.at(size)
        assert len(terms_of(small)) <= size
        assert small.predict_proba(X).shape == (len(X), 3)
    assert model.at(0).predict_proba(X).std(0).max() < 1e-12
    assert (model.at(99).predict_proba(X) == model.predict_proba(X)).all()


def test_probabilities_follow_from_constants_weights_and_tables(fitted):
    X, _, model = fitted
    known = X.dropna()
    scores = np.tile(model.estimator_.fitted_.only.prior.finite, (len(known), 1))
    found = explain(model, known, target="u", against="v")
    proba = model.predict_proba(known)
    for i, each in enumerate(found):
        bars = sum(bar.log_ratio for bar in each.evidence)
        assert bars == pytest.approx(np.log(proba[i, 0] / proba[i, 1]), abs=1e-9)
        assert bars == pytest.approx(each.log_odds, abs=1e-9)
    assert np.isfinite(scores).all()


def test_a_model_explains_its_pairs(fitted):
    _, _, model = fitted
    found = explain_model(model)
    names = [each.feature for each in found.features]
    assert "left x right" in names
    pair = found.features[names.index("left x right")]
    assert (
        len(pair.values)
        == len(pair.terms)
        == len(pair.source["first"]) * len(pair.source["second"])
    )
    assert found.nomogram("w", "u")
    assert "left x right" in found.to_text()


def test_files_hold_weights_and_pairs(fitted):
    X, _, model = fitted
    data = json.loads(json.dumps(model_to_dict(model)))
    assert data["version"] == 7
    again = model_from_dict(data)
    used = X.columns[model.support_]
    assert (again.predict_proba(X[used]) == model.predict_proba(X)).all()
    data["models"][0]["weighting"]["weights"][0][0] = 17
    with pytest.raises(ValueError, match=r"weights\[0\]\[0\] must be at most 16; got 17"):
        model_from_dict(data)


def test_sql_and_python_predict_alike(fitted):
    X, _, model = fitted
    want = model.predict(X)
    space = {}
    exec(to_python(model), space)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    assert [space["predict"](row) for row in rows] == want.tolist()
    with sqlite3.connect(":memory:") as base:
        X.to_sql("data", base, index=False)
        got = pd.read_sql_query(to_sql(model), base)["prediction"]
    assert got.tolist() == want.tolist()
    duckdb = pytest.importorskip("duckdb")
    data = X  # noqa: F841
    got = duckdb.sql(to_sql(model)).df()["prediction"]
    assert got.tolist() == want.tolist()


def test_calibration_keeps_the_terms(fitted):
    X, _y, model = fitted
    new, truth = table(1)
    calibrated = calibrate(model, new, truth)
    assert terms_of(calibrated) == terms_of(model)
    assert calibrated.estimator_.temperature_ != 1
    assert (calibrated.predict(X) == model.predict(X)).all()


def test_missing_values_may_speak():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = rng.integers(0, 3, 300).astype(float)
    x[rng.random(300) < 0.1 + 0.6 * y] = np.nan
    X = np.column_stack([x, rng.integers(0, 2, 300)])
    silent = WeightedNaiveBayes(features={0: "categorical"}).fit(X, y)
    speaking = WeightedNaiveBayes(features={0: "categorical"}, missing="evidence").fit(X, y)
    assert silent.score(X, y) < 0.6 < 0.75 < speaking.score(X, y)
    space = {}
    exec(to_python(speaking), space)
    rows = [{"x0": None if np.isnan(a) else a, "x1": b} for a, b in X.tolist()]
    assert [space["predict"](row) for row in rows] == speaking.predict(X).tolist()
    again = model_from_dict(model_to_dict(speaking))
    assert (again.predict_proba(X[:, speaking.support_]) == speaking.predict_proba(X)).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_evidence_never_turns(sign):
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=600), 2)
    y = (rng.random(600) < 0.5 + 0.45 * np.sin(3 * x) * 0.6 + 0.05 * sign * x).astype(int)
    X = np.column_stack([x, rng.integers(0, 2, 600)])
    free = WeightedNaiveBayes(keep=[0]).fit(X, y)
    bound = WeightedNaiveBayes(keep=[0], monotone={0: sign}).fit(X, y)
    grid = np.column_stack([np.linspace(-4, 4, 500), np.zeros(500)])
    odds = bound.decision_function(grid)
    assert (sign * np.diff(odds) >= 0).all()
    assert not (sign * np.diff(free.decision_function(grid)) >= 0).all()
    again = model_from_dict(model_to_dict(bound))
    used = grid[:, bound.support_]
    assert (again.decision_function(used) == odds).all()


def test_columns_that_are_kept_forbidden_or_grouped(fitted):
    X, y, _model = fitted
    kept = WeightedNaiveBayes(keep=["noise"], forbid=["colour", 0]).fit(X, y)
    assert (4,) in terms_of(kept)
    assert not {0, 1} & {j for columns in terms_of(kept) for j in columns}
    both = WeightedNaiveBayes(pairs=False, feature_groups=[["size", "noise"]]).fit(X, y)
    at = [columns for columns in terms_of(both) if columns in ((0,), (4,))]
    assert at == [(0,), (4,)]


def test_labels_share_terms_or_have_their_own():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (500, 8)).astype(float)
    noise = rng.random((500, 2)) < 0.1
    Y = (X[:, :2].astype(int) ^ noise).astype(int)
    shared = WeightedNaiveBayes().fit(X, Y)
    each = WeightedNaiveBayes(shared_terms=False).fit(X, Y)
    for model in (shared, each):
        assert model.predict_proba(X).shape == (500, 2)
        assert (model.predict(X) == Y).mean() > 0.85
        assert len(model.weights_) == 2
    assert len(each.path_) == 2
    again = model_from_dict(model_to_dict(shared))
    assert (again.predict_proba(X[:, shared.support_]) == shared.predict_proba(X)).all()


def test_sparse_tables_give_the_model_of_dense_ones():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = (rng.random((600, 30)) < 0.05 + 0.1 * (np.arange(30) < 4) * y[:, None]).astype(float)
    dense = WeightedNaiveBayes().fit(X, y)
    sparse = WeightedNaiveBayes().fit(scipy.sparse.csr_matrix(X), y)
    assert terms_of(dense) == terms_of(sparse)
    assert len(terms_of(dense)) > 2
    assert (dense.weights_ == sparse.weights_).all()
    assert (dense.predict_proba(X) == sparse.predict_proba(scipy.sparse.csr_matrix(X))).all()


def test_priors_move_the_constants(fitted):
    X, y, model = fitted
    moved = WeightedNaiveBayes(priors=[0.8, 0.1, 0.1]).fit(X, y)
    assert (moved.weights_ == model.weights_).all()
    assert moved.predict_proba(X)[:, 0].mean() > model.predict_proba(X)[:, 0].mean()


def test_time_limit_takes_what_there_is(fitted):
    X, y, _ = fitted
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = WeightedNaiveBayes(time_limit=0).fit(X, y)
    assert len(model.path_) == 1
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"max_terms": 0}, "max_terms"),
        ({"pairs": "sometimes"}, "pairs"),
        ({"price": -1}, "price"),
        ({"pair_price": -0.5}, "pair_price"),
        ({"ridge": -1}, "ridge"),
        ({"smoothing": 0}, "smoothing"),
        ({"smoothing": "mean"}, "smoothing"),
        ({"missing": "loud"}, "missing"),
        ({"features": "gaussian"}, "no table of counts"),
        ({"monotone": {"size": 1}}, "two classes"),
        ({"keep": ["size"], "forbid": ["size"]}, "keep and in forbid"),
        ({"priors": [1.0, 0.0, 0.0]}, "above 0"),
        ({"ridge": np.inf}, "ridge must be a number from 0 to"),
        ({"ridge": np.nan}, "ridge"),
        ({"price": np.nan}, "price"),
        ({"max_terms": 1, "keep": [0, 4]}, "max_terms must be at least 2, since keep"),
        ({"max_terms": 2, "keep": [0], "feature_groups": [[0, 3, 4]]}, "at least 3, since keep"),
    ],
)
def test_bad_parameters_are_named(fitted, parameters, said):
    X, y, _ = fitted
    X = X.drop(columns="colour") if "features" in parameters else X
    with pytest.raises(ValueError, match=said):
        WeightedNaiveBayes(**parameters).fit(X, y)


def test_a_monotone_category_is_refused(fitted):
    X, y, _ = fitted
    with pytest.raises(ValueError, match="no order"):
        WeightedNaiveBayes(monotone={"colour": 1}).fit(X, (y == "u").astype(int))
    with pytest.raises(ValueError, match=r"must be 1 \(rises\) or -1 \(falls\); got True"):
        WeightedNaiveBayes(monotone={"size": True}).fit(X, (y == "u").astype(int))


def test_where_no_pair_can_be_made_it_is_said():
    y = np.repeat(np.arange(101), 3)
    X = np.column_stack([(y >> b) & 1 for b in range(7)]).astype(float)
    with pytest.warns(UserWarning, match=r"none to offer, .* for 101 classes \(at most 100\)\.$"):
        WeightedNaiveBayes(pairs=True, max_terms=7).fit(X, y)
    with pytest.warns(UserWarning, match="no two columns that may enter"):
        WeightedNaiveBayes(pairs=True).fit(X[:, :1], y % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WeightedNaiveBayes(max_terms=1).fit(X, y)


def test_a_selection_that_cannot_be_weighed_is_refused_before_the_search(fitted):
    X, y, _ = fitted
    numbers = NaiveBayes({"size": "gaussian"})
    search = RefusingSearch("forward")
    with pytest.raises(ValueError, match="'size' is modelled as 'gaussian', which has no table"):
        plain_selector(numbers, reweigh=True, search=search).fit(X, y)


class RefusingSearch(GreedySearch):
    def steps(self, objective, limits):
        raise AssertionError("nothing is searched")


def test_lines_of_a_file_that_do_not_fit_are_named(fitted):
    _, _, model = fitted
    whole = model_to_dict(model)

    def changed(change):
        data = json.loads(json.dumps(whole))
        change(data["models"][0]["weighting"])
        return data

    n_columns = len(whole["models"][0]["weighting"]["weights"])
    cells = np.shape(whole["models"][0]["weighting"]["pairs"][0]["counts"])
    for change, said in (
        (lambda w: w["weights"][0].pop(), rf"weights must hold {n_columns} x 3 weights\."),
        (lambda w: w["weights"].pop(), rf"weights must hold {n_columns} x 3 weights\."),
        (lambda w: w["pairs"][0]["weights"].append(1), r"pairs\[0\].weights must hold 3 weights"),
        (
            lambda w: w["pairs"][0]["counts"][0].pop(),
            rf"counts must hold {cells[0]} x {cells[1]} x 3 counts",
        ),
        (lambda w: w["pairs"][0]["counts"][0][0].__setitem__(0, -2), "no number below 0; got -2"),
    ):
        with pytest.raises(ValueError, match=said):
            model_from_dict(changed(change))


def test_odd_tables():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(40), np.full(40, np.nan), rng.integers(0, 2, 40)])
    y = rng.integers(0, 2, 40)
    model = WeightedNaiveBayes(max_terms=50).fit(X, y)
    assert model.predict(X).shape == (40,)
    few = WeightedNaiveBayes().fit(np.array([[0.0], [1.0]]), ["a", "b"])
    assert few.predict([[0.0]]).shape == (1,)


def test_many_classes():
    y = np.repeat(np.arange(300), 3)
    X = np.column_stack([(y >> b) & 1 for b in range(9)]).astype(float)
    model = WeightedNaiveBayes(max_terms=9).fit(X, y)
    assert model.score(X, y) > 0.9
    assert all(len(columns) == 1 for columns in terms_of(model))


def test_it_is_among_the_public_names():
    assert "WeightedNaiveBayes" in bayesieve.__all__


def test_a_stopped_path_goes_on(fitted, tmp_path):
    X, y, model = fitted
    WeightedNaiveBayes(checkpoint=tmp_path / "whole").fit(X, y)
    journals = list(cut_journals(tmp_path / "whole", tmp_path))
    assert journals[-1][1] == ["decided"] + ["state"] * len(model.path_)
    for file, _ in journals:
        again = WeightedNaiveBayes(checkpoint=file).fit(X, y)
        assert terms_of(again) == terms_of(model)
        assert (again.weights_ == model.weights_).all()
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
        assert str(again.path_.to_dict()) == str(model.path_.to_dict())
        assert file.read_bytes()[60:] == (tmp_path / "whole").read_bytes()[60:]


def test_a_checkpoint_of_other_data_is_refused_and_left(fitted, tmp_path):
    X, y, _ = fitted
    file = tmp_path / "weights"
    WeightedNaiveBayes(checkpoint=file).fit(X, y)
    before = file.read_bytes()
    with pytest.raises(ValueError, match="another fit: it differs in ridge"):
        WeightedNaiveBayes(checkpoint=file, ridge=1.0).fit(X, y)
    with pytest.raises(ValueError, match="another fit: it differs in y"):
        WeightedNaiveBayes(checkpoint=file).fit(X, y[::-1])
    assert file.read_bytes() == before
    file.write_bytes(before[: len(before) // 2])
    with pytest.raises(ValueError, match="cut short"):
        WeightedNaiveBayes(checkpoint=file).fit(X, y)
    file.write_text('{"format": "bayesieve-weights", "paths": {}}')  # of a version before
    with pytest.raises(ValueError, match="is not a checkpoint of bayesieve"):
        WeightedNaiveBayes(checkpoint=file).fit(X, y)
    with pytest.raises(ValueError, match="random_state"):
        WeightedNaiveBayes(checkpoint=file, random_state=None).fit(X, y)


def test_a_selector_reweighs_and_forbids(fitted):
    X, y, _ = fitted
    plain = plain_selector(validation=None, cv="loo").fit(X, y)
    weighted = plain_selector(validation=None, cv="loo", reweigh=True).fit(X, y)
    assert weighted.selected_.tolist() == plain.selected_.tolist()
    fitted_ = weighted.estimator_.fitted_.only
    assert fitted_.weighting.weights.shape == (len(plain.selected_), 3)
    found = explain(weighted, X.iloc[:5], target="u", against="w")
    for each in found:
        assert sum(bar.log_ratio for bar in each.evidence) == pytest.approx(each.log_odds, abs=1e-9)
    truth = np.searchsorted(weighted.classes_, y)
    losses = [
        -np.log(each.predict_proba(X)[np.arange(len(y)), truth]).mean()
        for each in (plain, weighted)
    ]
    assert losses[1] != losses[0]
    forbidden = plain_selector(forbid=["colour", 0], random_state=0).fit(X, y)
    assert not {0, 1} & set(forbidden.selected_.tolist())
    with pytest.raises(ValueError, match="keep and in forbid"):
        plain_selector(keep=[0], forbid=[0]).fit(X, y)
    with pytest.raises(ValueError, match="every column"):
        plain_selector(forbid=list(X.columns)).fit(X, y)
    with pytest.raises(ValueError, match="reweigh"):
        plain_selector(NaiveBayes(smoothing=0), reweigh=True).fit(X, y)


def test_nested_and_stability_take_weights(fitted):
    X, y, _ = fitted
    model = WeightedNaiveBayes(pairs=False)
    found = nested(model, X, y, cv=3, random_state=0)
    assert found.criterion == "log-likelihood"
    assert len(found.folds) == 3
    assert 0 < found.folds[0].error < 0.5
    agreed = stability(model, X, y, n_resamples=4, random_state=0)
    assert agreed.selected.shape == (4, 5)


_WITHOUT_JIT = """
import sys, numpy as np
from bayesieve import WeightedNaiveBayes
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 60)
X = np.column_stack([rng.integers(0, 2, (60, 3)), np.round(rng.normal(size=60) + y, 1), y > 1])
X[:, 4] = np.where(rng.random(60) < 0.2, 1 - X[:, 4], X[:, 4])
model = WeightedNaiveBayes().fit(X, y, sample_weight=rng.integers(1, 3, 60))
terms = [term["columns"] for term in model.terms_]
print(terms, model.weights_.tolist(), [s.score.hex() for s in model.path_.steps])
print([step.gain for step in model.path_.steps], model.predict_proba(X).tolist())
"""


def test_without_the_jit_nothing_changes():
    compiled, interpreted = printed_both_ways(_WITHOUT_JIT)
    assert compiled == interpreted
    assert "(" in compiled


def test_pictures_of_pairs_and_paths(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    _, _, model = fitted
    display = NomogramDisplay(explain_model(model), "w", "u").plot_pair("left x right")
    names = [each.feature for each in explain_model(model).features]
    pair = explain_model(model).features[names.index("left x right")]
    drawn = np.asarray(display.ax_.get_images()[0].get_array())
    assert drawn.ravel().tolist() == pytest.approx(pair.ratios(2, 0))
    assert drawn.shape == (2, 2)
    with pytest.raises(ValueError, match="left x right"):
        display.plot_pair("size")
    assert model.path_.plot().get_xlabel() == "number of terms"


def test_a_nomogram_draws_pairs_as_small_heat_maps(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    _, _, model = fitted
    whole = explain_model(model)
    display = NomogramDisplay(whole, "w", "u").plot()
    pairs = [each for each in whole.features if each.model == "pair"]
    assert len(display.pair_axes_) == len(pairs) > 0
    by_name = {each.feature: each for each in pairs}
    deepest = max(abs(ratio) for each in pairs for ratio in each.ratios(2, 0))
    for ax in display.pair_axes_:
        pair, (image,) = by_name[ax.get_title(loc="left")], ax.get_images()
        assert np.asarray(image.get_array()).ravel().tolist() == pytest.approx(pair.ratios(2, 0))
        assert image.get_clim() == pytest.approx((-deepest, deepest))
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    weights = dict(
        zip(names_of(model), model.estimator_.fitted_.only.weighting.weights, strict=True)
    )
    assert sorted(names) == sorted(name for name, line in weights.items() if line.any())
    display.figure_.savefig(os.devnull, format="png")


def names_of(model):
    return model.get_feature_names_out().tolist()


def test_features_tell_their_weights_and_the_density_that_was_chosen(fitted):
    X, y, model = fitted
    for each in explain_model(model).features:
        columns = [term for term in model.terms_ if term["name"] == each.feature]
        wanted = columns[0]["weights"].tolist() if columns else [0.0] * 3
        assert each.source["weights"] == wanted
    model = WeightedNaiveBayes(features={"size": "density"}).fit(X, y)
    plain = NaiveBayes({"size": "density"}).fit(X, y)
    for each in (explain_model(model).features, explain_model(plain).features):
        (size,) = (feature for feature in each if feature.feature == "size")
        assert size.model == "density"
        # The member that alone gives the same terms is the one that is named.
        same = []
        for name in ("grid-gaussian", "kernel", "rank-kernel"):
            alone = NaiveBayes(features={"size": name}).fit(X, y).fitted_.only
            mine = list(X).index("size")
            same += [name] if (alone.tables[mine] == plain.fitted_.only.tables[mine]).all() else []
        assert size.source["density"] == same
        assert len(same) == 1
