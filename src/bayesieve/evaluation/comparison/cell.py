"""One cell of a comparison: a method fitted to the rows of all folds but one, judged on that."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from .features import Feature, told_features
from .scores import SCORES, align, judge_decisions, judge_probabilities
from .sets import DataSet

_MOST_LETTERS = 300


class Classifier(Protocol):
    """What a method must be able to do."""

    def fit(self, X: object, y: object) -> object:
        """Learn."""

    def predict(self, X: object) -> Any:
        """Decide."""


@dataclass(frozen=True)
class Task:
    """What is to be done for a cell."""

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
class Cell:
    """What came of it.

    Attributes
    ----------
    method, data, seed, fold :
        Which cell it is.
    n_train, n_test : int
        Rows of the two parts.
    scores : dict
        Every score of `SCORES`; None where the method does not tell (no probabilities, no terms).
    selected : tuple of int or str, or None
        The features selected; None where the method does not select.
    failure : str
        The words of the error, where there was one; empty otherwise.
    """

    method: str
    data: str
    seed: int
    fold: int
    n_train: int
    n_test: int
    scores: Mapping[str, float | None]
    selected: tuple[Feature, ...] | None = None
    failure: str = ""

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        return {**asdict(self), "scores": dict(self.scores)}

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> "Cell":
        """The cell that `to_dict` was given."""
        chosen = plain["selected"]
        return cls(**{**plain, "selected": None if chosen is None else tuple(chosen)})


def seeded(estimator: Classifier, seed: int) -> Classifier:
    """A copy in which every `random_state` that is None, in steps too, is the seed.

    A checkpoint of its own and a line of progress, which cells would share, are left out.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from bayesieve.evaluation.comparison.cell import seeded
    >>> seeded(RandomForestClassifier(), 7).random_state
    7
    >>> seeded(RandomForestClassifier(random_state=1), 7).random_state
    1
    """
    copy = clone(estimator)
    changed: dict[str, object] = {}
    for name, value in copy.get_params().items():
        last = name.rpartition("__")[2]
        if last == "random_state" and value is None:
            changed[name] = seed
        elif last == "checkpoint" and value is not None:
            changed[name] = None
        elif last == "progress" and value is True:
            changed[name] = False
    found: Classifier = copy.set_params(**changed)
    return found


def split(task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and test rows of a cell: the same for every method."""
    folds = StratifiedKFold(task.folds, shuffle=True, random_state=task.seed)
    for fold, (train, test) in enumerate(folds.split(np.zeros(len(task.data.y)), task.data.y)):
        if fold == task.fold:
            return train, test
    raise IndexError(f"there is no fold {task.fold} of {task.folds}")


def run_cell(task: Task) -> Cell:
    """Fit and judge; an error of the method's is written down, not raised."""
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
    task: Task, train: NDArray[np.int64], test: NDArray[np.int64]
) -> tuple[dict[str, float | None], tuple[Feature, ...] | None]:
    data = task.data
    method = seeded(task.estimator, task.seed)
    learn, judge, truth = data.rows(train), data.rows(test), data.y[test]
    start = time.perf_counter()
    method.fit(learn, data.y[train])
    fitted = time.perf_counter()
    decided = np.asarray(method.predict(judge))
    done = time.perf_counter()
    decided = decided.ravel() if decided.size == len(truth) else decided
    scores: dict[str, float | None] = dict(judge_decisions(truth, decided))
    if hasattr(method, "predict_proba"):
        known = list(getattr(method, "classes_", np.unique(data.y[train])))
        proba = align(method.predict_proba(judge), known, data.classes)
        scores |= judge_probabilities(truth, decided, proba, data.classes)
    told = told_features(method, data.n_columns)
    scores |= {
        "n_features": float(told.number),
        "n_terms": None if told.terms is None else float(told.terms),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
    }
    return scores, told.selected
