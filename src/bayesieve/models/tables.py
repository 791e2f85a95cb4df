"""From log-probabilities to the ledger's integers."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..checks import as_fraction
from .base import MOST_BITS, FeatureModel, Floats, Grid, Ints, Settings, Terms, TrainingSets
from .logarithm import log_parts

Made = TypeVar("Made")


_ROOM_BITS = 62


# exp of minus this is 0 in float64: one impossible term outweighs any finite sum.
_BEYOND = 1024.0


@dataclass(frozen=True)
class Scale:
    """Fixed point: integers in units of 2^-bits nat; a log 0 costs `impossible` units."""

    bits: int
    impossible: int
    bound: float  #: no sum of terms exceeds this many nat

    @property
    def unit(self) -> float:
        return 2.0**-self.bits

    @classmethod
    def for_terms(cls, bounds: Iterable[float], n_impossible: int) -> "Scale":
        """The finest unit in which the sum over all features still fits an int64.

        Parameters
        ----------
        bounds : largest |finite term| of every feature, and of the prior.
        n_impossible : how many of them hold a log 0.
        """
        total = max(math.fsum(bounds), 1.0)
        cost = 2.0 ** math.ceil(math.log2(2 * total + _BEYOND)) if n_impossible else 0.0
        total += n_impossible * cost
        bits = min(MOST_BITS, _ROOM_BITS - math.ceil(math.log2(total)))
        return cls(bits, int(math.ldexp(cost, bits)), total)

    def fix(self, terms: Terms) -> Ints:
        """Round once; from here on, sums are exact and do not depend on order."""
        fixed = np.rint(np.ldexp(terms.finite, self.bits)).astype(np.int64)
        if terms.impossible is not None:
            fixed -= self.impossible * terms.impossible
        return fixed

    def release(self, fixed: Ints) -> Floats:
        """Back to nat; infinite where a log 0 is among the terms (of one side of a difference)."""
        nat = np.ldexp(fixed.astype(np.float64), -self.bits)
        if self.impossible:
            far = np.abs(fixed) >= self.impossible // 2
            nat[far] = np.copysign(np.inf, nat[far])
        return nat


class ColumnTerms(NamedTuple):
    """Everything needed to speak for one column."""

    model: FeatureModel
    statistics: Any
    grid: Grid
    settings: Settings

    def of(self, values: NDArray[Any], table_set: int | None = None) -> Terms:
        """Terms of the values for all sets, or for one: [sets x] values x classes."""
        statistics = self.statistics
        if table_set is not None:
            statistics = _one_set(statistics, table_set)
        terms = self.model.terms(statistics, values, self.grid, self.settings)
        terms = terms._replace(finite=self.model.limit(terms.finite, self.settings))
        if table_set is None:
            return terms
        impossible = terms.impossible
        return Terms(terms.finite[0], None if impossible is None else impossible[0])

    def left_out(self, values: NDArray[Any], column: NDArray[Any], sets: TrainingSets) -> Terms:
        """Terms when the line itself is taken out: own class x values x classes.

        Entry [y, v, k] serves a line of class y with value v.
        """
        base = self.model.terms(self.statistics, values, self.grid, self.settings)
        own = self.model.left_out(self.statistics, values, self.grid, self.settings, column, sets)
        n_classes = own.finite.shape[-1]
        finite = np.repeat(base.finite, n_classes, axis=0)
        impossible = np.zeros(finite.shape, bool)
        if base.impossible is not None:
            impossible[:] = base.impossible
        classes = np.arange(n_classes)
        finite[classes, :, classes] = own.finite.T
        impossible[classes, :, classes] = False if own.impossible is None else own.impossible.T
        if self.model.silent_unseen:
            alone = np.append(self.statistics[0, :-1].sum(-1) == 1, False)
            finite[:, alone] = 0.0
            impossible[:, alone] = False
        return Terms(
            self.model.limit(finite, self.settings), impossible if impossible.any() else None
        )


def choose_scale(
    columns: Sequence[ColumnTerms], tables: Sequence[Terms | None], prior: Terms
) -> Scale:
    """The scale of a model: bounds known beforehand, or read off the tables."""
    bounds = [float(np.abs(prior.finite).max())]
    n_impossible = int(prior.impossible is not None)
    for column, table in zip(columns, tables, strict=True):
        bound = column.model.bound(column.settings)
        if bound is None:
            assert table is not None
            bound = float(np.abs(table.finite).max(initial=0.0))
            n_impossible += table.impossible is not None
        bounds.append(bound)
    return Scale.for_terms(bounds, n_impossible)


def in_units_of_scale(make: Callable[[int], tuple[Made, Scale]]) -> tuple[Made, Scale]:
    """What `make` makes of a number of bits: the finest, or once more the bits of its scale.

    Terms rounded to a fine unit and then to a coarser one would no longer add up exactly.
    """
    made, scale = make(MOST_BITS)
    if scale.bits < MOST_BITS:
        made, _ = make(scale.bits)
    return made, scale


def prior_terms(
    counts: Floats, priors: str | Floats | None, class_weight: Floats, bits: int = MOST_BITS
) -> Terms:
    """Log-prior of each class in each set: sets x classes.

    Parameters
    ----------
    counts : weight of each class in each set.
    priors : None for the counts themselves, "uniform", or one probability a class.
    bits : logarithms of fractions are rounded to 2^-bits nat, prime by prime.
    """
    shape = counts.shape
    if priors is None:
        weighted = counts * class_weight
        total = weighted.sum(-1, keepdims=True)
        share = weighted / np.maximum(total, np.finfo(float).tiny)
        rest = -np.log(np.maximum(total, 1.0)) + np.zeros_like(share)
        parts = _shares_of_counts(counts.reshape(-1, shape[-1]), class_weight)
    else:
        given = np.full(shape[-1], 1 / shape[-1]) if isinstance(priors, str) else priors
        share = np.broadcast_to(given, shape).astype(float)
        rest = np.zeros_like(share)
        parts = [as_fraction(part) for part in share.ravel().tolist()]
    impossible = share <= 0
    known = [part for part in parts if part is not None]
    logs = log_parts(known, bits) if len(known) == share.size else None
    if logs is not None:
        finite = np.ldexp(logs.astype(np.float64), -bits).reshape(shape)
    else:
        with np.errstate(divide="ignore"):
            finite = np.log(share)
    return Terms(np.where(impossible, rest, finite), impossible if impossible.any() else None)


def _shares_of_counts(counts: Floats, class_weight: Floats) -> list[Fraction | None]:
    """Each class's share of the weighted counts of its set, exactly; None where unknown."""
    weights = [as_fraction(weight) for weight in class_weight.tolist()]
    shares: list[Fraction | None] = []
    for line in counts.tolist():
        weighted = [
            None if weight is None or count != int(count) else weight * int(count)
            for count, weight in zip(line, weights, strict=True)
        ]
        total = sum(part or Fraction(0) for part in weighted)
        shares += [None if part is None or not total else part / total for part in weighted]
    return shares


def left_out_priors(
    sets: TrainingSets, priors: str | Floats | None, bits: int = MOST_BITS
) -> Terms:
    """Log-priors seen by a line of each class when it is taken out: own class x classes."""
    counts = sets.class_counts - np.eye(sets.n_classes)
    return prior_terms(np.maximum(counts, 0.0), priors, sets.class_weight, bits)


def _one_set(statistics: Any, table_set: int) -> Any:
    """Keep a single set, whatever the statistics are made of."""
    one = slice(table_set, table_set + 1)
    if isinstance(statistics, tuple):
        return type(statistics)(*(part[one] for part in statistics))
    return statistics[one]
