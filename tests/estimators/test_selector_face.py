"""NaiveBayesSelector: the same on every machine, at home in scikit-learn, with signs of life."""

import pickle
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline

import bayesieve.estimators.selector
from bayesieve import NaiveBayes
from bayesieve.search import FloatingSearch, GreedySearch, PhaseSearch
from jitless import printed_both_ways
from plain import plain_selector
from tables import binary_table

matplotlib.use("Agg")
SEARCHES = ["forward", "backward", "forward-backward", "backward-forward", "sffs", "sbfs"]


# -- the same on every machine -------------------------------------------------------------------


@pytest.mark.parametrize("search", ["forward", "backward-forward"])
def test_the_same_for_every_number_of_threads(search):
    X, y = binary_table(3000, 150)
    fits = [
        plain_selector(search=search, random_state=0, n_jobs=n, max_features=30).fit(X, y)
        for n in (1, 2, 3)
    ]
    for fit in fits[1:]:
        assert fit.selected_.tolist() == fits[0].selected_.tolist()
        assert [s.key for s in fit.path_.steps] == [s.key for s in fits[0].path_.steps]


def test_two_selectors_at_once_in_threads():
    tables = [binary_table(2500, 100, seed) for seed in range(4)]

    def fit(table):
        return plain_selector(search="forward", random_state=0, n_jobs=2).fit(*table)

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
for i, search in enumerate(("forward", "backward-forward", "sffs")):
    for j, criterion in enumerate(("error", "probability", "log-likelihood")):
        cv = ("train", "loo", 3)[(i + j) % 3]  # all pairs
        selector = NaiveBayesSelector(NaiveBayes(features), search, criterion, cv,
                                      random_state=0).fit(X, y)
        found.append([selector.selected_.tolist(), [s.key for s in selector.path_.steps]])
# Sums near a tie, on which a scan in another order of summation errs differently.
y = np.repeat([0, 1], 512)
X = np.zeros((1024, 2), int)
for j, (a, b) in enumerate([(29, 31), (143, 139)]):
    X[:a, j] = 1
    X[512:512 + b, j] = 1
selector = NaiveBayesSelector(search="forward", validation=None, max_features=1).fit(X, y)
found.append([selector.selected_.tolist(), [s.key for s in selector.path_.steps]])
print(json.dumps(found))
"""


def test_the_same_without_the_jit():
    compiled, interpreted = printed_both_ways(WITHOUT_JIT)
    assert compiled == interpreted
    assert len(compiled) > 1000


@pytest.mark.parametrize("criterion", ["error", "probability", "log-likelihood"])
def test_hundreds_of_copies_of_one_feature(criterion):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    column = ((y == 1) ^ (rng.random(60) < 0.1)).astype(np.uint8)
    X = np.repeat(column[:, None], 700, axis=1)
    selector = plain_selector(search="backward", criterion=criterion, cv="loo", random_state=0)
    selector.fit(X, y)
    scores = np.array([s.score for s in selector.path_.steps])
    assert len(scores) == 700
    assert np.isfinite(scores).all()
    # Copies are equal: the lowest number goes first, and one is as good as all of them.
    assert [s.units[0] for s in selector.path_.steps[1:]] == list(range(699))
    assert selector.selected_.tolist() == [699]
    proba = selector.estimator_.predict_proba(X[:, :1])
    assert np.isfinite(proba).all()
    everything = NaiveBayes().fit(np.hstack([X] * 3), y).predict_proba(np.hstack([X] * 3))
    assert np.isfinite(everything).all()
    if criterion == "log-likelihood":
        assert scores[0] < -35


# -- the scikit-learn face -----------------------------------------------------------------------


def test_the_same_features_as_scikit_learns_sequential_selector():
    X, y = binary_table(200, 9, 2)
    everything = np.arange(200)
    for direction in ("forward", "backward"):
        for cv in ([(everything, everything)], StratifiedKFold(5)):
            peer = SequentialFeatureSelector(
                BernoulliNB(), n_features_to_select=4, direction=direction, cv=cv
            ).fit(X, y)
            ours = plain_selector(
                search=direction, criterion="error", cv=cv, validation=None, n_features=4
            ).fit(X, y)
            assert np.flatnonzero(peer.get_support()).tolist() == sorted(ours.selected_.tolist())


def test_frames_names_and_pipelines():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = plain_selector(search="forward", max_features=6, random_state=0)
    selector.set_output(transform="pandas").fit(X, y)
    names = selector.get_feature_names_out()
    assert selector.transform(X).columns.tolist() == names.tolist()
    assert selector.estimator_.feature_names_in_.tolist() == names.tolist()
    assert selector.estimator_.predict(X[names]).tolist() == selector.predict(X).tolist()
    polars = plain_selector(search="forward", max_features=6, random_state=0)
    polars.fit(pl.from_pandas(X), y)
    assert polars.selected_.tolist() == selector.selected_.tolist()
    np.testing.assert_array_equal(
        polars.predict_proba(pl.from_pandas(X)), selector.predict_proba(X)
    )
    named = plain_selector(
        keep=["mean radius"], feature_groups=[["mean area", "worst area"]], random_state=0
    ).fit(X, y)
    chosen = set(named.get_feature_names_out())
    assert "mean radius" in chosen
    assert len(chosen & {"mean area", "worst area"}) in (0, 2)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.predict_proba(X), selector.predict_proba(X))
    pipe = make_pipeline(plain_selector(search="forward", random_state=0), GaussianNB())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(
        plain_selector(random_state=0),
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
    selector = plain_selector(cv="loo", random_state=0).fit(frame, y)
    assert set(selector.get_feature_names_out()) >= {"heat"}
    assert selector.score(frame, y) > 0.85
    assert selector.transform(frame).shape == (200, len(selector.selected_))


def test_the_path_as_a_table_and_a_picture():
    X, y = binary_table()
    selector = plain_selector(random_state=0).fit(X, y)
    frame = selector.path_.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [
        "step", "phase", "action", "term", "n_terms", "n_features", "gain", "score",
        "validation_error",
    ]  # fmt: skip
    assert len(frame) == len(selector.path_)
    assert isinstance(selector.path_.to_frame("polars"), pl.DataFrame)
    assert "Path of" in repr(selector.path_)
    for criterion in ("probability", "log-likelihood"):
        for share in (0.5, None):
            fitted = plain_selector(criterion=criterion, validation=share, random_state=0).fit(X, y)
            ax = fitted.path_.plot()
            assert ax.get_xlabel() == "number of features"
            labels = [text.get_text() for text in ax.get_legend().get_texts()]
            chosen = len(fitted.selected_)
            assert any(label.startswith(f"chosen: {chosen} features") for label in labels)
            matplotlib.pyplot.close(ax.figure)


def test_one_warning_for_names_that_are_gone():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = plain_selector(search="forward", max_features=3, random_state=0).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.predict(X.to_numpy())
    assert len(caught) == 1


def test_a_refit_forgets_names():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = plain_selector(search="forward", max_features=3, random_state=0).fit(X, y)
    selector.fit(X.to_numpy(), y)
    assert not hasattr(selector, "feature_names_in_")
    assert selector.get_feature_names_out()[0].startswith("x")


# -- signs of life -------------------------------------------------------------------------------


def test_progress_goes_to_standard_error(capsys, monkeypatch):
    X, y = binary_table()
    plain_selector(random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("bayesieve.search.progress._LOG_PAUSE", 0.0)
    plain_selector(random_state=0, progress=True).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "backward: step 2, 11 features, score 0." in err
    assert err.endswith(" s\n")


@pytest.mark.skipif(
    not bayesieve.estimators.selector.SUPPORTED, reason="scikit-learn without callbacks"
)
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
    selector = plain_selector(search="forward", random_state=0)
    selector.set_callbacks(whole).fit(X, y)
    assert whole.ended
    assert whole.steps == len(selector.path_) == 13
    short = Count(5)
    selector.set_callbacks(short).fit(X, y)
    assert len(selector.path_) == 5
    assert len(selector.selected_) <= 4


@pytest.mark.usefixtures("usual_signals")
def test_interruption_leaves_a_clean_state():
    X, y = binary_table(400, 40)
    selector = plain_selector(search="forward", random_state=0, n_jobs=2).fit(X[:, :5], y)
    before = selector.selected_.tolist()

    class Interrupt(GreedySearch):
        """Ctrl-C when nothing that may be chosen has been visited."""

        def steps(self, objective, limits):
            objective.start((), "forward")
            objective.score_add(list(range(40)))
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


def test_importing_and_fitting_need_no_extra(tmp_path):
    """What `pip install bayesieve` leaves out is not needed to fit, save, export and explain.

    Importing compiles nothing, and no file appears where the user works but the one asked for.
    """
    code = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in (
            "polars", "jinja2", "typer", "starlette", "uvicorn", "dask", "distributed", "matplotlib"
        ):
            raise ImportError(name)
sys.meta_path.insert(0, Without())
import bayesieve
assert "numba" not in sys.modules
import numpy as np
from bayesieve import NaiveBayesSelector, WeightedNaiveBayes, explain, load_model, save_model
from bayesieve.export import to_python, to_sql
X = np.repeat([[0.0, 1.0], [1.0, 1.0]], 20, axis=0)
model = WeightedNaiveBayes(pairs=False, price=1.0).fit(X, X[:, 0])
save_model(model, "model.json")
assert (load_model("model.json").predict(X[:, :1]) == X[:, 0]).all()
explain(model, X[:1]), to_sql(model, "t"), to_python(model)
rng = np.random.default_rng(0)
NaiveBayesSelector().fit(rng.integers(0, 2, (50, 4)), rng.integers(0, 2, 50))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert [each.name for each in Path(tmp_path).iterdir()] == ["model.json"]
