"""What a comparison measures: the scores of one fitted method on the rows of one fold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
)

Floats = NDArray[np.float64]

_BINS = 10


@dataclass(frozen=True)
class Score:
    """A column of a comparison's tables.

    Parameters
    ----------
    title : what people read.
    greater_is_better : its direction.
    form : how a value is written.
    short : the head of its column.
    middle : is the median over folds told, rather than the mean?
    """

    title: str
    greater_is_better: bool
    form: str = ".4f"
    short: str = ""
    middle: bool = False

    @property
    def head(self) -> str:
        """The head of its column."""
        return self.short or self.title


#: Everything that is measured in a fold, by name.
SCORES: dict[str, Score] = {
    "accuracy": Score("accuracy", True),
    "balanced_accuracy": Score("balanced accuracy", True, short="balanced"),
    "log_loss": Score("log-loss", False),
    "brier": Score("Brier", False),
    "calibration_error": Score("calibration error", False, short="calibr."),
    "n_features": Score("number of features", False, ".1f", "features"),
    "n_terms": Score("number of terms", False, ".1f", "terms"),
    # The first fit of all may compile, which a median forgets.
    "fit_seconds": Score("seconds to fit", False, ".2g", "fit s", middle=True),
    "predict_seconds": Score("seconds to predict", False, ".2g", "predict s", middle=True),
}


def judge_decisions(truth: NDArray[np.generic], decided: NDArray[np.generic]) -> dict[str, float]:
    """Accuracy, and its mean over the classes of the rows."""
    return {
        "accuracy": float(accuracy_score(truth, decided)),
        "balanced_accuracy": float(balanced_accuracy_score(truth, decided)),
    }


def judge_probabilities(
    truth: NDArray[np.generic],
    decided: NDArray[np.generic],
    proba: Floats,
    classes: NDArray[np.generic],
) -> dict[str, float]:
    """Log-loss and Brier score as scikit-learn has them, and the calibration error.

    Parameters
    ----------
    truth, decided : the class of every row, and what the method says it is.
    proba : probabilities, one column for each of `classes`.
    classes : all classes of the data, sorted.
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
    """Probabilities with a column for each of `classes`, 0 where the method never met the class.

    Parameters
    ----------
    proba : as the method gives them.
    known : the method's classes, one a column of `proba`.
    classes : all classes of the data, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.evaluation.comparison.scores import align
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


def calibration_error(confidence: Floats, hit: NDArray[np.bool_], n_bins: int = _BINS) -> float:
    """Expected calibration error of the predicted class.

    Rows are sorted by the probability of the class predicted and cut into ten bins of equal count
    (rows of equal probability stay together); the mean over rows of how far the mean probability of
    a bin is from the share of right predictions in it.

    Parameters
    ----------
    confidence : probability of the class predicted.
    hit : was it right?
    n_bins : number of bins.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.evaluation.comparison.scores import calibration_error
    >>> round(calibration_error(np.full(4, 0.9), np.array([True, True, True, False])), 4)
    0.15
    """
    places = rankdata(confidence, "average")
    bins = ((places - 0.5) * n_bins / len(places)).astype(np.int64)
    apart = np.bincount(bins, confidence - hit, n_bins)
    return float(np.abs(apart).sum() / len(places))
