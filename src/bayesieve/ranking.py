"""`rank`: every ranking by name, for any table."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .engines import LocalEngine
from .models import MODELS
from .rankings import RANKINGS, DiscreteColumns, Ranking
from .validation import (
    RawTable,
    check_jobs,
    check_number,
    check_several_classes,
    choose,
    choose_models,
    read_table,
    read_target,
)
from .views.columns import MOST_CODES, encode, learn


def rank(
    X: Any,
    y: Any,
    method: Any = "mutual-information",
    *,
    n_features: int | None = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the columns of a table without a model.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Discrete columns: binary, text or categories.
    y : array-like of shape (n_samples,)
        Classes.
    method : str or ranking object, default="mutual-information"
        ``"mutual-information"``, ``"mrmr"`` (difference form), or an object of
        `bayesieve.rankings` such as ``MRMR("quotient")``.
    n_features : int, optional
        How many columns a greedy ranking ranks with care; the others follow in the order of their
        last score.  All by default.
    n_jobs : int, optional
        Threads for the kernels; -1 for all cores.

    Returns
    -------
    ranking : Ranking
        `order` (best first) and `scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, "mrmr").order
    array([1, 0, 2])
    """
    method = check_ranking(method)
    check_jobs(n_jobs)
    table = read_table(BaseEstimator(), X, reset=True)
    classes, labels = read_target(y, table.n_rows)
    check_several_classes(classes)
    most = len(table.names)
    if n_features is not None:
        most = int(check_number("n_features", n_features, low=1, high=most, whole=True))
    models = choose_models("auto", table)
    columns = discrete_columns(table, models, np.arange(table.n_rows), np.ones(table.n_rows))
    with LocalEngine(effective_n_jobs(n_jobs)) as engine:
        return method.rank(columns, labels, len(classes), engine, most)


def check_ranking(method: Any) -> Any:
    """A ranking by name, or an object with `rank`."""
    if not hasattr(method, "rank") or isinstance(method, type):
        method = RANKINGS[choose("method", method, RANKINGS)]
    if hasattr(method, "form"):
        choose("form", method.form, ["difference", "quotient"])
    return method


def discrete_columns(
    table: RawTable, models: list[str], rows: NDArray[np.int64], weights: NDArray[np.float64]
) -> DiscreteColumns:
    """Codes of the given rows; refuses continuous columns by name."""
    codes = np.empty((len(models), rows.size), np.uint8)
    n_levels = np.empty(len(models), np.int64)
    for j, model in enumerate(models):
        name = table.names[j]
        raw = table.column(j)
        spec = learn(name, model, raw, MODELS[model].discrete)
        if not MODELS[model].discrete or spec.n_codes > MOST_CODES + 1:
            raise ValueError(
                f"column {name!r} is {model!r} with many values, but this ranking counts: it needs "
                "binary or categorical columns of at most 255 levels. Discretise it first."
            )
        codes[j] = encode(spec, raw)[rows]
        n_levels[j] = spec.n_codes - 1
    return DiscreteColumns(codes, n_levels, weights[rows])
