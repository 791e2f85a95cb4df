"""What weighted ledgers hold: the terms' tables, the lines, and what each has of every term."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..data.columns import MOST_CODES
from ..models.base import Ints
from ..models.weighted import SCORE_BITS, TERM_BITS, Ratios

#: From more classes on, curvature is bounded by a diagonal: pairs of classes are too many.
MOST_FULL = 32

# No path has more terms whose largest values could meet in one line.
_MOST_TOGETHER = 100

#: Kinds of columns: 0 and 1 only; any codes; sparse, by the lines that have it.
TWO, CODED, PRESENT = 0, 1, 2


@dataclass(frozen=True)
class TermTables:
    """What every term says, one below the other.

    Parameters
    ----------
    ratios, own : rows x classes; what leaving a line out adds to its own class.
    first, n_codes : of each term: its first row, and how many codes lines have.
    """

    ratios: Ints
    own: Ints
    first: Ints
    n_codes: Ints

    @classmethod
    def of(cls, terms: Sequence[Ratios], n_codes: Sequence[int]) -> "TermTables":
        """Terms one below the other, each with as many codes as lines have."""
        sizes = np.array(n_codes, np.int64)
        pairs = list(zip(terms, sizes.tolist(), strict=True))
        n_classes = terms[0].table.shape[1] if terms else 2
        nothing = np.empty((0, n_classes), np.int64)
        return cls(
            np.concatenate([nothing, *(each.table[:n] for each, n in pairs)]),
            np.concatenate([nothing, *(each.own[:n] for each, n in pairs)]),
            np.append(0, np.cumsum(sizes))[:-1],
            sizes,
        )

    @classmethod
    def stacked(cls, folds: Sequence["TermTables"]) -> "TermTables":
        """The same terms in several folds: the tables of each term one below the other."""
        first = folds[0]
        n_folds = len(folds)
        # Rows of term t in fold f come after those of all terms before and of all folds before.
        starts = n_folds * np.repeat(first.first, first.n_codes)
        within = np.arange(first.ratios.shape[0]) - np.repeat(first.first, first.n_codes)
        ratios = np.empty((n_folds * first.ratios.shape[0], first.n_classes), np.int64)
        own = np.empty_like(ratios)
        for f, each in enumerate(folds):
            at = starts + f * np.repeat(first.n_codes, first.n_codes) + within
            ratios[at], own[at] = each.ratios, each.own
        return cls(ratios, own, n_folds * first.first, n_folds * first.n_codes)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return self.first.size

    @property
    def n_classes(self) -> int:
        """How many classes they speak about."""
        return self.ratios.shape[1]

    @property
    def full(self) -> bool:
        """Is curvature summed for every pair of classes?"""
        return self.n_classes <= MOST_FULL

    @cached_property
    def width(self) -> int:
        """How many numbers each code adds up to."""
        from .kernels.weighted import count_planes

        return int(count_planes(self.n_classes, self.full)) + self.n_classes

    def rows(self, term: int) -> slice:
        """The rows of one term."""
        return slice(self.first[term], self.first[term] + self.n_codes[term])

    @cached_property
    def largest(self) -> float:
        """No score lies further from its constant, in whole terms."""
        if not self.ratios.size:
            return 1.0
        sizes = np.abs(self.ratios).max(1) + np.abs(self.own).max(1)
        most = np.sort(np.maximum.reduceat(sizes, self.first))[-_MOST_TOGETHER:]
        return float(most.sum()) * 2.0 ** (SCORE_BITS - TERM_BITS)


@dataclass(frozen=True)
class ScoredLines:
    """Lines sorted by true class.

    Parameters
    ----------
    rows : the row behind each line.
    starts : first line of each class, and the number of lines.
    weights : how often each line counts; empty where every line counts once.
    """

    rows: Ints
    starts: Ints
    weights: Ints

    @classmethod
    def sort(cls, labels: Ints, n_classes: int, weights: Ints) -> "ScoredLines":
        """All rows, those of one class together."""
        order = np.argsort(labels, kind="stable").astype(np.int64)
        starts = np.searchsorted(labels[order], np.arange(n_classes + 1)).astype(np.int64)
        plain = (weights == 1).all()
        kept = np.empty(0, np.int64) if plain else weights[order].astype(np.int64)
        return cls(order, starts, kept)

    @property
    def labels(self) -> Ints:
        """True class of each line."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def take(self, at: Ints) -> "ScoredLines":
        """Some lines only, ascending."""
        kept = self.weights[at] if self.weights.size else self.weights
        return ScoredLines(self.rows[at], np.searchsorted(at, self.starts), kept)


@dataclass(frozen=True)
class Cells:
    """What every line holds, term by term.

    Parameters
    ----------
    kinds : TWO (0 and 1 only), CODED (any codes) or PRESENT (sparse) of each term.
    columns : codes of each line, for TWO and CODED; the lines that have it, for PRESENT.
    codes : the same of all columns of one byte a cell, columns x lines.
    seats : row of `codes` of each term that has one there.
    """

    kinds: Ints
    columns: tuple[Array, ...]
    codes: NDArray[np.uint8]
    seats: Ints

    @classmethod
    def gather(cls, kinds: Ints, columns: Sequence[Array], at: Ints, n_rows: int) -> "Cells":
        """Some rows of columns, in this order; each row once."""
        bytes_ = np.array([column.dtype == np.uint8 for column in columns], bool)
        codes = np.empty((int(bytes_.sum()), at.size), np.uint8)
        seats = np.cumsum(bytes_) - 1
        place = np.full(n_rows, -1, np.int64)
        place[at] = np.arange(at.size)
        for lo, some in in_stacks([columns[j] for j in np.flatnonzero(bytes_).tolist()], n_rows):
            np.take(some, at, axis=1, out=codes[lo : lo + len(some)], mode="clip")
        found: list[Array] = []
        for kind, column, narrow, seat in zip(kinds, columns, bytes_, seats, strict=True):
            if kind == PRESENT:
                here = place[column]
                found.append(np.sort(here[here >= 0]))
            elif narrow:
                found.append(codes[seat])
            else:
                found.append(column[at])
        return cls(kinds, tuple(found), codes, seats)

    def take(self, at: Ints, n_lines: int) -> "Cells":
        """Some lines only."""
        return Cells.gather(self.kinds, self.columns, at, n_lines)


# Cells of short columns that are handled together: a call for each would take longer than the work.
_STACKED = 1 << 22


def in_stacks(columns: Sequence[Array], n_rows: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Columns of a byte a cell, some at a time as one array; and which is the first of them."""
    step = max(_STACKED // max(n_rows, 1), 1)
    for lo in range(0, len(columns), step):
        yield lo, np.array(columns[lo : lo + step], np.uint8)


def silenced(codes: Array, which: NDArray[np.bool_], silent: int) -> Array:
    """Codes, some of which are not heard: they read as another one."""
    kind = np.uint8 if codes.dtype == np.uint8 and silent <= MOST_CODES else np.int32
    return np.where(which[codes], kind(silent), codes.astype(kind, copy=False))
