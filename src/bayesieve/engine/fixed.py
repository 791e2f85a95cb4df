"""Tables of a dense ledger as integers alone: what a ledger of other rows needs of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..models.base import Ints, Scale
from .dense import DenseTables, linearise
from .tables import LinearFactors, Speak


@dataclass(frozen=True)
class FixedTables:
    """Integer terms of columns of codes.

    Parameters
    ----------
    scale, prior, slots, n_codes, offsets, table : see `LedgerTables`.
    wide : tables of the columns with too many values for a byte, sets x values x classes.
    """

    scale: Scale
    prior: Ints
    slots: Ints
    n_codes: Ints
    offsets: Ints
    table: Ints
    wide: tuple[Ints, ...] = ()

    @classmethod
    def of(cls, tables: DenseTables) -> "FixedTables":
        """The integers of tables of counts."""
        at = (tables.slots, tables.n_codes, tables.offsets)
        return cls(tables.scale, tables.prior, *at, tables.table, tables.wide())

    @property
    def n_classes(self) -> int:
        """How many classes."""
        return self.prior.shape[1]

    @property
    def n_sets(self) -> int:
        """How many sets of tables."""
        return self.prior.shape[0]

    @cached_property
    def _linear(self) -> LinearFactors:
        return linearise(self.table, self.offsets, self.slots, self.n_classes, self.scale)

    @property
    def linear(self) -> dict[int, NDArray[np.float32]]:
        """In the linear domain."""
        return self._linear.factors

    @property
    def linear_ok(self) -> NDArray[np.bool_]:
        """May a scan use them?"""
        return self._linear.allowed

    def speaker(self, column: int) -> Speak:
        """Looks values up."""
        whole = self.wide[-1 - self.slots[column]]
        return lambda values, table_set: whole[table_set, values.astype(np.int64)]
