"""What each column looks like: its kind, what is missing, a histogram by class."""

from itertools import pairwise
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from ...data.columns import is_missing
from ...data.sample import Sample
from ...data.tables import SparseTable, Table
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.resident.session import Session

# Bars of a histogram, and columns whose kind is looked for in all rows.
_BARS = 12

# Of a large table so many rows are looked at.
_MOST_ROWS = 20_000

# A column alone that errs on fewer rows than this may hold the answer.
_LEAK = 0.01


class Look(TypedDict):
    """One column."""

    kind: str
    missing: float
    flag: str


class Histogram(TypedDict):
    """Rows by bar and class; bars are ranges or values."""

    labels: list[str]
    counts: list[list[int]]


def looks(sample: Sample) -> list[Look]:
    """The kind of every column, what is missing, and what is odd about it."""
    table, rows = sample.table, _some(sample)
    return [_look(table, j, rows) for j in range(len(table.names))]


def _some(sample: Sample) -> NDArray[np.int64]:
    n = sample.labels.size
    return np.unique(np.linspace(0, n - 1, min(n, _MOST_ROWS)).astype(np.int64))


def _look(table: Table, j: int, rows: NDArray[np.int64]) -> Look:
    if isinstance(table, SparseTable):
        share = (table.matrix.indptr[j + 1] - table.matrix.indptr[j]) / max(table.n_rows, 1)
        return Look(kind="sparse", missing=0.0, flag="" if share else "constant")
    column = table.column(j)[rows]
    gone = is_missing(column) if column.dtype == object else np.isnan(column)
    known = column[~gone]
    missing = float(gone.mean())
    if not known.size:
        return Look(kind="empty", missing=missing, flag="constant")
    if column.dtype == object:
        distinct = len(set(known.tolist()))
        flag = "constant" if distinct == 1 else "identifier" if distinct == rows.size > 20 else ""
        return Look(kind="text", missing=missing, flag=flag)
    if (known == known[0]).all():
        return Look(kind="number", missing=missing, flag="constant")
    if ((known == 0) | (known == 1)).all():
        return Look(kind="yes/no", missing=missing, flag="")
    flag = "identifier" if _counts_rows(known, rows.size) else ""
    return Look(kind="number", missing=missing, flag=flag)


def _counts_rows(known: NDArray[np.float64], n: int) -> bool:
    """Whole numbers that rise by one from row to row."""
    if known.size < max(n, 20):
        return False
    steps = np.diff(known)
    return bool((steps == steps[0]).all() and steps[0] != 0)


def chosen_models(session: Session) -> dict[str, str]:
    """Feature models that were chosen, by column."""
    model = session.settings["estimator"]
    found = {} if model is None else model.features
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def learner(session: Session | None, features: dict[str, str] | None) -> BaseEstimator | None:
    """Who learns from now on: as in a session, but for the feature models of columns.

    Parameters
    ----------
    session : that goes on; None: there is none.
    features : feature models, by column; None: as they are, or as they look.
    """
    before: BaseEstimator | None = None if session is None else session.settings["estimator"]
    if session is not None and features in (None, chosen_models(session)):
        return before
    if before is None or "features" not in before.get_params(deep=False):
        return NaiveBayes(features=features) if features else None
    return clone(before).set_params(features=features or "auto")


def leaks(errors: list[float], labels: NDArray[np.int64]) -> list[int]:
    """Columns that tell the class alone, where that is no small thing."""
    usual = 1 - np.bincount(labels).max() / labels.size
    if usual < 10 * _LEAK:
        return []
    return [j for j, error in enumerate(errors) if error < _LEAK]


def histogram(sample: Sample, j: int) -> Histogram:
    """Rows of each class by value or range of one column."""
    rows = _some(sample)
    labels, n_classes = sample.labels[rows], int(sample.labels.max()) + 1
    column = sample.table.column(j)[rows]
    if column.dtype == object:
        known = ~is_missing(column)
        names, codes = np.unique(
            np.array([str(v) for v in column[known]], dtype=object), return_inverse=True
        )
        common = np.argsort(-np.bincount(codes, minlength=names.size), kind="stable")[:_BARS]
        place = np.full(names.size, -1)
        place[common] = np.arange(common.size)
        at, shown = place[codes], [str(names[c])[:40] for c in common]
    else:
        known = ~np.isnan(column)
        values = column[known]
        distinct = np.unique(values)
        if distinct.size <= _BARS:
            at, shown = np.searchsorted(distinct, values), [f"{v:.6g}" for v in distinct]
        else:
            edges = np.linspace(values.min(), values.max(), _BARS + 1)
            at = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _BARS - 1)
            shown = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
    inside = at >= 0
    flat = at[inside] * n_classes + labels[known][inside]
    counts = np.bincount(flat, minlength=len(shown) * n_classes).reshape(-1, n_classes)
    return Histogram(labels=shown, counts=counts.tolist())
