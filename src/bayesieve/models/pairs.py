"""Pairs of columns as terms: a small table of counts over two columns' coarse codes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .base import Floats, Ints

#: Rows by which a cell's share is drawn towards independence within its class.
SHRINK = 10.0


@dataclass(frozen=True)
class PairTerms:
    """One pair of columns and its weights.

    Parameters
    ----------
    columns : positions of the two columns.
    groups : coarse code of each code of the two columns; the last one says nothing.
    counts : rows of each class in each cell, groups x groups x classes, without the silent ones.
    ratios : log [P(cell | class) / P(cell)] in whole units, groups x groups x classes.
    weights : sixteenths, one a class.
    """

    columns: tuple[int, int]
    groups: tuple[Ints, Ints]
    counts: Floats
    ratios: Ints
    weights: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """Groups of the two columns, without the silent ones."""
        return self.counts.shape[0], self.counts.shape[1]

    @property
    def table(self) -> Ints:
        """Weighted terms, silent groups included: groups x groups x classes."""
        return np.pad(self.ratios * self.weights, ((0, 1), (0, 1), (0, 0)))

    def terms_of(self, first: Ints, second: Ints) -> Ints:
        """Weighted terms of rows whose two columns have these codes: rows x classes."""
        found: Ints = self.table[self.groups[0][first], self.groups[1][second]]
        return found

    def moved(self, columns: tuple[int, int]) -> "PairTerms":
        """The pair, its columns at other positions."""
        return replace(self, columns=columns)


@dataclass(frozen=True)
class Weighting:
    """What makes a model a weighted one.

    Parameters
    ----------
    weights : of the columns for each class, in sixteenths.
    pairs : pairs of columns that speak together.
    speaks : does it say anything that a value is missing?
    monotone : columns whose evidence may only rise (1) or fall (-1).
    priors : class probabilities for which the constants were moved; None: those of the rows.
    """

    weights: Ints
    pairs: tuple[PairTerms, ...] = ()
    speaks: bool = False
    monotone: tuple[tuple[int, int], ...] = ()
    priors: tuple[float, ...] | None = None

    def restrict(self, columns: Sequence[int]) -> "Weighting":
        """Some columns only, and the pairs of which both are among them."""
        at = {int(j): place for place, j in enumerate(columns)}
        return replace(
            self,
            weights=self.weights[list(columns)],
            pairs=tuple(
                pair.moved((at[pair.columns[0]], at[pair.columns[1]]))
                for pair in self.pairs
                if at.keys() >= set(pair.columns)
            ),
            monotone=tuple((at[j], sign) for j, sign in self.monotone if j in at),
        )


def cells(groups: tuple[Ints, Ints], first: Ints, second: Ints) -> Ints:
    """Codes of a pair: first group x second group, and one code that says nothing."""
    a, b = groups[0][first], groups[1][second]
    n_a, n_b = groups[0][-1], groups[1][-1]
    return np.where((a == n_a) | (b == n_b), n_a * n_b, a * n_b + b)


def pair_terms(counts: Floats, class_weight: Floats) -> tuple[Floats, Floats]:
    """Log P(cell | class), and what it loses when a row of the class leaves its cell.

    Shares are drawn towards independence within the class.  A row that is left out leaves its cell
    and its class's total; what independence would give stays as it is.

    Parameters
    ----------
    counts : rows, groups x groups x classes.
    class_weight : factor on the counts of each class.

    Returns
    -------
    terms, own : cells x classes each.
    """
    from ..data.kernels.exact import log_all

    n_classes = counts.shape[-1]
    known = counts * class_weight
    total = known.sum((0, 1))
    one = (known.sum(1) + 0.5) / (total + 0.5 * counts.shape[0])
    two = (known.sum(0) + 0.5) / (total + 0.5 * counts.shape[1])
    apart = SHRINK * (one[:, None] * two[None]).reshape(-1, n_classes)
    flat = known.reshape(-1, n_classes)

    def logs(numbers: Floats) -> Floats:
        out = np.empty(numbers.size)
        log_all(np.ascontiguousarray(numbers).ravel(), out)
        return out.reshape(numbers.shape)

    terms = logs(flat + apart) - logs(total + SHRINK)
    fewer = np.maximum(flat - class_weight, 0.0)
    left = logs(fewer + apart) - logs(np.maximum(total - class_weight, 0.0) + SHRINK)
    return terms, np.where(flat > 0, left - terms, 0.0)
