"""Methods and data sets of a comparison, by name; and one cell: a method fitted and scored."""

import importlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ...checks import Array, Bools, Ints, choose
from ...data.result import Result
from ...data.sample import is_label_matrix
from ...data.storage import PackedTable
from ...data.tables import RawTable, Table, is_frame, read_table
from ...estimators.card import ScoreCard
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.selector import NaiveBayesSelector
from ...estimators.weighted import WeightedNaiveBayes
from ...models.base import Floats
from ...search.checkpoint import fingerprint
from ..crossfit import fresh_copy


class PlainNumbers(TransformerMixin, BaseEstimator):
    """Texts become columns of 0 and 1, one a level; missing numbers become the median.

    Sparse tables stay as they are.  Levels and medians are those of the rows given to `fit`; a text
    that was not among them, or is missing, is 0 in all columns of its feature.

    Examples
    --------
    >>> X = np.array([["red", 1.0], ["blue", 3.0], ["red", np.nan]], dtype=object)
    >>> PlainNumbers().fit_transform(X)
    array([[0., 1., 1.],
           [1., 0., 3.],
           [0., 1., 2.]])
    """

    def fit(self, X: object, y: object = None) -> "PlainNumbers":
        """Learn levels and medians."""
        table = read_table(self, X, reset=True)
        self.levels_: list[Array | None] = []  #: of columns of text; None for one of numbers
        self.medians_: list[float] = []  #: of columns of numbers, 0 where none is known
        for j in range(len(table.names) if isinstance(table, RawTable) else 0):
            column = table.column(j)
            if column.dtype == object:
                known = sorted({value for value in column.tolist() if value is not None})
                self.levels_.append(np.array(known, object))
                self.medians_.append(0.0)
            else:
                there = column[~np.isnan(column)]
                self.levels_.append(None)
                self.medians_.append(float(np.median(there)) if there.size else 0.0)
        return self

    def transform(self, X: object) -> Any:
        """Numbers, none of them missing."""
        check_is_fitted(self)
        table: Table = read_table(self, X, reset=False)
        if scipy.sparse.issparse(X):
            return scipy.sparse.csr_matrix(X)
        if not isinstance(table, RawTable):
            raise TypeError(
                f"X must be an array, a frame or a sparse matrix; got {type(X).__name__}, which "
                "only bayesieve's own estimators read"
            )
        blocks = []
        for j, (levels, median) in enumerate(zip(self.levels_, self.medians_, strict=True)):
            column = table.column(j)
            if levels is None:
                numbers = column.astype(np.float64)
                blocks.append(np.where(np.isnan(numbers), median, numbers)[:, None])
            else:
                blocks.append((column[:, None] == levels[None, :]).astype(np.float64))
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """A name for each column that comes out: of a level, ``column = level``."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        if not self.levels_:
            return np.array([str(name) for name in names], object)
        found: list[str] = []
        for name, levels in zip(names, self.levels_, strict=True):
            found += [str(name)] if levels is None else [f"{name} = {level}" for level in levels]
        return np.array(found, object)


class AnyScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Columns of variance 1, and of mean 0 unless they are sparse and are to stay so.

    Examples
    --------
    >>> import scipy.sparse
    >>> X = np.array([[0.0], [4.0]])
    >>> AnyScaler().fit_transform(X).ravel()
    array([-1.,  1.])
    >>> AnyScaler().fit_transform(scipy.sparse.csr_matrix(X)).toarray().ravel()
    array([0., 2.])
    """

    def fit(self, X: object, y: object = None) -> "AnyScaler":
        """Learn means and deviations."""
        from sklearn.preprocessing import StandardScaler

        self.scaler_ = StandardScaler(with_mean=not scipy.sparse.issparse(X)).fit(X)
        self.n_features_in_ = self.scaler_.n_features_in_
        return self

    def transform(self, X: object) -> Any:
        """Take the means off and divide by the deviations."""
        check_is_fitted(self)
        return self.scaler_.transform(X)


# -- How many features a fitted method reads, and which --------------------------------------------


Feature = int | str

# What speaks as one: a column, or a pair of columns.
_Term = tuple[Feature, ...]


class UsedFeatures(NamedTuple):
    """Features that a fitted method reads, and those that it selected."""

    number: int  #: features read
    #: which ones, a pair that speaks as one by both names; None where nothing is selected
    selected: tuple[Feature, ...] | None
    terms: int | None  #: terms of its model, where it tells them


def used_features(method: object, n_columns: int) -> UsedFeatures:
    """Features that a fitted method reads.

    The rule, in this order: ``terms_`` of a `WeightedNaiveBayes` (a pair is one thing selected, and
    two features read), ``selected_`` (column numbers or names), ``get_support()``; of a pipeline,
    the last step that has one of them, its columns followed back through the steps before it; of a
    search over parameters, its ``best_estimator_``.  A method that has none of these does not
    select: it reads ``n_features_in_`` columns, or all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_iris(return_X_y=True)
    >>> used_features(make_pipeline(SelectKBest(k=2), GaussianNB()).fit(X, y), 4)
    UsedFeatures(number=2, selected=(2, 3), terms=None)
    """
    method = getattr(method, "best_estimator_", method)
    steps = [
        step
        for _, step in getattr(method, "steps", [("", method)])
        if step not in (None, "passthrough")
    ]
    selected, last = _of_steps(steps), steps[-1]
    terms = None if _moves(last) == "columns" else getattr(last, "terms_", None)
    n_terms = None if terms is None else len(terms)
    if selected is not None:
        columns = {column for term in selected for column in term}
        # A column as it is, several by all their names.
        names = (term[0] if len(term) == 1 else " x ".join(map(str, term)) for term in selected)
        return UsedFeatures(len(columns), tuple(names), n_terms)
    read = getattr(method, "n_features_in_", n_columns)
    return UsedFeatures(int(read), None, n_terms)


def _moves(step: object) -> str | None:
    """What moves on the path of a method: "columns", "terms"; None where it has no path."""
    paths = getattr(step, "path_", None)
    return getattr(paths[0] if isinstance(paths, list) else paths, "of", None)


def _own(step: Any) -> list[_Term] | None:
    """The terms that a step tells itself, in the order of the table: mostly columns."""
    if hasattr(step, "best_estimator_"):
        step = step.best_estimator_
    if _moves(step) == "terms":
        return sorted(term["columns"] for term in step.terms_)
    if hasattr(step, "selected_"):
        found = np.asarray(step.selected_)
        if found.dtype == bool:
            found = np.flatnonzero(found)
        if found.dtype.kind in "iu":
            return [(int(j),) for j in np.sort(found)]
        return sorted((str(name),) for name in found)
    if hasattr(step, "get_support"):
        return [(int(j),) for j in np.flatnonzero(step.get_support())]
    return None


def _of_steps(steps: Sequence[object]) -> list[_Term] | None:
    """The terms of the last step that tells, in the words of the first."""
    told = [_own(step) for step in steps]
    last = max((i for i, each in enumerate(told) if each is not None), default=None)
    if last is None:
        return None
    chosen = told[last]
    assert chosen is not None
    for i in reversed(range(last)):
        numbers = sorted({each for term in chosen for each in term if isinstance(each, int)})
        if any(isinstance(each, str) for term in chosen for each in term):
            break  # they have names already
        known, before = told[i], steps[i]
        if known is not None:
            words = {j: known[j][0] for j in numbers}
        elif isinstance(before, OneToOneFeatureMixin):
            continue
        elif hasattr(before, "get_feature_names_out"):  # so that fits can be compared
            names = before.get_feature_names_out()
            words = {j: str(names[j]) for j in numbers}
        else:
            words = {j: f"column {j}" for j in numbers}
        chosen = [tuple(words[j] for j in term if isinstance(j, int)) for term in chosen]
    return chosen


# -- What a comparison measures --------------------------------------------------------------------


_BINS = 10


@dataclass(frozen=True)
class CellScore:
    """A column of a comparison's tables."""

    title: str  #: what people read
    greater_is_better: bool  #: its direction
    form: str = ".4f"  #: how a value is written
    short: str = ""  #: the head of its column
    middle: bool = False  #: is the median over folds told, rather than the mean?

    @property
    def head(self) -> str:
        """The head of its column."""
        return self.short or self.title


#: Everything that is measured in a fold, by name.
SCORES: dict[str, CellScore] = {
    "accuracy": CellScore("accuracy", True),
    "balanced_accuracy": CellScore("balanced accuracy", True, short="balanced"),
    "log_loss": CellScore("log-loss", False),
    "brier": CellScore("Brier", False),
    "calibration_error": CellScore("calibration error", False, short="calibr."),
    "n_features": CellScore("number of features", False, ".1f", "features"),
    "n_terms": CellScore("number of terms", False, ".1f", "terms"),
    # The first fit of all may compile, which a median forgets.
    "fit_seconds": CellScore("seconds to fit", False, ".2g", "fit s", middle=True),
    "predict_seconds": CellScore("seconds to predict", False, ".2g", "predict s", middle=True),
}


def judge_probabilities(
    truth: NDArray[np.generic],
    decided: NDArray[np.generic],
    proba: Floats,
    classes: NDArray[np.generic],
) -> dict[str, float]:
    """Log-loss and Brier score as scikit-learn has them, and the calibration error.

    `proba` has a column for each of `classes`: all classes of the data, sorted.
    """
    at = np.arange(len(truth)), np.searchsorted(classes, decided)
    return {
        "log_loss": float(log_loss(truth, proba, labels=classes)),
        "brier": float(brier_score_loss(truth, proba, labels=classes)),
        "calibration_error": calibration_error(proba[at], decided == truth),
    }


def align(
    proba: NDArray[np.floating], known: Sequence[object], classes: NDArray[np.generic]
) -> Floats:
    """Probabilities of the classes `known`, with a column for each of `classes`, which are sorted.

    It is 0 where the method never met the class.

    Examples
    --------
    >>> align(np.array([[0.9, 0.1]]), ["c", "a"], np.array(["a", "b", "c"]))
    array([[0.1, 0. , 0.9]])
    """
    proba = np.asarray(proba)
    if proba.ndim != 2 or proba.shape[1] != len(known):
        raise ValueError(
            f"predict_proba gave an array of shape {proba.shape}; expected one column for each of "
            f"the {len(known)} classes that the method knows"
        )
    found = np.zeros((len(proba), len(classes)), proba.dtype)
    found[:, np.searchsorted(classes, np.asarray(known))] = proba
    return found


def calibration_error(confidence: Floats, hit: Bools, n_bins: int = _BINS) -> float:
    """Expected calibration error of the predicted class.

    Rows are sorted by the probability of the class predicted and cut into ten bins of equal count
    (rows of equal probability stay together); the mean over rows of how far the mean probability of
    a bin is from the share of right predictions in it.

    Examples
    --------
    >>> round(calibration_error(np.full(4, 0.9), np.array([True, True, True, False])), 4)
    0.15
    """
    places = rankdata(confidence, "average")
    bins = ((places - 0.5) * n_bins / len(places)).astype(np.int64)
    apart = np.bincount(bins, confidence - hit, n_bins)
    return float(np.abs(apart).sum() / len(places))


# -- Data sets as users give them to a comparison --------------------------------------------------


_ALLOWED_DATA = (
    "data must be a dict of name -> (X, y), a data set with X and y, the name of a data set that "
    "bayesieve.datasets.load knows, or a list of these"
)


@dataclass(frozen=True)
class DataSet:
    """A table and the class of each row, under a name."""

    name: str
    X: Any
    y: NDArray[np.generic]

    @cached_property
    def classes(self) -> NDArray[np.generic]:
        """Its classes, sorted."""
        return np.unique(self.y)

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return int(self.X.shape[1])

    @cached_property
    def smallest(self) -> int:
        """Rows of the rarest class."""
        return int(np.unique(self.y, return_counts=True)[1].min())

    def rows(self, which: Ints) -> Any:
        """Some rows of the table, of the same kind."""
        if isinstance(self.X, PackedTable):
            return self.X.take(which)
        return _safe_indexing(self.X, which)

    @cached_property
    def fingerprint(self) -> str:
        """A text that equal values share, wherever it is taken."""
        return fingerprint(_parts(self.X), self.y)


def _parts(X: Any) -> list[object]:
    """What a table is made of, as arrays."""
    if isinstance(X, PackedTable):
        return [X.names, *(X.coded(j)[0] for j in range(len(X.names)))]
    if scipy.sparse.issparse(X):
        rows = scipy.sparse.csr_matrix(X, copy=True)
        rows.sort_indices()
        return [rows.shape, rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        return [frame.columns, *(frame[name].to_numpy() for name in frame.columns)]
    return [np.asarray(X)]


def read_sets(data: object, folds: int) -> list[DataSet]:
    """Read and validate the data sets."""
    found = [_read(name, each) for name, each in _named(data)]
    if not found:
        raise ValueError(f"{_ALLOWED_DATA}; got none. Give at least one.")
    _check_names("data", [each.name for each in found])
    for each in found:
        if folds > each.smallest:
            raise ValueError(
                f"folds must be at most the number of rows of the rarest class, {each.smallest} in "
                f"{each.name!r}; got {folds}. Use fewer folds, or join rare classes."
            )
    return found


def _check_names(parameter: str, names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"{parameter} must have names that differ; got {twice!r} twice. Give a dict with a "
            "name for each."
        )


def _named(data: object) -> Iterable[tuple[str, Any]]:
    """Names, and what stands for each."""
    if isinstance(data, Mapping) and not _is_bunch(data):
        return [(str(name), each) for name, each in data.items()]
    # A table and its classes, rather than a list of sets?
    is_pair = isinstance(data, tuple) and len(data) == 2 and hasattr(data[0], "shape")
    if isinstance(data, str) or hasattr(data, "y") or _is_bunch(data) or is_pair:
        data = [data]
    if not isinstance(data, list | tuple):
        raise TypeError(f"{_ALLOWED_DATA}; got {type(data).__name__}.")
    found = []
    for i, each in enumerate(data):
        name = each if isinstance(each, str) else getattr(each, "name", f"data {i + 1}")
        found.append((str(name), each))
    return found


def _is_bunch(data: object) -> bool:
    """What scikit-learn's loaders return."""
    return isinstance(data, Mapping) and {"data", "target"} <= set(data)


def _read(name: str, given: Any) -> DataSet:
    if isinstance(given, str):
        # Late: loaders bring many modules, and few comparisons need them.
        from ...datasets.loading import REGISTRY, load

        if given not in REGISTRY:
            raise ValueError(
                f"data: {given!r} is not a data set that bayesieve.datasets.load knows; give one "
                f"of those (`bayesieve datasets` lists them), or {name!r}: (X, y)."
            )
        given = load(given)
    if hasattr(given, "X") and hasattr(given, "y"):
        X, y = given.X, given.y
    elif _is_bunch(given):
        X, y = given["data"], given["target"]
    elif isinstance(given, tuple | list) and len(given) == 2:
        X, y = given
    else:
        raise TypeError(f"{_ALLOWED_DATA}; got {type(given).__name__} for {name!r}.")
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if scipy.sparse.issparse(X):
        X = X.tocsr()
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(f"data: X of {name!r} must be a table of rows and columns; got {X!r:.60}.")
    return DataSet(name, X, _read_classes(name, y, int(X.shape[0])))


def _read_classes(name: str, y: object, n_rows: int) -> NDArray[np.generic]:
    if is_label_matrix(y):
        raise ValueError(
            f"data: y of {name!r} must hold one class a row; got a matrix. Compare one label at a "
            "time."
        )
    classes = np.asarray(y)
    classes = classes.ravel() if classes.shape == (n_rows, 1) else classes
    if classes.shape != (n_rows,):
        raise ValueError(
            f"data: y of {name!r} must hold one class for each of the {n_rows} rows of X; got "
            f"shape {classes.shape}."
        )
    missing = classes != classes if classes.dtype.kind in "fO" else np.zeros(n_rows, bool)
    if classes.dtype == object:
        missing = missing | np.array([each is None for each in classes.tolist()])
    if missing.any():
        raise ValueError(
            f"data: y of {name!r} is missing in {int(missing.sum())} row(s); drop or mend them."
        )
    kinds = {type(each) for each in classes.tolist()} if classes.dtype == object else set()
    if len(kinds) > 1:
        raise ValueError(
            f"data: y of {name!r} mixes {' and '.join(sorted(k.__name__ for k in kinds))}; write "
            "all classes as text, or all as numbers."
        )
    if kinds == {str}:
        classes = classes.astype(str)
    if np.unique(classes).size < 2:
        raise ValueError(
            f"data: y of {name!r} must hold at least two classes; got one. Nothing can be told "
            "apart: leave the set out."
        )
    return classes


# -- One cell of a comparison ----------------------------------------------------------------------


_MOST_LETTERS = 300


class Classifier(Protocol):
    """What a method must be able to do."""

    def fit(self, X: object, y: object) -> object:
        """Learn."""

    def predict(self, X: object) -> Any:
        """Decide."""


@dataclass(frozen=True)
class CellTask:
    """A method to be fitted and scored on one fold of a data set."""

    method: str
    estimator: Classifier
    data: DataSet
    seed: int
    fold: int
    folds: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Method, set, seed and fold."""
        return self.method, self.data.name, self.seed, self.fold


@dataclass(frozen=True)
class Cell(Result):
    """A method fitted and scored on one fold of a data set."""

    method: str
    data: str
    seed: int
    fold: int
    n_train: int  #: rows of the two parts
    n_test: int
    scores: Mapping[str, float | None]  #: of `SCORES`; None where the method does not tell one
    selected: tuple[Feature, ...] | None = None  #: None where the method does not select
    failure: str = ""  #: the words of the error, where there was one

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> "Cell":
        """The cell that `to_dict` was given."""
        chosen = plain["selected"]
        return cls(**{**plain, "selected": None if chosen is None else tuple(chosen)})


def split(task: CellTask) -> tuple[Ints, Ints]:
    """Training and test rows of a cell: the same for every method."""
    folds = StratifiedKFold(task.folds, shuffle=True, random_state=task.seed)
    parts: list[tuple[Ints, Ints]] = [*folds.split(np.zeros(len(task.data.y)), task.data.y)]
    return parts[task.fold]


def run_cell(task: CellTask) -> Cell:
    """Fit and score one cell; an error of the method is recorded, not raised."""
    train, test = split(task)
    about = (*task.key, len(train), len(test))
    nothing: dict[str, float | None] = dict.fromkeys(SCORES)
    try:
        found, selected = _judge(task, train, test)
    except Exception as error:  # whatever a method throws: the others go on
        words = " ".join(str(error).split())
        words = words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 1] + "…"
        failure = f"{type(error).__name__}: {words}" if words else type(error).__name__
        return Cell(*about, nothing, None, failure)
    return Cell(*about, {**nothing, **found}, selected)


def _judge(
    task: CellTask, train: Ints, test: Ints
) -> tuple[dict[str, float | None], tuple[Feature, ...] | None]:
    data = task.data
    method = fresh_copy(task.estimator, task.seed)
    learn, judge, truth = data.rows(train), data.rows(test), data.y[test]
    start = time.perf_counter()
    method.fit(learn, data.y[train])
    fitted = time.perf_counter()
    decided = np.asarray(method.predict(judge))
    done = time.perf_counter()
    decided = decided.ravel() if decided.size == len(truth) else decided
    scores: dict[str, float | None] = {
        "accuracy": float(accuracy_score(truth, decided)),
        "balanced_accuracy": float(balanced_accuracy_score(truth, decided)),
    }
    if hasattr(method, "predict_proba"):
        known = list(getattr(method, "classes_", np.unique(data.y[train])))
        proba = align(method.predict_proba(judge), known, data.classes)
        scores |= judge_probabilities(truth, decided, proba, data.classes)
    told = used_features(method, data.n_columns)
    scores |= {
        "n_features": float(told.number),
        "n_terms": None if told.terms is None else float(told.terms),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
    }
    return scores, told.selected


# -- Methods by name -------------------------------------------------------------------------------


_ALLOWED_METHODS = (
    "methods must be names, scikit-learn classifiers or pipelines, or a dict of name -> either"
)


def _sklearn(name: str, **parameters: object) -> Any:
    """An estimator of scikit-learn, whose modules are imported when they are wanted only."""
    module, _, kind = name.partition(".")
    return getattr(importlib.import_module(f"sklearn.{module}"), kind)(**parameters)


def _plain(*steps: object) -> Classifier:
    """Steps behind one that makes numbers of any table."""
    from sklearn.pipeline import make_pipeline

    return make_pipeline(PlainNumbers(), *steps)


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
    "weighted": WeightedNaiveBayes,
    "few": lambda: WeightedNaiveBayes(preset="few"),
    "selector": NaiveBayesSelector,
    "card": lambda: _filled(ScoreCard()),
    "forward": lambda: NaiveBayesSelector(search="forward"),
    "forward-folds": lambda: NaiveBayesSelector(search="forward", cv=5, validation=None),
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
    """A method by its name in `METHODS`, or by a ``module:factory`` that returns a classifier."""
    if not isinstance(name, str) or ":" not in name:
        return METHODS[choose("methods", name, METHODS)]()
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
    """Read and validate the methods, by name."""
    if isinstance(methods, Mapping):
        given = [(str(name), each) for name, each in methods.items()]
    else:
        if isinstance(methods, str) or hasattr(methods, "fit"):
            methods = [methods]
        if not isinstance(methods, list | tuple):
            raise TypeError(f"{_ALLOWED_METHODS}; got {methods!r}.")
        given = [(each if isinstance(each, str) else type(each).__name__, each) for each in methods]
    if not given:
        raise ValueError(f"{_ALLOWED_METHODS}; got none. Give at least one.")
    _check_names("methods", [name for name, _ in given])
    found = {}
    for name, each in given:
        method = found[name] = named_method(each) if isinstance(each, str) else each
        if isinstance(method, type):
            kind = method.__name__
            raise TypeError(f"{_ALLOWED_METHODS}; got the class {kind}. Call it: {name}().")
        for needed in ("fit", "predict", "get_params"):
            if not hasattr(method, needed):
                raise TypeError(
                    f"{_ALLOWED_METHODS}; got {type(method).__name__} for {name!r}, which has no "
                    f"{needed}. A transformer needs a classifier behind it: make_pipeline(..., "
                    "GaussianNB())."
                )
    return found
