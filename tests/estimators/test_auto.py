"""What "auto" and presets stand for, and what is kept only if it is more than chance."""

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import chi2_contingency, false_discovery_control, norm
from scipy.stats.contingency import crosstab
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from bayesieve import FeatureVotes, NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, rank
from bayesieve.evaluation.performance import performance
from bayesieve.search import PhaseSearch, ShortlistSearch


def binary(n_rows=240, n_columns=8, strength=0.3, seed=0, n_classes=2):
    """Columns of 0 and 1, of which the first three tell something."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    chance = 0.3 + strength * (np.arange(n_columns) < 3) * (y[:, None] == 1)
    return (rng.random((n_rows, n_columns)) < chance).astype(float), y


# -- the rules -------------------------------------------------------------------------------------


def test_two_plain_calls_agree_whatever_the_seed():
    X, y = load_breast_cancer(return_X_y=True)
    fits = [NaiveBayesSelector(random_state=seed).fit(X, y) for seed in (None, None, 3, 8)]
    for other in fits[1:]:
        assert other.selected_.tolist() == fits[0].selected_.tolist()
        np.testing.assert_array_equal(other.predict_proba(X), fits[0].predict_proba(X))


def test_what_auto_stands_for():
    X, y = binary()
    found = NaiveBayesSelector().fit(X, y).settings_
    assert n_folds(found) == 10
    assert found == {
        "search": PhaseSearch("forward", patience=20, least_gain=0.005),
        "criterion": "probability",
        "cv": found["cv"],
        "validation": None,
        "choice": "proven",
        "reweigh": True,
        "families": None,
        "max_features": None,
    }


def settings(X, y, groups=None, **given):
    return NaiveBayesSelector(**given).fit(X, y, groups=groups).settings_


def n_folds(found):
    assert found["cv"].shuffle
    assert found["cv"].random_state == 0
    return found["cv"].n_splits


def test_settings_follow_the_data():
    X, y = binary()
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:14]])
    assert settings(X[few], y[few])["cv"] == "loo"
    # Leave-one-out has no closed form there: folds.
    sparse = scipy.sparse.csr_array(X[few])
    assert n_folds(settings(sparse, y[few])) == 10
    assert n_folds(settings(X[few], y[few], estimator=NaiveBayes("intervals"))) == 10
    groups = np.arange(y.size) % 4
    assert settings(X, y, groups=groups)["cv"] == 4
    exact = settings(X, y, n_features=2)
    assert (exact["search"], exact["choice"]) == ("forward-backward", "best")
    assert settings(X, y, validation=0.3, random_state=0)["choice"] == "best"
    assert settings(X, y, cv="train")["choice"] == "best"
    assert settings(X, y, estimator=NaiveBayes(smoothing=0))["reweigh"] is False
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=X.shape) + y[:, None]
    assert settings(numbers, y)["reweigh"] is True
    assert settings(numbers, y, estimator=NaiveBayes("gaussian"))["reweigh"] is False
    votes = settings(X, y, estimator=FeatureVotes())
    assert (votes["criterion"], votes["reweigh"]) == ("auc", False)
    labels = settings(X, np.column_stack([y, X[:, 0]]).astype(int))
    assert labels["reweigh"] is False


def test_what_is_given_stays():
    X, y = binary()
    given = {"search": "forward", "criterion": "error", "cv": 3, "choice": "best", "reweigh": False}
    found = settings(X, y, preset="few", max_features=5, **given)
    assert {name: found[name] for name in given} == given
    assert found["max_features"] == 5
    with pytest.raises(ValueError, match="preset must be one of 'few', 'balanced', 'accurate'"):
        NaiveBayesSelector(preset="fewer").fit(X, y)
    with pytest.raises(ValueError, match="preset must be one of"):
        WeightedNaiveBayes(preset="fewer").fit(X, y)


def test_presets():
    X, y = load_breast_cancer(return_X_y=True)
    few = NaiveBayesSelector(preset="few").fit(X, y)
    assert len(few.selected_) <= 10
    assert few.families_ is not None
    accurate = NaiveBayesSelector(preset="accurate").fit(X, y)
    assert accurate.settings_["choice"] == "best"
    assert accurate.path_.chosen == accurate.path_.best
    names = NaiveBayesSelector(preset="few").fit(X[:, :4], y)
    assert names.settings_["max_features"] == 4
    X, y = load_iris(return_X_y=True)
    for preset, most in (("few", 10), ("balanced", 20), ("accurate", 60)):
        model = WeightedNaiveBayes(preset=preset, pairs=False).fit(X, y)
        assert len(model.terms_) <= most
    assert len(WeightedNaiveBayes(preset="few", max_terms=2, price=0.0).fit(X, y).terms_) == 2


def test_a_wide_table_is_cut_by_a_ranking(monkeypatch):
    X, y = binary(300, 60)
    monkeypatch.setattr("bayesieve.estimators._validation._WIDE", 50)
    monkeypatch.setattr("bayesieve.estimators._validation._CUT", 12)
    selector = NaiveBayesSelector().fit(X, y)
    assert selector.settings_["search"] == ShortlistSearch(
        PhaseSearch("forward", patience=20, least_gain=0.005), size=12
    )
    allowed = set(rank(X, y, "mutual-information").order[:12].tolist())
    visited = {unit for step in selector.path_.steps for unit in step.units}
    assert len(visited) > 5
    assert visited <= allowed


@pytest.mark.parametrize("seed", range(3))
def test_a_shortlist_of_all_columns_changes_nothing(seed):
    X, y = binary(200, 9, seed=seed)
    options = {"cv": 5, "criterion": "error", "validation": None}
    whole = NaiveBayesSelector(search="forward-backward", **options).fit(X, y)
    listed = NaiveBayesSelector(search=ShortlistSearch(size=9), **options).fit(X, y)
    assert [s.units for s in listed.path_.steps] == [s.units for s in whole.path_.steps]


def test_shortlists_refuse():
    X, y = binary()
    with pytest.raises(ValueError, match=r"search\.size must be"):
        NaiveBayesSelector(search=ShortlistSearch(size=0)).fit(X, y)
    with pytest.raises(TypeError, match=r"search\.search must be a search object"):
        NaiveBayesSelector(search=ShortlistSearch("forward")).fit(X, y)
    with pytest.raises(ValueError, match="first direction must be one of 'forward'"):
        NaiveBayesSelector(search=ShortlistSearch(PhaseSearch("backward"))).fit(X, y)


# -- more than chance ------------------------------------------------------------------------------


def losses(X, y, columns, train, test):
    """P(Y != y) of the test rows, tables by hand."""
    classes = np.unique(y)
    score = np.zeros((test.size, classes.size))
    for k, c in enumerate(classes):
        mine = X[train][y[train] == c]
        score[:, k] = np.log(len(mine) / train.size)
        for j in columns:
            share = (mine[:, j].sum() + 1) / (len(mine) + 2)
            score[:, k] += np.log(np.where(X[test, j] == 1, share, 1 - share))
    proba = np.exp(score - score.max(1, keepdims=True))
    proba /= proba.sum(1, keepdims=True)
    return 1 - proba[np.arange(test.size), np.searchsorted(classes, y[test])]


def folded(X, y, columns, splits):
    found = np.empty(y.size)
    for train, test in splits:
        found[test] = losses(X, y, columns, train, test)
    return found


def test_the_first_step_proves_by_its_definition():
    X, y = binary(strength=0.4)
    selector = NaiveBayesSelector().fit(X, y)
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    nothing = folded(X, y, [], splits)
    alone = [folded(X, y, [j], splits) for j in range(X.shape[1])]
    best = int(np.argmin([each.mean() for each in alone]))
    proof = selector.proof_
    assert proof.by == "first step"
    assert proof.gain == pytest.approx(nothing.mean() - alone[best].mean(), abs=1e-9)
    spread = np.sqrt(np.square(alone[best] - alone[best].mean()).sum()) / y.size
    assert proof.standard_error == pytest.approx(spread, abs=1e-9)
    assert proof.needed == pytest.approx(1.5 * norm.isf(0.001 / 8))
    assert proof.holds
    assert "more than chance by its first step" in str(proof)


def test_folds_prove_by_their_definition(monkeypatch):
    X, y = binary(150, 12, strength=0.05, seed=2)
    selector = NaiveBayesSelector(min_features=0).fit(X, y)
    proof = selector.proof_
    assert proof.by == "folds"
    # What a search finds, whether or not it is more than chance.
    monkeypatch.setattr("bayesieve.estimators.selector.prove", lambda *_: None)
    search = NaiveBayesSelector(choice="proven", reweigh=False, min_features=0)
    gain = variance = 0.0
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        chosen = search.fit(X[train], y[train]).selected_
        after = losses(X, y, chosen, train, test)
        gain += (losses(X, y, [], train, test) - after).sum()
        variance += np.square(after - after.mean()).sum()
    assert proof.gain == pytest.approx(gain / y.size, abs=1e-9)
    assert proof.standard_error == pytest.approx(np.sqrt(variance) / y.size, abs=1e-9)
    assert proof.holds == (gain > 2 * np.sqrt(variance))


def test_rows_that_prove_do_not_choose_where_a_part_was_to_choose(monkeypatch):
    X, y = binary(150, 12, strength=0.05, seed=2)
    asked = {"criterion": "probability", "choice": "proven", "reweigh": False, "min_features": 0}
    guide, validating = np.split(np.random.default_rng(0).permutation(150), [110])
    guide = np.sort(guide)
    proof = NaiveBayesSelector(cv=5, validation=validating, **asked).fit(X, y).proof_
    assert proof.by == "folds"
    monkeypatch.setattr("bayesieve.estimators.selector.prove", lambda *_: None)
    X, y, gain, variance = X[guide], y[guide], 0.0, 0.0
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        chosen = NaiveBayesSelector(cv=5, **asked).fit(X[train], y[train]).selected_
        after = losses(X, y, chosen, train, test)
        gain += (losses(X, y, [], train, test) - after).sum()
        variance += np.square(after - after.mean()).sum()
    assert proof.gain == pytest.approx(gain / y.size, abs=1e-9)
    assert proof.standard_error == pytest.approx(np.sqrt(variance) / y.size, abs=1e-9)


@pytest.mark.parametrize("kind", ["binary", "numbers"])
def test_noise_is_left_alone(kind):
    kept = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 12)), rng.integers(0, 2, 200)
        X = (X > 0.5).astype(float) if kind == "binary" else X
        kept.append(len(NaiveBayesSelector(min_features=0).fit(X, y).selected_))
    assert sum(n <= 1 for n in kept) >= 9


def test_a_model_of_nothing_says_what_is_commonest():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 5)), (rng.random(200) < 0.3).astype(int)
    selector = NaiveBayesSelector(min_features=0).fit(X, y)
    assert selector.selected_.size == 0
    assert not selector.proof_.holds
    assert (selector.predict(X) == 0).all()
    np.testing.assert_allclose(selector.predict_proba(X)[:, 1], y.mean(), rtol=0.05)
    one = NaiveBayesSelector().fit(X, y)
    assert one.selected_.size == 1


def test_weak_columns_are_kept_where_there_are_enough_rows():
    X, y = binary(3000, 8, strength=0.15, seed=3)
    selector = NaiveBayesSelector(min_features=0).fit(X, y)
    assert selector.proof_.holds
    assert set(selector.selected_) >= {0, 1, 2}


# -- honest figures --------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [NaiveBayesSelector, WeightedNaiveBayes])
def test_figures_without_a_validation_part_are_of_models_that_have_not_seen_the_row(make):
    X, y = binary(200, 6)
    model = make().fit(X, y)
    found = performance(model, X, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    proba = cross_val_predict(make(), X, y, cv=folds, method="predict_proba")
    assert found.rows == "anew"
    assert found.error == pytest.approx(np.mean(proba.argmax(1) != y))
    assert found.log_loss == pytest.approx(-np.log(proba[np.arange(y.size), y]).mean(), abs=1e-9)


def test_a_weighted_model_is_judged_on_new_rows_as_they_are():
    X, y = binary(200, 6)
    model = WeightedNaiveBayes().fit(X, y)
    other, truth = binary(100, 6, seed=9)
    found = performance(model, other, truth)
    assert found.rows == "given"
    assert found.error == pytest.approx(np.mean(model.predict(other) != truth))


def test_groups_stay_together_when_figures_are_made():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 6)
    y = rng.integers(0, 2, 40)[groups]
    # A column that knows the group, and nothing else.
    X = np.column_stack([groups, rng.integers(0, 2, 240)]).astype(float)
    model = NaiveBayesSelector(NaiveBayes("categorical")).fit(X, y)
    assert performance(model, X, y).error < performance(model, X, y, groups=groups).error - 0.1


def test_more_columns_than_rows_are_kept_short():
    X, y = binary(200, 300)
    assert settings(X, y)["max_features"] == 20
    assert settings(X, y, max_features=50)["max_features"] == 50
    assert settings(X[:60], y[:60])["max_features"] == 10
    assert len(NaiveBayesSelector().fit(X, y).selected_) <= 20


def luck_between(X, y, few, best):
    """How many standard errors the columns that say nothing alone would seem to be worth."""
    chances = [chi2_contingency(crosstab(X[:, j], y).count, correction=False)[1] for j in range(10)]
    silent = np.flatnonzero(false_discovery_control(chances) > 0.1)
    beyond = set(best) - set(few)
    lucky, among = beyond & set(silent), set(silent) - set(few)
    if not lucky or len(lucky) == len(among):
        return 1.0
    share = len(lucky) / len(among)
    each = norm.pdf(norm.isf(share)) / share
    return max(1.0, len(lucky) * each / np.sqrt(len(beyond)))


@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_subset_that_is_not_told_apart_from_the_best(seed):
    X, y = binary(300, 10, strength=0.12, seed=seed)
    path = NaiveBayesSelector(reweigh=False).fit(X, y).path_
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    best = folded(X, y, path.subset(path.best), splits)
    wanted = path.best
    by_size = {}
    for i, step in enumerate(path.steps):
        known = by_size.setdefault(step.n_features, i)
        by_size[step.n_features] = min(known, i, key=lambda at: (path.steps[at].key, at))
    for size in sorted(by_size):
        gap = folded(X, y, path.subset(by_size[size]), splits) - best
        error = np.sqrt(np.square(gap - gap.mean()).sum()) / y.size
        luck = luck_between(X, y, path.subset(by_size[size]), path.subset(path.best))
        if size >= 1 and gap.mean() <= error * luck + 1e-12:
            wanted = by_size[size]
            break
    assert path.subset(path.chosen) == path.subset(wanted)
    assert len(path.subset(path.chosen)) <= len(path.subset(path.best))


def test_the_order_of_the_rows_hardly_matters():
    X, y = binary(300, 6)
    order = np.lexsort((*X.T, y))
    shuffled = NaiveBayesSelector().fit(X, y)
    ordered = NaiveBayesSelector().fit(X[order], y[order])
    scores = [model.path_.steps[model.path_.best].score for model in (shuffled, ordered)]
    assert abs(scores[0] - scores[1]) < 0.01


def noise(n_rows=120):
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (n_rows, 5)).astype(float), rng.permutation([0, 1] * (n_rows // 2))


@pytest.mark.parametrize("cv", [10, StratifiedKFold(10)])
def test_fewer_rows_of_a_proof_have_fewer_folds(cv):
    X, y = noise(24)
    assert NaiveBayesSelector(cv=cv, choice="proven").fit(X, y).proof_.by == "folds"


def test_fewer_groups_of_a_proof_have_fewer_folds():
    X, y = noise()
    proof = NaiveBayesSelector().fit(X, y, groups=np.arange(120) % 6).proof_
    assert proof.by == "folds"


def test_figures_of_groups_of_any_kind_and_of_splits_that_name_rows():
    X, y = noise()
    groups = np.array([f"patient {i % 6}" for i in range(120)], dtype=object)
    model = NaiveBayesSelector().fit(X, y, groups=groups)
    assert performance(model, X, y, groups=groups).rows == "anew"
    named = NaiveBayesSelector(cv=list(StratifiedKFold(4).split(X, y))).fit(X, y)
    assert performance(named, X, y).rows == "folds"


# -- combinations ----------------------------------------------------------------------------------


def test_a_validation_part_leaves_fewer_groups_to_the_folds():
    X, y = binary(n_rows=120)
    groups = np.arange(120) % 6
    found = NaiveBayesSelector(validation=0.5, random_state=0).fit(X, y, groups=groups)
    guiding = set(groups[found.guiding_rows_].tolist())
    assert not guiding & set(groups[found.validation_rows_].tolist())
    assert found.settings_["cv"] == len(guiding) == 3


def test_a_validation_part_leaves_fewer_rows_to_the_folds():
    X, _ = binary(n_rows=36)
    y = np.arange(36) % 3
    # Labels have no leave-one-out: they are folded, however few they are.
    found = NaiveBayesSelector(validation=0.5, random_state=0, criterion="auc")
    found.fit(X, (y[:, None] == [0, 1]).astype(int))
    assert n_folds(found.settings_) == 6


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({"forbid": [0]}, 7),
        ({"forbid": [0, 4], "min_features": 2}, 6),
        ({"keep": [0], "forbid": [3]}, 7),
    ],
)
def test_few_columns_are_no_more_than_there_are(given, most):
    X, y = binary()
    found = NaiveBayesSelector(preset="few", **given).fit(X, y)
    assert found.settings_["max_features"] == most
    assert not set(given["forbid"]) & set(found.selected_.tolist())


def test_few_columns_are_as_many_as_are_kept_with_their_groups():
    X, y = binary(n_columns=15)
    given = {"keep": [0], "feature_groups": [list(range(12))]}
    found = NaiveBayesSelector(preset="few", **given).fit(X, y)
    assert set(range(12)) <= set(found.selected_.tolist())
    with pytest.raises(TypeError, match="min_features must be a whole number"):
        NaiveBayesSelector(preset="few", min_features="two").fit(X, y)
