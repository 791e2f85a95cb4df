"""Random tables of any size for the measurements of `gpu.py`, without any fit."""

from functools import cache

import numpy as np

from bayesieve.data.kernels.options import LANES
from bayesieve.data.storage import IN_MEMORY
from bayesieve.engine.dense import FixedTables
from bayesieve.engine.layout import DenseRows, LineCells, Lines
from bayesieve.engine.weighted import CODED, TWO, Cells, ScoredLines, TermTables
from bayesieve.models.base import Scale
from bayesieve.models.log_ratios import TERM_BITS, Ratios


@cache
def random_codes(n_columns, n_rows, seed=0):
    """Random bits as bytes, columns x rows."""
    codes = np.empty((n_columns, n_rows + LANES), np.uint8)
    rng = np.random.default_rng(seed)
    for j in range(n_columns):
        packed = rng.integers(0, 256, -(-codes.shape[1] // 8), dtype=np.uint8)
        codes[j] = np.unpackbits(packed)[: codes.shape[1]]
    return codes


def tables_of(n_columns, n_classes, n_sets=1, n_codes=2, spread=0.5, seed=1):
    """Random integer terms."""
    rng = np.random.default_rng(seed)
    size = n_sets * n_codes * n_classes
    table = (rng.normal(0, spread, n_columns * size) * 2.0**40).astype(np.int64)
    prior = np.zeros((n_sets, n_classes), np.int64)
    slots, codes = np.arange(n_columns), np.full(n_columns, n_codes)
    offsets = np.arange(n_columns + 1) * size
    return FixedTables(Scale(40, 0, 2.0**20), prior, slots, codes, offsets, table)


def lines_of(n_rows, n_classes, n_sets=1, weights=None, seed=2):
    """Lines of random classes and sets."""
    rng = np.random.default_rng(seed)
    labels, sets = rng.integers(0, n_classes, n_rows), rng.integers(0, n_sets, n_rows)
    kept = np.ones(n_rows, np.int64) if weights is None else weights
    return Lines.sort(np.arange(n_rows), sets, labels, kept)


class Bytes:
    """Cells as the bytes that they came as: what an upload begins with."""

    def __init__(self, codes, n_rows):
        self._codes, self._n_rows = codes, n_rows

    def column(self, slot):
        """The codes of one column."""
        return self._codes[slot, : self._n_rows]


def rows_of(lines, codes):
    """What the lines hold, for a GPU alone."""
    return DenseRows(lines, Bytes(codes, lines.rows.size), [], IN_MEMORY)


def held_rows(lines, codes, two=True):
    """The same as threads hold it: bits, where there are enough of them."""
    cells = LineCells(lines, len(codes), IN_MEMORY)
    for column in codes:
        cells.put(column[: lines.rows.size], two)
    return DenseRows(lines, cells, [], IN_MEMORY)


def weighted_parts(n_rows, n_terms, n_classes, weighted=False, share_two=0.5):
    """Terms of two codes and of 60, the first 40 of which tell something, with their tables."""
    rng = np.random.default_rng(11)
    labels = rng.integers(0, n_classes, n_rows)
    kinds = np.where(np.arange(n_terms) < share_two * n_terms, TWO, CODED)
    sizes = [2 if kind == TWO else 60 for kind in kinds]
    columns, terms = [], []
    for j, size in enumerate(sizes):
        column = rng.integers(0, size, n_rows, dtype=np.uint8)
        if j % max(n_terms // 40, 1) == 0:
            moved = rng.random(n_rows) < 0.05 + 0.002 * (j % 50)
            column[moved] = labels[moved] % size
        counts = np.bincount(column * np.int64(n_classes) + labels, minlength=size * n_classes)
        counts = counts.reshape(size, n_classes) + 1.0
        ratios = np.log(counts / counts.sum(0)) - np.log(counts.sum(1) / counts.sum())[:, None]
        table = np.rint(ratios * 2.0**TERM_BITS).astype(np.int64)
        columns.append(column)
        terms.append(Ratios(table, -np.ones_like(table), np.zeros(size, bool)))
    weights = rng.integers(1, 4, n_rows) if weighted else np.ones(n_rows, np.int64)
    lines = ScoredLines.sort(labels, n_classes, weights)
    cells = Cells.gather(kinds, columns, lines.rows, n_rows)
    return TermTables.of(terms, sizes), lines, cells
