"""What the terms of a path say: enough to make the model of any of its states, without the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..models.base import Ints
from ..models.columns import Summary
from ..models.counts import log_shares_of
from ..models.fitted import FittedProblem
from ..models.pairs import PairTerms, Weighting
from ..models.weighted import Ratios, weigh
from .weights import WeightStep

_CONSTANTS = 64


@dataclass(frozen=True)
class TermPage:
    """One problem.

    Parameters
    ----------
    summary : of the columns of the book.
    ratios : what each of them says.
    pairs : by the number of the term; without weights.
    """

    summary: Summary
    ratios: list[Ratios]
    pairs: dict[int, PairTerms]


@dataclass(frozen=True)
class TermBook:
    """The columns that a path ever read, and what they say in each problem.

    Parameters
    ----------
    columns : their positions in the table, ascending; a term below their number is a column.
    pages : one a problem.
    smoothing : pseudo-count.
    speaks : does it say anything that a value is missing?
    monotone : columns of the table whose evidence may only rise (1) or fall (-1).
    """

    columns: tuple[int, ...]
    pages: tuple[TermPage, ...]
    smoothing: float
    speaks: bool
    monotone: tuple[tuple[int, int], ...]

    def columns_of(self, term: int) -> tuple[int, ...]:
        """The column, or the two columns, of a term: positions in the table."""
        pair = self.pages[0].pairs.get(term)
        if pair is None:
            return (term,)
        return tuple(self.columns[j] for j in pair.columns)

    def columns_in(self, step: WeightStep) -> list[int]:
        """The columns that a state reads, ascending."""
        return sorted({j for term in step.terms for j in self.columns_of(term)})

    def fitted(
        self,
        step: WeightStep,
        g: int,
        columns: Sequence[int],
        priors: tuple[float, ...] | None = None,
    ) -> FittedProblem:
        """The model of one problem at a state.

        Parameters
        ----------
        step : the state.
        g : which problem.
        columns : what the model reads: these columns of the table.
        priors : probabilities of the classes, for which the constants move; None: of the rows.
        """
        page, place = self.pages[g], {j: at for at, j in enumerate(columns)}
        at = [self.columns.index(j) for j in columns]
        weights = np.zeros((len(columns), step.constants[g].size), np.int64)
        pairs = []
        for term, line in zip(step.terms, step.weights[g], strict=True):
            if term in page.pairs:
                first, second = (place[j] for j in self.columns_of(term))
                pairs.append(replace(page.pairs[term], columns=(first, second), weights=line))
            else:
                weights[place[term]] = line
        constants = step.constants[g]
        if priors is not None:
            constants = constants + self._prior_shift(g, priors)
        rising = tuple((place[j], sign) for j, sign in self.monotone if j in place)
        weighting = Weighting(weights, tuple(pairs), self.speaks, rising, priors)
        ratios = [page.ratios[j] for j in at]
        return weigh(page.summary.restrict(at), ratios, constants, weighting, self.smoothing)

    def table(self, term: int, g: int) -> Ints:
        """What a term says before its weights: codes (of a pair: groups x groups) x classes."""
        page = self.pages[g]
        if term in page.pairs:
            return page.pairs[term].ratios
        return page.ratios[self.columns.index(term)].table[:-1]

    def _prior_shift(self, g: int, priors: tuple[float, ...]) -> Ints:
        """How far constants move when the classes have other probabilities than among the rows."""
        summary = self.pages[g].summary
        shares = log_shares_of(summary.class_count * summary.class_weight)
        return np.rint((np.log(priors) - shares) * _CONSTANTS).astype(np.int64)
