"""Ensembles of subsets, features of trees, and the reproduction of Ruta 2014."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB

import bayesieve_papers as papers
from bayesieve import FeatureVotes, GreedyEnsemble, NaiveBayes, SubsetEnsemble, rank
from bayesieve.criteria import SizePenalty
from bayesieve.datasets import make_incidents
from bayesieve.rankings import TreeLevels
from bayesieve.search import RankedSearch
from bayesieve_papers import base, ruta
from plain import plain_selector


@pytest.fixture(scope="module")
def data():
    return make_incidents(600, 40, n_entries=3000, random_state=0)


def test_columns_are_dealt_out_and_probabilities_averaged(data):
    X = data.X.toarray()
    order = [5, 1, 9, 7, 30, 2, 3]
    ensemble = SubsetEnsemble(n_subsets=3, order=order).fit(data.X, data.Y)
    assert [subset.tolist() for subset in ensemble.subsets_] == [[5, 7, 3], [1, 30], [9, 2]]
    wanted = np.mean(
        [
            NaiveBayes().fit(data.X[:, subset], data.Y).predict_proba(X[:, subset])
            for subset in ensemble.subsets_
        ],
        axis=0,
    )
    np.testing.assert_allclose(ensemble.predict_proba(data.X), wanted)
    np.testing.assert_allclose(ensemble.predict_proba(X), wanted)
    assert (ensemble.predict(data.X) == (wanted > 0.5)).all()


def test_ensembles_of_classes_and_of_votes(data):
    y = np.where(data.Y[:, 2], "hurt", "well")
    ensemble = SubsetEnsemble(n_subsets=4).fit(data.X, y)
    assert set(ensemble.predict(data.X)) == {"hurt", "well"}
    assert ensemble.predict_proba(data.X).sum(1) == pytest.approx(1)
    assert sum(subset.size for subset in ensemble.subsets_) == 40
    votes = SubsetEnsemble(FeatureVotes(), n_subsets=50).fit(data.X, data.Y)
    assert len(votes.subsets_) == 40
    assert votes.predict_proba(data.X).shape == data.Y.shape


def test_bad_ensembles(data):
    with pytest.raises(ValueError, match="n_subsets must be a whole number from 1"):
        SubsetEnsemble(n_subsets=0).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="order: column 99 is not among"):
        SubsetEnsemble(order=[99]).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="order must name at least one column"):
        SubsetEnsemble(order=[]).fit(data.X, data.Y)
    with pytest.raises(TypeError, match="estimator must be a model of bayesieve"):
        SubsetEnsemble(BernoulliNB()).fit(data.X, data.Y)
    with pytest.raises(TypeError, match="estimator must be a model of bayesieve"):
        GreedyEnsemble(FeatureVotes()).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="order must name at least one column"):
        GreedyEnsemble(order=[]).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="no label has both"):
        GreedyEnsemble().fit(data.X, data.Y * 0)
    with pytest.raises(TypeError, match="penalty must be callable"):
        GreedyEnsemble(penalty=0.1).fit(data.X, data.Y)
    with pytest.raises(TypeError, match="random_state must be a whole number"):
        GreedyEnsemble(random_state=np.random.RandomState(0)).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="GreedyEnsemble needs two classes"):
        GreedyEnsemble().fit(data.X, np.arange(600) % 3)


@pytest.mark.parametrize(
    "estimator",
    [NaiveBayes("gaussian", rounded=True), NaiveBayes(smoothing="mean"),
     NaiveBayes("gaussian", var_smoothing=0.1)],
)  # fmt: skip
def test_the_score_of_a_greedy_ensemble_is_that_of_its_members(estimator):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    if estimator.features == "gaussian":
        X = rng.normal(size=(120, 4)) + y[:, None] * [0.5, 0.3, 0, 0]
        X[0, 0] = 1000
    else:
        X = (rng.random((120, 6)) < 0.3 + 0.2 * y[:, None]).astype(int)
    ensemble = GreedyEnsemble(estimator, n_subsets=2).fit(X, y)
    area = roc_auc_score(y, ensemble.predict_proba(X)[:, 1].round(12))
    if all(subset.size for subset in ensemble.subsets_) and len(ensemble.subsets_) == 2:
        assert ensemble.score_ == pytest.approx(area, abs=1e-9)
    else:
        assert ensemble.score_ == pytest.approx(area, abs=0.02)


def test_a_greedy_ensemble_cannot_be_improved_by_one_change():
    data = make_incidents(300, 12, n_entries=900, random_state=3)
    price = SizePenalty(free=2, scale=50)
    ensemble = GreedyEnsemble(n_subsets=2, penalty=price).fit(data.X, data.Y)

    def score(subsets):
        if not any(subsets):
            return 0.0
        # A member without a column still says what it knows: the share of positives.
        parts = [
            NaiveBayes().fit(data.X[:, sorted(s)], data.Y).predict_proba(data.X[:, sorted(s)])
            if s
            else np.tile(data.Y.mean(0), (300, 1))
            for s in subsets
        ]
        area = roc_auc_score(data.Y, np.mean(parts, axis=0).round(12))
        return max(0.0, area - float(price(sum(map(len, subsets)))))

    found = [set(subset.tolist()) for subset in ensemble.subsets_]
    found += [set()] * (2 - len(found))
    assert ensemble.score_ == pytest.approx(score(found), abs=1e-9)
    for m in range(2):
        for f in range(12):
            changed = [set(s) for s in found]
            changed[m] ^= {f}
            assert score(changed) <= ensemble.score_ + 1e-9


def test_trees_name_the_features_of_their_top_levels(data):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = (rng.random((2000, 30)) < 0.2).astype(int)
    for j in (3, 11, 20):
        X[:, j] = y ^ (rng.random(2000) < 0.2)
    found = rank(X, y, TreeLevels(random_state=1))
    assert set(found.order[:3].tolist()) == {3, 11, 20}
    np.testing.assert_array_equal(
        rank(sp.csr_array(X), y, TreeLevels(random_state=1)).order, found.order
    )
    selector = plain_selector(
        search=RankedSearch(TreeLevels()), criterion="auc", max_features=5, random_state=0
    ).fit(data.X, data.Y)
    assert 1 <= len(selector.selected_) <= 5


@pytest.fixture(scope="module")
def quick():
    """All methods on fewer reports than even the quick way takes."""
    with pytest.MonkeyPatch.context() as patch:
        small = {"n_reports": 1000, "n_features": 120, "n_entries": 8000}
        patch.setattr(
            ruta,
            "make_incidents",
            lambda *at, **named: (
                make_incidents(*at, **named) if at else make_incidents(**{**named, **small})
            ),
        )
        patch.setattr(ruta, "_ENSEMBLE", (1600, 100, 6000))
        return papers.run("ruta", quick=True, seed=2, n_jobs=1)


@pytest.mark.slow
def test_every_method_on_more_reports():
    check_curves(papers.run("ruta", quick=True, seed=2, n_jobs=1))


def test_every_method_has_a_curve(quick):
    check_curves(quick)


def check_curves(quick):
    rows = {r.row.split(" (")[0] for r in quick.records if r.table.startswith("Figures")}
    assert rows == set(ruta.METHODS)
    for record in quick.records:
        assert record.ours is None or np.isfinite(record.ours)
        if record.column in ("training", "validation", "test"):
            assert 0.4 < record.ours <= 1
    text = quick.to_text()
    assert "greedy forward search passes the peak of single best" in text
    assert "0.8230" in text
    assert len({r.row for r in quick.records if r.table.startswith("Section V.F")}) == 3


def test_the_figures_are_drawn(quick, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=quick.figure_size)
    quick.draw(figure)
    assert len(figure.axes) == 6
    assert all(ax.lines for ax in figure.axes)
    figure.savefig(tmp_path / "figures.png")


def test_real_sets_that_cannot_be_had_are_named(monkeypatch):
    def nothing(name, **options):
        raise FileNotFoundError(f"no {name} here")

    monkeypatch.setattr(base, "load", nothing)
    small = make_incidents(600, 40, n_entries=3000, random_state=0)
    rows = ("flat", "flat, dealt out to 10 subsets", "ensemble searched in turns")
    monkeypatch.setattr(ruta, "make_incidents", lambda **options: small)
    monkeypatch.setattr(ruta, "_flat_and_ensemble", lambda *a: dict.fromkeys(rows, (0.9, 0.8, 9)))
    found = papers.run("ruta", n_jobs=1)
    assert any("no tmc2007_500 here" in note for note in found.notes)
    assert {r.table for r in found.records if r.table.startswith("Figures")} == {
        "Figures 1 to 6: incidents (simulated)"
    }
