"""What fits give, written down once and compared to the bit ever after.

`python tests/golden.py` writes tests/golden.json anew: only where a result is meant to change.
Every fit names its feature models, search and cv, so that later defaults do not touch it, and uses
nothing but public names.
"""

import hashlib
import json
import tempfile
import warnings
from itertools import cycle
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse

from bayesieve import FeatureVotes, NaiveBayes, WeightedNaiveBayes, load_model, rank, save_model
from bayesieve.criteria import AUC, CRITERIA, SizePenalty
from bayesieve.engine import pack
from bayesieve.search import SEARCHES, DiversifiedSearch, RankedSearch
from plain import plain_selector

FILE = Path(__file__).with_suffix(".json")

MODELS = {
    "bernoulli": "bernoulli",
    "categorical": "categorical",
    "gaussian": "gaussian",
    "gaussian-pooled": "gaussian-pooled",
    "mixture-2": "mixture-2",
    "mixed": dict(enumerate(["bernoulli", "categorical", "gaussian", "gaussian", "bernoulli"])),
}
ROW_CRITERIA = ["error", "probability", "log-likelihood"]
AREAS = {"auc": AUC(), "penalised-auc": AUC(SizePenalty(free=2, scale=10))}


def column(rng, kind, y):
    """Numbers with few digits: the same on every machine."""
    if kind == "bernoulli":
        return (rng.random(y.size) < 0.25 + 0.4 * (y == rng.integers(3))).astype(float)
    if kind == "categorical":
        return (rng.integers(0, 3, y.size) + (y == 1) * rng.integers(0, 2, y.size)).astype(float)
    return np.round(rng.normal(size=y.size) + y * rng.normal(), 2)


def table(model, n_rows=90, n_classes=3, seed=0):
    """Seven columns of the model's kind, some values missing, and classes."""
    rng = np.random.default_rng([seed, n_rows, n_classes])
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    named = MODELS[model]
    kinds = [named] * 7 if isinstance(named, str) else [*named.values()]
    X = np.column_stack([column(rng, kind, y) for kind in kinds])
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y


def sparse_table(seed=1, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, 120)
    X = (rng.random((120, 15)) < 0.1 + 0.25 * (y[:, None] == np.arange(15) % 3)).astype(float)
    return scipy.sparse.csc_array(X), y


def frame(X):
    """Names and nulls, as `pack` reads them."""
    columns = {f"c{j}": pl.Series(X[:, j]).fill_nan(None) for j in range(X.shape[1])}
    return pl.DataFrame(columns)


def labels_of(X):
    rng = np.random.default_rng(2)
    dense = np.asarray(X.todense())
    return np.column_stack(
        [((dense[:, [j, j + 3]].sum(1) + rng.random(len(dense))) > 0.9).astype(int) for j in (0, 1)]
    )


def dense_cases():
    """Every search x criterion, and cv, model and options in turn."""
    models = cycle([*MODELS])
    options = cycle(
        [
            {},
            {"weights": True},
            {"class_weight": "balanced"},
            {"keep": [1]},
            {"feature_groups": [[0, 2]], "max_features": 4},
            {"n_features": 2},
            {"validation": 0.4, "choice": "one-se"},
            {"validation": 0.5},
        ]
    )
    for search in SEARCHES:
        for criterion in ROW_CRITERIA:
            for cv in ("train", 3, "loo"):
                model = next(models)
                if cv == "loo" and model in ("gaussian-pooled", "mixture-2"):
                    model = "gaussian"
                yield f"dense {search} {criterion} {cv} {model}", {
                    "model": model, "search": search, "criterion": criterion, "cv": cv,
                    **next(options),
                }  # fmt: skip


def more_cases():
    """What has no place in the product of searches and criteria."""
    for name in ("mrmr", "cmim", "chi2", "relieff", "weights", "divergence", "score"):
        ranked = RankedSearch(name)
        model = "gaussian" if name in ("weights", "divergence") else "mixed"
        yield f"ranked by {name}", {"model": model, "search": ranked, "criterion": "error", "cv": 3}
    yield "several starts", {
        "model": "bernoulli", "search": DiversifiedSearch("best", random_state=3),
        "criterion": "probability", "cv": "train",
    }  # fmt: skip
    for smoothing in (0, 0.5, "mean"):
        yield f"smoothing {smoothing}", {
            "model": "bernoulli", "search": "forward", "criterion": "log-likelihood", "cv": 3,
            "estimator": {"smoothing": smoothing},
        }  # fmt: skip
    for name, estimator in {
        "uniform": {"priors": "uniform"},
        "given priors": {"priors": [0.2, 0.3, 0.5]},
        "density": {"var_smoothing": 1e-9},
        "rounded": {"rounded": True},
    }.items():
        yield name, {
            "model": "gaussian", "search": "backward", "criterion": "probability", "cv": "train",
            "estimator": estimator,
        }  # fmt: skip
    yield "mapped", {
        "model": "mixed", "search": "forward", "criterion": "probability", "cv": 3, "packed": True,
    }  # fmt: skip


def sparse_cases():
    for search in ("forward", "backward", "diversified", "forward-backward", "sffs", "ranked"):
        for criterion in [*ROW_CRITERIA, *AREAS]:
            for labelled in (False, True):
                kind = "labels" if labelled else "sparse"
                yield f"{kind} {search} {criterion}", {
                    "sparse": True, "labelled": labelled, "search": search, "criterion": criterion,
                    "cv": 3 if search in ("forward", "sffs") else "train",
                    "weights": search == "backward",
                }  # fmt: skip
    for search in ("forward", "diversified"):
        yield f"votes {search}", {
            "sparse": True, "labelled": True, "search": search, "criterion": "auc", "cv": "train",
            "votes": True,
        }  # fmt: skip
    yield "three classes sparse", {
        "sparse": True, "search": "forward", "criterion": "probability", "cv": 3, "n_classes": 3,
    }  # fmt: skip
    yield "dense auc", {
        "model": "categorical", "search": "forward", "criterion": "auc", "cv": 3, "n_classes": 2,
    }  # fmt: skip


def cases():
    """Every fit by name."""
    return dict([*dense_cases(), *more_cases(), *sparse_cases()])


def weighted_cases():
    """Weighted terms; price and pairs are named, so that no inner folds decide."""
    grids = dict(enumerate(["density", "kernel", "intervals-8", "grid-gaussian", "rank-kernel"]))
    for name, case in {
        "binary": {"model": "bernoulli"},
        "categories": {"model": "categorical", "pairs": True},
        "numbers": {"model": "gaussian", "features": "density"},
        "every density": {"model": "mixed", "features": grids, "pairs": True},
        "two classes, pairs": {
            "model": "gaussian", "features": "density", "pairs": True, "n_classes": 2,
        },
        "monotone": {
            "model": "gaussian", "features": "density", "monotone": {1: 1, 4: -1}, "n_classes": 2,
        },
        "row weights": {"model": "categorical", "weights": True, "pairs": True},
        "class weights": {"model": "mixed", "features": grids, "class_weight": {1: 2.5}},
        "balanced": {"model": "bernoulli", "class_weight": "balanced"},
        "missing speaks": {"model": "categorical", "missing": "evidence", "priors": "uniform"},
        "kept and forbidden": {"model": "bernoulli", "keep": [6], "forbid": [0], "max_terms": 3},
        "groups of columns": {"model": "bernoulli", "feature_groups": [[0, 2], [1, 3]]},
        "started": {"model": "categorical", "start": [(0, 3), 5], "pairs": True},
        "families": {"model": "bernoulli", "families": [[0, 1], [2, 3]]},
        "price, ridge, smoothing": {
            "model": "categorical", "price": 3.0, "ridge": 1.0, "smoothing": 0.5,
        },
        "many classes": {"model": "categorical", "n_classes": 40},
        "sparse": {"sparse": True},
        "sparse, pairs, three classes": {"sparse": True, "pairs": True, "n_classes": 3},
        "labels": {"sparse": True, "labelled": True},
        "labels apart": {"sparse": True, "labelled": True, "shared_terms": False},
        "corrected": {
            "model": "mixed", "features": grids, "pairs": True, "corrections": (0.64, 3.0),
        },
        "sparse, corrected": {"sparse": True, "corrections": (2.5, 0.0)},
    }.items():  # fmt: skip
        yield f"weighted {name}", {"price": 1.0, "pairs": False, **case}


def fit_weighted(case, n_jobs=None):
    """The fitted model of a case, and the table it saw."""
    case, fitted_on = dict(case), {}
    n_classes = case.pop("n_classes", None)
    if case.pop("sparse", False):
        X, y = sparse_table(n_classes=n_classes or 2)
        y = labels_of(X) if case.pop("labelled", False) else y
        case["features"] = "bernoulli"
    else:
        model = case.pop("model")
        X, y = table(model, n_rows=160, n_classes=n_classes or 3)
        case.setdefault("features", MODELS[model])
    if case.pop("weights", False):
        fitted_on["sample_weight"] = np.arange(len(y)) % 3
    named = {"max_terms": 60, "corrections": False, **case}
    return WeightedNaiveBayes(n_jobs=n_jobs, **named).fit(X, y, **fitted_on), X


def describe_weighted(model, X):
    """What must not change: terms, weights, every step to the bit, probabilities, the file."""
    paths = model.path_ if isinstance(model.path_, list) else [model.path_]
    steps = [
        (state.unit, float(state.gain).hex(), float(state.loss).hex(), state.terms)
        for path in paths
        for state in path.states
    ]
    probabilities = model.predict_proba(X)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        save_model(model.estimator_, file)
        content = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return {
        "terms": [list(map(int, term["columns"])) for term in model.terms_],
        "steps": len(steps),
        "path": hashlib.sha256(repr(steps).encode()).hexdigest()[:16],
        "last": steps[-1][2],
        "weights": digest(np.concatenate([np.ravel(each) for each in model.weights_])),
        "proba": digest(np.asarray(probabilities)),
        "two terms": digest(np.asarray(model.at(2).predict_proba(X))),
        "some": [float(p).hex() for p in np.ravel(probabilities)[:3]],
        "file": content,
    }


def fit(case, n_jobs=None, folder=None, **more):
    """The fitted selector of a case, and the table it saw."""
    case = {**case, **more}
    weights = {}
    if case.pop("sparse", False):
        X, y = sparse_table(n_classes=case.pop("n_classes", 2))
        if case.pop("labelled", False):
            y = labels_of(X)
        estimator = NaiveBayes("bernoulli")
        if case.pop("votes", False):
            estimator = FeatureVotes()
    else:
        model = case.pop("model")
        X, y = table(model, n_classes=case.pop("n_classes", 3))
        estimator = NaiveBayes(MODELS[model], **case.pop("estimator", {}))
    if case.pop("weights", False):
        weights["sample_weight"] = np.arange(len(y)) % 3 + 1
    data = pack(frame(X), folder) if case.pop("packed", False) else X
    case["criterion"] = AREAS.get(case["criterion"], case["criterion"])
    settings = {"validation": None, "random_state": 5, "n_jobs": n_jobs, **case}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = plain_selector(estimator, **settings).fit(data, y, **weights)
    return selector, X


def digest(array):
    """A number for bits; -0.0 counts as 0.0."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        array = array + 0.0
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def describe(selector, X):
    """What must not change: subset, keys of the path, probabilities, the model file."""
    if hasattr(selector, "feature_names_in_"):
        X = frame(X)
    steps = selector.path_.steps
    keys = [
        (step.action, step.units, step.n_features, str(step.key), str(step.validation_key))
        for step in steps
    ]
    found = {
        "selected": selector.selected_.tolist(),
        "tried": int(selector.n_tried_),
        "steps": len(steps),
        "keys": hashlib.sha256(repr(keys).encode()).hexdigest()[:16],
        "last": keys[-1][3],
        "proba": digest(selector.predict_proba(X)),
        "decision": digest(np.asarray(selector.decision_function(X), float)),
        "some": [float(p).hex() for p in np.ravel(selector.predict_proba(X))[:3]],
    }
    if isinstance(selector.estimator_, NaiveBayes):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.json"
            save_model(selector.estimator_, file)
            found["file"] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            again = load_model(file).predict_proba(X[:, np.sort(selector.selected_)])
        found["loaded"] = digest(again)
    return found


def rankings():
    """Orders and scores of every ranking, dense and sparse."""
    found = {}
    for model in ("bernoulli", "categorical", "gaussian", "mixed"):
        X, y = table(model)
        for method in ("mutual-information", "chi2", "mrmr", "cmim", "relieff"):
            ranking = rank(X, y, method)
            found[f"{method} {model}"] = [ranking.order.tolist(), digest(ranking.scores)]
    X, y = table("gaussian")
    for method in ("divergence", "divergence-normalised", "divergence-sbfs"):
        found[method] = [rank(X, y, method).order.tolist()]
    X, y = sparse_table()
    for method in ("mutual-information", "mrmr", "cmim", "chi2"):
        ranking = rank(X, y, method)
        found[f"{method} sparse"] = [ranking.order.tolist(), digest(ranking.scores)]
    return found


def everything():
    """The whole file."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for i, (name, case) in enumerate(cases().items()):
            room = Path(folder) / str(i)
            room.mkdir()
            found[name] = describe(*fit(case, folder=room))
    weighted = {name: describe_weighted(*fit_weighted(case)) for name, case in weighted_cases()}
    return {"fits": found, "rankings": rankings(), "weighted": weighted}


if __name__ == "__main__":
    assert set(ROW_CRITERIA) <= set(CRITERIA)
    FILE.write_text(json.dumps(everything(), indent=1, sort_keys=True) + "\n")
