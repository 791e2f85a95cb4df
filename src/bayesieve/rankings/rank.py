"""`rank`: every ranking by name, for any table."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..checks import Ints, check_jobs, check_number, choose
from ..data.columns import MOST_CODES
from ..data.sample import read_sample
from ..data.tables import RawTable, SparseTable, Table, is_collection, room_of
from ..engine.threads import Threads, count_threads
from ..models.columns import choose_models, read_column
from ..models.counts import mdl_cuts
from ..models.registry import MODELS
from . import RANKINGS
from .base import (
    DISCRETE,
    MIXED,
    DiscreteColumns,
    LabelledRows,
    MixedColumns,
    OwnRanking,
    Ranking,
    RankingMethod,
    check_classes_differ,
    level_error,
)
from .information import mixed_columns


def rank(
    X: Any,
    y: Any,
    method: object = "mutual-information",
    *,
    n_features: int | None = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the columns of a table without a model.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or Dask collection of shape (n_samples, n_features)
        Columns of all kinds.  Rankings by counts cut continuous ones by minimum description length
        (Fayyad and Irani 1993), which looks at the classes; a column that gets no cut says nothing.
        ReliefF and the divergences read numbers as they are.
    y : array-like of shape (n_samples,), or 0/1 matrix of shape (n_samples, n_labels)
        Classes; of several labels, every combination is a class.
    method : str or ranking object, default="mutual-information"
        ``"mutual-information"``, ``"chi2"`` (Pearson's statistic); by information of columns with
        each other and the class: ``"mrmr"`` (Peng 2005, difference form), ``"mifs"`` (Battiti
        1994), ``"cmim"`` (Fleuret 2004), ``"icap"`` (Jakulin 2005), ``"jmi"`` (Yang and Moody
        1999), ``"disr"`` (Meyer and Bontempi 2006), ``"jmim"``, ``"njmim"`` (Bennasar, Hicks and
        Setchi 2015), ``"fcbf"`` (Yu and Liu 2003); ``"relieff"`` (Kononenko 1994),
        ``"divergence"``, ``"divergence-normalised"``, ``"divergence-sbfs"`` (Sotoca et al.),
        ``"weights"`` (Guyon 2005), or an object of `bayesieve.rankings` such as
        ``MRMR("quotient")``.
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
    if is_collection(X):
        from .collections import rank_collection

        return rank_collection(X, y, method, n_features or 0)
    read = read_sample(BaseEstimator(), X, y, None)
    sizes = np.bincount(read.labels)
    small = int(sizes.argmin())
    name = f"combination {small}" if read.targets.labelled else str(read.classes[small])
    caution = method.caution(name, int(sizes[small]))
    if caution is not None:
        warnings.warn(caution, UserWarning, stacklevel=2)
    if n_features is not None:
        check_number("n_features", n_features, low=1, high=len(read.table.names), whole=True)
    ranking = rank_table(read.table, read.labels, method, n_features, n_jobs)
    return replace(ranking, names=tuple(read.table.names))


def rank_table(
    table: Table,
    labels: Ints,
    method: RankingMethod,
    n_features: int | None = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank what was read."""
    present, labels = np.unique(labels, return_inverse=True)
    n_classes = present.size
    check_classes_differ(n_classes)
    most = len(table.names) if n_features is None else int(n_features)
    models = choose_models("auto", table)
    rows = LabelledRows(np.arange(table.n_rows), labels, np.ones(table.n_rows), n_classes)
    columns = columns_for(method, table, models, rows)
    with Threads(count_threads(n_jobs)) as engine:
        return method.rank(columns, labels, n_classes, engine, most)


def ranking_names() -> list[str]:
    """Every name that `rank` knows."""
    return list(RANKINGS)


def check_ranking(method: object, parameter: str = "method") -> RankingMethod:
    """A ranking by name, or an object with `rank`, whose parameters it judges itself."""
    if isinstance(method, type) or not callable(getattr(method, "rank", None)):
        method = RANKINGS[choose(parameter, method, RANKINGS)]
    if not isinstance(method, RankingMethod):
        method = OwnRanking(method)
    choose(f"{parameter}.reads", method.reads, [DISCRETE, MIXED])
    method.check()
    return method


def columns_for(
    method: RankingMethod, table: Table, models: list[str], rows: LabelledRows
) -> DiscreteColumns | MixedColumns:
    """The columns in the form that a ranking reads: codes, or numbers and codes."""
    if method.reads == MIXED:
        return mixed_columns(table, models, rows.rows, rows.weights)
    return discrete_columns(table, models, rows)


def discrete_columns(
    table: Table, models: list[str], given: LabelledRows, refuse: bool = True
) -> DiscreteColumns:
    """Codes of the given rows; continuous columns are cut by minimum description length.

    Columns of more levels than there are codes are refused; else they keep their number of levels,
    and nobody may read their codes.
    """
    rows, labels, weights, n_classes = given
    if isinstance(table, SparseTable) and set(models) == {"bernoulli"} and (weights == 1).all():
        return _present_bits(table, rows)
    if type(table) is RawTable and set(models) == {"bernoulli"}:
        codes = table.binary_codes
        if codes is not None:
            if not np.array_equal(rows, np.arange(table.n_rows)):
                codes = np.take(codes, rows, axis=1)
            return DiscreteColumns(codes, np.full(len(models), 2), weights)
    codes = room_of(table)((len(models), rows.size), np.uint8)
    n_levels = np.empty(len(models), np.int64)
    for j, model in enumerate(models):
        if MODELS[model].nominal:
            spec, column = read_column(table, j, model, presence=isinstance(table, SparseTable))
            # Where nothing is known there is a level all the same, which no row has.
            n_levels[j] = max(spec.n_codes - 1, 1)
            column = column[rows] if spec.n_codes > 1 else np.ones(rows.size, np.uint8)
        else:
            values = table.column(j)[rows]
            cuts = mdl_cuts(values, labels, n_classes, weights)
            n_levels[j] = cuts.size + 1
            column = np.where(np.isnan(values), n_levels[j], np.searchsorted(cuts, values))
        if n_levels[j] > MOST_CODES:
            if not refuse:
                continue
            raise level_error(table.names[j], n_levels[j])
        codes[j] = column
    return DiscreteColumns(codes, n_levels, weights)


def _present_bits(table: SparseTable, rows: Ints) -> DiscreteColumns:
    """A sparse table by presence, packed."""
    matrix = table.matrix
    if rows.size < table.n_rows:
        matrix = matrix.tocsr()[rows].tocsc()
    n_rows, n_columns = matrix.shape
    flat = np.zeros((n_columns, -(-n_rows // 64) * 8), np.uint8)
    columns = np.repeat(np.arange(n_columns), np.diff(matrix.indptr))
    bits = (1 << (matrix.indices & 7)).astype(np.uint8)
    np.bitwise_or.at(flat, (columns, matrix.indices >> 3), bits)
    nothing = np.empty((0, 0), np.uint8)
    return DiscreteColumns(nothing, np.full(n_columns, 2), np.ones(n_rows), flat.view(np.uint64))
