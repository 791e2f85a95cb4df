"""NaiveBayesSelector: what its docstring promises."""

import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline

import bayesieve.callbacks
from bayesieve import NaiveBayes, NaiveBayesSelector
from bayesieve.progress import ProgressLine
from bayesieve.search import FloatingSearch, GreedySearch, PhaseSearch

matplotlib.use("Agg")
SEARCHES = ["forward", "backward", "forward-backward", "backward-forward", "sffs", "sbfs"]


def binary_table(n_rows=200, n_columns=12, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = (rng.random((n_rows, n_columns)) < 0.3).astype(np.uint8)
    for j in range(0, n_columns, 2):
        X[:, j] ^= ((y == j % n_classes) & (rng.random(n_rows) < 0.6)).astype(np.uint8)
    return X, y


# -- the choice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
def test_validation_chooses_by_error_then_size_then_first_visited(search):
    X, y = binary_table()
    selector = NaiveBayesSelector(search=search, random_state=0).fit(X, y)
    guiding, validating = selector.guiding_rows_, selector.validation_rows_
    assert sorted([*guiding, *validating]) == list(range(len(y)))
    ranks = []
    for i, step in enumerate(selector.path_.steps):
        columns = selector.path_.subset(i)
        error = 1.0
        if columns:
            model = NaiveBayes().fit(X[guiding][:, columns], y[guiding])
            error = 1 - model.score(X[validating][:, columns], y[validating])
            assert step.validation_error == pytest.approx(error, abs=1e-12)
        assert len(columns) == step.n_features
        ranks.append((error, len(columns) or 10**6, i))
    assert selector.path_.chosen == min(ranks)[2]
    assert sorted(selector.selected_.tolist()) == np.flatnonzero(selector.support_).tolist()


def test_validation_never_steers():
    X, y = binary_table()
    one = NaiveBayesSelector(random_state=0).fit(X, y)
    other = y.copy()
    rows = one.validation_rows_
    other[rows] = np.random.default_rng(1).permutation(y[rows])
    two = NaiveBayesSelector(random_state=0).fit(X, other)
    if np.array_equal(one.validation_rows_, two.validation_rows_):
        assert [s.units for s in one.path_.steps] == [s.units for s in two.path_.steps]
        assert [s.score for s in one.path_.steps] == [s.score for s in two.path_.steps]
    assert [s.validation_error for s in one.path_.steps] != [
        s.validation_error for s in two.path_.steps
    ]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_split_is_stratified_and_spares_lone_rows(share):
    y = np.r_[np.zeros(60, int), np.ones(30, int), 2]
    X = np.random.default_rng(0).integers(0, 2, (91, 4))
    selector = NaiveBayesSelector(validation=share, random_state=3).fit(X, y)
    held_out = np.bincount(y[selector.validation_rows_], minlength=3)
    assert held_out.tolist() == [round(60 * share), round(30 * share), 0]


def test_without_validation_the_guiding_score_chooses():
    X, y = binary_table()
    selector = NaiveBayesSelector(search="forward", validation=None, cv=5).fit(X, y)
    best = min((s.score, s.n_features, i) for i, s in enumerate(selector.path_.steps) if i)
    assert selector.path_.chosen == best[2]
    assert selector.validation_rows_.size == 0
    assert np.isnan(selector.path_.steps[0].validation_error)


def test_path_errors_are_the_models_errors():
    X, y = load_wine(return_X_y=True)
    selector = NaiveBayesSelector(criterion="error", validation=None, search="backward").fit(X, y)
    chosen = selector.path_.steps[selector.path_.chosen]
    assert chosen.score == pytest.approx(1 - selector.score(X, y), abs=1e-12)
    fresh = NaiveBayes().fit(X[:, selector.support_], y)
    np.testing.assert_allclose(
        fresh.predict_proba(X[:, selector.support_]), selector.predict_proba(X), atol=1e-10
    )


def test_frozen_mean_smoothing_survives_the_selection():
    X, y = binary_table()
    model = NaiveBayes(smoothing="mean")
    selector = NaiveBayesSelector(
        model, search="forward", criterion="error", validation=None, n_features=3
    ).fit(X, y)
    everything = model.fit(X, y).terms(X)[:, np.flatnonzero(selector.support_)]
    np.testing.assert_array_equal(selector.estimator_.terms(X[:, selector.support_]), everything)
    chosen = selector.path_.steps[selector.path_.chosen]
    assert chosen.score == pytest.approx(1 - selector.score(X, y), abs=1e-12)


# -- order and sizes -----------------------------------------------------------------------------


def test_forward_lists_features_as_they_joined_backward_the_last_dropped_first():
    X, y = binary_table()
    options = {"validation": None, "n_features": 5}
    forward = NaiveBayesSelector(search="forward", **options).fit(X, y)
    joined = [s.units[0] for s in forward.path_.steps if s.action == "add"]
    assert forward.selected_.tolist() == joined[:5]
    backward = NaiveBayesSelector(search="backward", **options).fit(X, y)
    dropped = [s.units[0] for s in backward.path_.steps if s.action == "drop"]
    last = set(range(12)) - set(dropped)
    assert backward.selected_.tolist() == [*last, *dropped[::-1]][:5]


@pytest.mark.parametrize("search", SEARCHES)
def test_bounds(search):
    X, y = binary_table()
    options = {"search": search, "random_state": 0}
    exact = NaiveBayesSelector(n_features=4, **options).fit(X, y)
    assert len(exact.selected_) == 4
    few = NaiveBayesSelector(max_features=2, **options).fit(X, y)
    assert 1 <= len(few.selected_) <= 2
    many = NaiveBayesSelector(min_features=7, **options).fit(X, y)
    assert len(many.selected_) >= 7
    kept = NaiveBayesSelector(keep=[11, 3], max_features=3, **options).fit(X, y)
    assert {3, 11} <= set(kept.selected_.tolist())
    assert all({3, 11} <= set(kept.path_.subset(i)) for i in range(len(kept.path_)))


def test_the_empty_subset_only_on_request():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (90, 5)), np.repeat([0, 0, 1], 30)
    assert len(NaiveBayesSelector(random_state=0).fit(X, y).selected_) >= 1
    nothing = NaiveBayesSelector(min_features=0, criterion="error", random_state=0).fit(X, y)
    assert nothing.selected_.size == 0
    assert (nothing.predict(X) == 0).all()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert nothing.transform(X).shape == (90, 0)


def test_stop_at_the_first_step_that_does_not_help():
    X, y = binary_table()
    for direction in ("forward", "backward"):
        search = GreedySearch(direction, stop="no-improvement")
        selector = NaiveBayesSelector(search=search, criterion="error", cv=5, validation=None)
        scores = [s.score for s in selector.fit(X, y).path_.steps]
        assert all(later < earlier for earlier, later in pairwise(scores))
        whole = NaiveBayesSelector(search=direction, criterion="error", cv=5, validation=None)
        went_on = [s.score for s in whole.fit(X, y).path_.steps]
        assert went_on[: len(scores)] == scores
        assert went_on[len(scores)] >= scores[-1]


def test_phases_end_when_the_guiding_score_does_not_improve():
    X, y = binary_table(seed=5)
    selector = NaiveBayesSelector(search="forward-backward", cv=5, validation=None).fit(X, y)
    phases = {}
    for step in selector.path_.steps:
        phases.setdefault(step.phase, []).append(step.score)
    best = [min(scores[p == 0 :]) for p, scores in phases.items()]
    assert all(later < earlier for earlier, later in pairwise(best[:-1]))
    assert best[-1] >= min(best[:-1])


# -- what it is computed on ----------------------------------------------------------------------


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), cv=st.sampled_from(["train", "loo"]), balanced=st.booleans())
def test_weights_are_repeats(seed, cv, balanced):
    X, y = binary_table(60, 6, seed)
    weights = np.random.default_rng(seed).integers(0, 4, 60)
    weights[:6] = 1
    y[:6] = [0, 1, 2, 0, 1, 2]
    rows = np.repeat(np.arange(60), weights)
    selector = NaiveBayesSelector(
        cv=cv, validation=None, class_weight="balanced" if balanced else None
    )
    weighted = clone(selector).fit(X, y, sample_weight=weights)
    repeated = clone(selector).fit(X[rows], y[rows])
    assert [s.units for s in weighted.path_.steps] == [s.units for s in repeated.path_.steps]
    assert [s.score for s in weighted.path_.steps] == [s.score for s in repeated.path_.steps]
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-10)


def test_balanced_weights_give_the_balanced_error():
    from sklearn.metrics import balanced_accuracy_score

    X, y = binary_table(150, 8, 1)
    keep = (y != 2) | (np.arange(150) % 5 == 0)
    X, y = X[keep], y[keep]
    selector = NaiveBayesSelector(
        criterion="error", validation=None, class_weight="balanced", n_features=3
    ).fit(X, y)
    chosen = selector.path_.steps[selector.path_.chosen]
    assert chosen.score == pytest.approx(
        1 - balanced_accuracy_score(y, selector.predict(X)), abs=1e-12
    )
    mapped = NaiveBayesSelector(
        criterion="error", validation=None, class_weight={0: 2.0, 1: 2, 2: 2}, n_features=3
    ).fit(X, y)
    plain = NaiveBayesSelector(criterion="error", validation=None, n_features=3).fit(X, y)
    assert mapped.path_.steps[-1].score == pytest.approx(plain.path_.steps[-1].score)


@pytest.mark.parametrize(
    "cv", [4, StratifiedKFold(3, shuffle=True, random_state=1), ShuffleSplit(5, random_state=0),
           RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)]
)  # fmt: skip
def test_any_splitter_gives_scikit_learns_scores(cv):
    X, y = load_wine(return_X_y=True)
    selector = NaiveBayesSelector(
        NaiveBayes(var_smoothing=1e-9), "forward", "error", cv, validation=None
    ).fit(X, y)
    splitter = StratifiedKFold(cv) if isinstance(cv, int) else cv
    extra = 1e-9 * X.var(0).max()
    for i in (1, 3, len(selector.path_) - 1):
        columns = selector.path_.subset(i)
        wrong = total = 0
        for train, test in splitter.split(X, y):
            share = extra / X[train][:, columns].var(0).max()
            peer = GaussianNB(var_smoothing=share).fit(X[train][:, columns], y[train])
            wrong += (peer.predict(X[test][:, columns]) != y[test]).sum()
            total += test.size
        assert selector.path_.steps[i].score == pytest.approx(wrong / total, abs=1e-12)


def test_leave_one_out_by_name_by_splitter_and_by_folds():
    X, y = binary_table(40, 5)
    paths = [
        NaiveBayesSelector(cv=cv, validation=None).fit(X, y).path_
        for cv in ("loo", LeaveOneOut(), list(LeaveOneOut().split(X)))
    ]
    for path in paths[1:]:
        assert [s.units for s in path.steps] == [s.units for s in paths[0].steps]
        assert [s.score for s in path.steps] == [s.score for s in paths[0].steps]


def test_groups_reach_the_splitter_and_row_numbers_the_guiding_part():
    X, y = binary_table(90, 5)
    groups = np.arange(90) // 10
    grouped = NaiveBayesSelector(cv=GroupKFold(3), validation=None).fit(X, y, groups=groups)
    listed = list(GroupKFold(3).split(X, y, groups))
    by_rows = NaiveBayesSelector(cv=listed, validation=None).fit(X, y)
    assert [s.score for s in grouped.path_.steps] == [s.score for s in by_rows.path_.steps]
    halved = NaiveBayesSelector(cv=listed, validation=0.5, random_state=0).fit(X, y)
    assert len(halved.path_) >= 5


# -- the same on every machine -------------------------------------------------------------------


@pytest.mark.parametrize("search", ["forward", "backward-forward"])
def test_the_same_for_every_number_of_threads(search):
    X, y = binary_table(3000, 150)
    fits = [
        NaiveBayesSelector(search=search, random_state=0, n_jobs=n, max_features=30).fit(X, y)
        for n in (1, 2, 3)
    ]
    for fit in fits[1:]:
        assert fit.selected_.tolist() == fits[0].selected_.tolist()
        assert [s.key for s in fit.path_.steps] == [s.key for s in fits[0].path_.steps]


def test_two_selectors_at_once_in_threads():
    tables = [binary_table(2500, 100, seed) for seed in range(4)]

    def fit(table):
        return NaiveBayesSelector(search="forward", random_state=0, n_jobs=2).fit(*table)

    wanted = [fit(table) for table in tables]
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(fit, tables))
    for one, other in zip(wanted, got, strict=True):
        assert [s.key for s in one.path_.steps] == [s.key for s in other.path_.steps]


WITHOUT_JIT = """
import json, sys
import numpy as np
from bayesieve import NaiveBayes, NaiveBayesSelector
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 45)
X = np.column_stack([(rng.random((45, 3)) < 0.3 + 0.2 * (y == 1)[:, None]).astype(float),
                     rng.integers(0, 4, (45, 2)), rng.normal(size=(45, 2)) + y[:, None]])
features = {3: "categorical", 4: "categorical"}
found = []
for search in ("forward", "backward-forward", "sffs"):
    for criterion in ("error", "probability", "log-likelihood"):
        for cv in ("train", "loo", 3):
            selector = NaiveBayesSelector(NaiveBayes(features), search, criterion, cv,
                                          random_state=0).fit(X, y)
            found.append([selector.selected_.tolist(), [s.key for s in selector.path_.steps]])
print(json.dumps(found))
"""


def test_the_same_without_the_jit():
    outputs = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", WITHOUT_JIT],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1000


@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
def test_two_thousand_copies_of_one_feature(criterion):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    column = ((y == 1) ^ (rng.random(60) < 0.1)).astype(np.uint8)
    X = np.repeat(column[:, None], 2000, axis=1)
    selector = NaiveBayesSelector(search="backward", criterion=criterion, cv="loo", random_state=0)
    selector.fit(X, y)
    scores = np.array([s.score for s in selector.path_.steps])
    assert len(scores) == 2000
    assert np.isfinite(scores).all()
    # Copies are equal: the lowest number goes first, and one is as good as two thousand.
    assert [s.units[0] for s in selector.path_.steps[1:]] == list(range(1999))
    assert selector.selected_.tolist() == [1999]
    proba = selector.estimator_.predict_proba(X[:, :1])
    assert np.isfinite(proba).all()
    everything = NaiveBayes().fit(X, y).predict_proba(X)
    assert np.isfinite(everything).all()
    if criterion == "log-likelihood":
        assert scores[0] < -100


# -- the scikit-learn face -----------------------------------------------------------------------


def test_the_same_features_as_scikit_learns_sequential_selector():
    X, y = binary_table(300, 15, 2)
    everything = np.arange(300)
    for direction in ("forward", "backward"):
        for cv in ([(everything, everything)], StratifiedKFold(5)):
            peer = SequentialFeatureSelector(
                BernoulliNB(), n_features_to_select=6, direction=direction, cv=cv
            ).fit(X, y)
            ours = NaiveBayesSelector(
                search=direction, criterion="error", cv=cv, validation=None, n_features=6
            ).fit(X, y)
            assert np.flatnonzero(peer.get_support()).tolist() == sorted(ours.selected_.tolist())


def test_frames_names_and_pipelines():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = NaiveBayesSelector(search="forward", max_features=6, random_state=0)
    selector.set_output(transform="pandas").fit(X, y)
    names = selector.get_feature_names_out()
    assert selector.transform(X).columns.tolist() == names.tolist()
    assert selector.estimator_.feature_names_in_.tolist() == names.tolist()
    assert selector.estimator_.predict(X[names]).tolist() == selector.predict(X).tolist()
    polars = NaiveBayesSelector(search="forward", max_features=6, random_state=0)
    polars.fit(pl.from_pandas(X), y)
    assert polars.selected_.tolist() == selector.selected_.tolist()
    np.testing.assert_array_equal(
        polars.predict_proba(pl.from_pandas(X)), selector.predict_proba(X)
    )
    named = NaiveBayesSelector(
        keep=["mean radius"], feature_groups=[["mean area", "worst area"]], random_state=0
    ).fit(X, y)
    chosen = set(named.get_feature_names_out())
    assert "mean radius" in chosen
    assert len(chosen & {"mean area", "worst area"}) in (0, 2)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.predict_proba(X), selector.predict_proba(X))
    pipe = make_pipeline(NaiveBayesSelector(search="forward", random_state=0), GaussianNB())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(
        NaiveBayesSelector(random_state=0),
        {"search": ["forward", PhaseSearch("forward"), FloatingSearch("forward")],
         "estimator__smoothing": [0.5, 1.0], "estimator": [NaiveBayes()]},
        cv=2,
    ).fit(X.iloc[:, :5], y)  # fmt: skip
    assert search.best_score_ > 0.8


def test_mixed_text_columns():
    rng = np.random.default_rng(0)
    y = rng.choice(["ill", "well"], 200)
    frame = pd.DataFrame(
        {
            "fever": np.where(y == "ill", "yes", rng.choice(["yes", "no"], 200)),
            "noise": rng.choice(list("abc"), 200),
            "heat": rng.normal(37, 0.3, 200) + (y == "ill"),
        }
    )
    frame.loc[::7, "fever"] = None
    selector = NaiveBayesSelector(cv="loo", random_state=0).fit(frame, y)
    assert set(selector.get_feature_names_out()) >= {"heat"}
    assert selector.score(frame, y) > 0.85
    assert selector.transform(frame).shape == (200, len(selector.selected_))


def test_the_path_as_a_table_and_a_picture():
    X, y = binary_table()
    selector = NaiveBayesSelector(random_state=0).fit(X, y)
    frame = selector.path_.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [
        "step", "phase", "action", "feature", "n_features", "score", "validation_error",
    ]  # fmt: skip
    assert len(frame) == len(selector.path_)
    assert isinstance(selector.path_.to_frame("polars"), pl.DataFrame)
    assert "Path of" in repr(selector.path_)
    for criterion in ("probability", "log-likelihood"):
        for share in (0.5, None):
            fitted = NaiveBayesSelector(criterion=criterion, validation=share, random_state=0).fit(
                X, y
            )
            ax = fitted.path_.plot()
            assert ax.get_xlabel() == "number of features"
            assert any("chosen" in text.get_text()
                       for each in ax.figure.axes for text in each.texts)  # fmt: skip
            matplotlib.pyplot.close(ax.figure)


def test_a_refit_forgets_names():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = NaiveBayesSelector(search="forward", max_features=3, random_state=0).fit(X, y)
    selector.fit(X.to_numpy(), y)
    assert not hasattr(selector, "feature_names_in_")
    assert selector.get_feature_names_out()[0].startswith("x")


# -- signs of life -------------------------------------------------------------------------------


def test_progress_is_one_line_on_standard_error(capsys, monkeypatch):
    X, y = binary_table()
    NaiveBayesSelector(random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("bayesieve.progress._PAUSE", 0.0)
    NaiveBayesSelector(random_state=0, progress=True).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "backward: step 2, 11 features, score 0." in err
    assert err.rstrip(" \n").endswith(" s")
    assert err.count("\n") == 1
    line = ProgressLine(io.StringIO())
    line.close()


@pytest.mark.skipif(not bayesieve.callbacks.SUPPORTED, reason="scikit-learn without callbacks")
def test_scikit_learns_callbacks_hear_every_step_and_may_stop():
    X, y = binary_table()

    class Count:
        """A callback that stops the search after some steps."""

        def __init__(self, most):
            self.most, self.steps, self.ended = most, 0, False

        def setup(self, estimator, context):
            self.steps = 0

        def teardown(self, estimator, context):
            self.ended = True

        def on_fit_task_begin(self, estimator, context):
            """Nothing to do before a step."""

        def on_fit_task_end(self, estimator, context):
            self.steps += context.parent is not None
            return self.steps >= self.most

    whole = Count(10**9)
    selector = NaiveBayesSelector(search="forward", random_state=0)
    selector.set_callbacks(whole).fit(X, y)
    assert whole.ended
    assert whole.steps == len(selector.path_) == 13
    short = Count(5)
    selector.set_callbacks(short).fit(X, y)
    assert len(selector.path_) == 5
    assert len(selector.selected_) <= 4


def test_interruption_leaves_a_clean_state():
    X, y = binary_table(400, 40)
    selector = NaiveBayesSelector(search="forward", random_state=0, n_jobs=2).fit(X[:, :5], y)
    before = selector.selected_.tolist()

    class Interrupt(GreedySearch):
        """Ctrl-C after three steps."""

        def steps(self, objective, limits):
            for i, _ in enumerate(super().steps(objective, limits)):
                if i == 3:
                    signal.raise_signal(signal.SIGINT)
                yield

    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        selector.set_params(search=Interrupt("forward")).fit(X, y)
    assert threading.active_count() == n_threads
    assert selector.selected_.tolist() == before
    assert selector.n_features_in_ == 5
    assert selector.predict(X[:, :5]).shape == (400,)
    selector.set_params(search="forward").fit(X, y)
    assert selector.n_features_in_ == 40


def test_importing_does_not_import_numba():
    code = "import sys, bayesieve; sys.exit('numba' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_file_is_written_where_the_user_works(tmp_path):
    code = (
        "import numpy as np; from bayesieve import NaiveBayesSelector; "
        "rng = np.random.default_rng(0); X = rng.integers(0, 2, (50, 4)); "
        "NaiveBayesSelector().fit(X, rng.integers(0, 2, 50))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert list(Path(tmp_path).iterdir()) == []
