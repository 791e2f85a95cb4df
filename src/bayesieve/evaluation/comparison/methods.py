"""Methods by name: ours, scikit-learn's on tables made plain, and any that a module makes."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ...checks import choose
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.selector import NaiveBayesSelector
from ...estimators.weighted import WeightedNaiveBayes
from .cell import Classifier
from .encoder import AnyScaler, PlainNumbers

_ALLOWED = (
    "methods must be names, scikit-learn classifiers or pipelines, or a dict of name -> either"
)


def _sklearn(name: str, **parameters: object) -> Any:
    """An estimator of scikit-learn, whose modules are imported when they are wanted only."""
    module, _, kind = name.partition(".")
    return getattr(importlib.import_module(f"sklearn.{module}"), kind)(**parameters)


def _plain(*steps: object) -> Classifier:
    """Steps behind one that makes numbers of any table."""
    from sklearn.pipeline import make_pipeline

    made: Classifier = make_pipeline(PlainNumbers(), *steps)
    return made


def _scaled(method: object) -> Classifier:
    return _plain(AnyScaler(), method)


def _dense(X: object) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _filled(*steps: object) -> Classifier:
    """Sparse rows in full, for methods that read nothing else."""
    full = _sklearn(
        "preprocessing.FunctionTransformer",
        func=_dense,
        accept_sparse=True,
        feature_names_out="one-to-one",
    )
    return _plain(full, *steps)


#: Methods by name; each is made anew.
METHODS: dict[str, Callable[[], Classifier]] = {
    "default": NaiveBayesSelector,
    "forward": lambda: NaiveBayesSelector(search="forward"),
    "forward-folds": lambda: NaiveBayesSelector(search="forward", cv=5, validation=None),
    "weighted": WeightedNaiveBayes,
    "naive-bayes": NaiveBayes,
    "gaussian-nb": lambda: _filled(_sklearn("naive_bayes.GaussianNB")),
    "filter-nb": lambda: _filled(
        _sklearn("feature_selection.VarianceThreshold"),  # constant columns have no F
        _sklearn("feature_selection.SelectPercentile", percentile=25),
        _sklearn("naive_bayes.GaussianNB"),
    ),
    "logistic": lambda: _scaled(_sklearn("linear_model.LogisticRegression", max_iter=1000)),
    "linear-svm": lambda: _scaled(_sklearn("svm.LinearSVC")),
    "svm": lambda: _scaled(_sklearn("svm.SVC")),
    "lda": lambda: _filled(_sklearn("discriminant_analysis.LinearDiscriminantAnalysis")),
    "nearest": lambda: _scaled(_sklearn("neighbors.KNeighborsClassifier")),
    "tree": lambda: _plain(_sklearn("tree.DecisionTreeClassifier")),
    "forest": lambda: _plain(_sklearn("ensemble.RandomForestClassifier")),
    "boosting": lambda: _filled(_sklearn("ensemble.HistGradientBoostingClassifier")),
    "majority": lambda: _sklearn("dummy.DummyClassifier"),
}


def named_method(name: str) -> Classifier:
    """A method by its name, or from ``module:factory``.

    Parameters
    ----------
    name : str
        A key of `METHODS`; or a module and a function in it that returns a classifier.

    Examples
    --------
    >>> from bayesieve.evaluation.comparison.methods import named_method
    >>> named_method("naive-bayes")
    NaiveBayes()
    >>> named_method("sklearn.naive_bayes:GaussianNB")
    GaussianNB()
    """
    if isinstance(name, str) and ":" in name:
        return _imported(name)
    return METHODS[choose("methods", name, METHODS)]()


def _imported(name: str) -> Classifier:
    module, _, factory = name.partition(":")
    try:
        made: Classifier = getattr(importlib.import_module(module), factory)()
    except Exception as error:
        raise ValueError(
            f"methods: {name!r} must name a module and a function in it that takes nothing and "
            f"returns a classifier; got {type(error).__name__}: {error}."
        ) from error
    return made


def read_methods(methods: object) -> dict[str, Classifier]:
    """The methods by name, each of them judged."""
    if isinstance(methods, Mapping):
        given = [(str(name), each) for name, each in methods.items()]
    else:
        if isinstance(methods, str) or hasattr(methods, "fit"):
            methods = [methods]
        if not isinstance(methods, list | tuple):
            raise TypeError(f"{_ALLOWED}; got {methods!r}.")
        given = [(each if isinstance(each, str) else type(each).__name__, each) for each in methods]
    if not given:
        raise ValueError(f"{_ALLOWED}; got none. Give at least one.")
    names = [name for name, _ in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"methods must have names that differ; got {twice!r} twice. Give a dict with a name "
            "for each."
        )
    found = {}
    for name, each in given:
        method = named_method(each) if isinstance(each, str) else each
        _check(name, method)
        found[name] = method
    return found


def _check(name: str, method: object) -> None:
    """Can it be copied, fitted and asked?"""
    if isinstance(method, type):
        raise TypeError(f"{_ALLOWED}; got the class {method.__name__}. Call it: {name}().")
    lacks = [each for each in ("fit", "predict", "get_params") if not hasattr(method, each)]
    if lacks:
        raise TypeError(
            f"{_ALLOWED}; got {type(method).__name__} for {name!r}, which has no {lacks[0]}. A "
            "transformer needs a classifier behind it: make_pipeline(..., GaussianNB())."
        )
