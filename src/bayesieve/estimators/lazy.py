"""Rows of Dask collections: what a fitted model says of them, when somebody asks for it."""

from functools import partial

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import Foreign
from ..data.collection import as_plain
from ..data.tables import keep_names
from ..models.fitted import FittedBayes

#: What is said of a row in a number, or a name, rather than in several.
_SINGLE = ("predict",)


def lazily(model: Foreign, method: str, X: Foreign, priors: Foreign = None) -> Foreign:
    """What a method of a fitted model gives, partition by partition, nothing of it computed yet.

    Of a dask.dataframe a Series, or a DataFrame with a column a class (or label); of a dask.array
    an array.

    Parameters
    ----------
    model : fitted.
    method : "predict", "predict_proba", "predict_log_proba" or "decision_function".
    X : the collection.
    priors : as the method takes them.
    """
    check_is_fitted(model)
    ask = partial(_ask, model, method, priors)
    columns = _columns(model, method)
    kind = _kind(model) if method in _SINGLE else np.dtype(np.float64)
    labelled = bool(
        model.estimator_.fitted_.labelled if _chooses(model) else model.fitted_.labelled
    )
    if hasattr(X, "dtype"):
        check_names(model, np.empty((0, X.shape[1])))
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        single = (method in _SINGLE and not labelled) or columns is None
        meta = np.empty((0,) if single else (0, len(columns or ())), kind)
        if single:
            return X.map_blocks(ask, drop_axis=1, dtype=kind, meta=meta)
        return X.map_blocks(ask, chunks=(X.chunks[0], (meta.shape[1],)), dtype=kind, meta=meta)
    import pandas as pd

    check_names(model, X.dtypes.to_frame().T.iloc[:0])
    if columns is None or (method in _SINGLE and not labelled):
        framed = partial(_series, ask, kind)
        return X.map_partitions(framed, meta=pd.Series(dtype=kind, name=method))
    framed = partial(_frame, ask, columns)
    meta = pd.DataFrame({name: pd.Series(dtype=kind) for name in columns})
    return X.map_partitions(framed, meta=meta)


def lazy_fit(model: Foreign, X: Foreign, y: Foreign, sample_weight: Foreign) -> FittedBayes:
    """A model of all rows of a collection."""
    from .far import far_fit  # which knows selectors

    return far_fit(model, X, y, sample_weight)


def picked(model: Foreign, X: Foreign) -> Foreign:
    """The chosen columns of a collection, which stays one."""
    chosen = np.flatnonzero(model.support_)
    if hasattr(X, "dtype"):
        check_names(model, np.empty((0, X.shape[1])))
        return X[:, chosen]
    check_names(model, X.dtypes.to_frame().T.iloc[:0])
    return X[[X.columns[j] for j in chosen.tolist()]]


def check_names(model: Foreign, face: Foreign) -> None:
    """Names and width must be those of the fit; told before anything is read."""
    keep_names(model, face, reset=False)


def _chooses(model: Foreign) -> bool:
    return hasattr(model, "estimator_")


def _kind(model: Foreign) -> np.dtype:
    classes = model.classes_
    fitted = (model.estimator_ if _chooses(model) else model).fitted_
    rules = [problem.rule for problem in getattr(fitted, "problems", ())]
    if any(rule is not None and rule.asks for rule in rules):  # None where a person is asked
        return np.dtype(object)
    return np.dtype(np.int64) if isinstance(classes, list) else classes.dtype


def _columns(model: Foreign, method: str) -> list[str] | None:
    """Names of what is said; None where it is one number a row."""
    inner = model.estimator_ if _chooses(model) else model
    if hasattr(inner, "label_names_"):
        return list(inner.label_names_)
    names = [str(each) for each in model.classes_.tolist()]
    return None if method == "decision_function" and len(names) == 2 else names


def _ask(model: Foreign, method: str, priors: Foreign, part: Foreign) -> Foreign:
    """A partition may have no rows."""
    part = as_plain(part)
    if part.shape[0]:
        return getattr(model, method)(part, priors=priors)
    columns = _columns(model, method)
    kind = _kind(model) if method in _SINGLE else np.dtype(np.float64)
    single = columns is None or (method in _SINGLE and not isinstance(model.classes_, list))
    return np.empty((0,) if single else (0, len(columns or ())), kind)


def _series(ask: Foreign, kind: np.dtype, part: Foreign) -> Foreign:
    import pandas as pd

    return pd.Series(ask(part), index=part.index, dtype=kind, name=ask.args[1])


def _frame(ask: Foreign, columns: list[str], part: Foreign) -> Foreign:
    import pandas as pd

    return pd.DataFrame(ask(part), index=part.index, columns=columns)
