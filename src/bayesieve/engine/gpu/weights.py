"""The weighted ledger on a GPU: posteriors in fixed point and their sums by code, as integers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Foreign
from ...models.base import SCORE_BITS, Ints
from ...models.log_ratios import CONSTANT_STEP
from ..contract import Slopes
from ..threads import Threads
from ..weighted import PRESENT, TWO, Cells, ScoredLines, TermTables, WeightedLines
from .device import Store, Words, batches, blocks, check_fits, put_columns, weights_source

if TYPE_CHECKING:
    from .engine import Gpu

# Planes that a thread, or a block, adds up in one go, as in weighted.cu.
_TOGETHER, _TOGETHER_BYTES = 4, 16


class GpuWeightLedger(WeightedLines):
    """Integer scores, classes x lines, in the memory of a GPU.

    The cells are not kept; losses are rounded to 2^-bits nat.
    """

    def __init__(
        self,
        tables: TermTables,
        lines: ScoredLines,
        cells: Cells,
        bits: int,
        threads: Threads,
        device: "Gpu",
    ):
        check_cells(cells)
        super().__init__(tables, lines, bits)
        self._device, n_classes = device, tables.n_classes
        self._weighted = lines.weights.size > 0
        self._n_planes = tables.width - n_classes
        labels = lines.labels
        self._words = Words.of(labels, np.zeros_like(labels))
        two = cells.kinds == TWO
        n = self._words.n_padded
        # Planes are what classes are to scans: each needs as much as a class does there.
        per_line = n_classes + self._n_planes
        check_fits(self._words, per_line, two, self._weighted, device.free_bytes())
        source = weights_source(n_classes, tables.full, self._weighted)
        self._program = device.compile(source)
        self._store = Store(device)
        self._words.put(self._store, lines.weights)
        how = device, self._program, threads
        self._places = put_columns(self._words, cells.columns.__getitem__, two, self._store, how)
        self._n_bits, self._n = np.int32(two.sum()), np.int64(n)
        self._store.put("ratios", tables.ratios.ravel())
        self._store.put("left out", tables.own.ravel())
        self._store.zeros("sums", (n_classes * n,), np.int64)
        kind = np.int64 if self._weighted else np.int32
        self._store.room("planes", ((self._n_planes + 1) * n,), kind)
        self._loss: int | None = None
        self._balance: Ints | None = None

    # -- the contract --------------------------------------------------------------------------

    def balance(self) -> Ints:
        """What constants could gain: sums by true class x (planes + 1)."""
        self._now()
        if self._balance is None:
            kept, shape = self._store, (self.tables.n_classes, self._n_planes + 1)
            found = kept.zeros("balance", shape, np.int64)
            grid = (kept["first chunks"].size, self._n_planes + 1)
            parts = kept["classes"], *self._parts("chunks")
            self._launch("balance", grid, kept["planes"], *parts, found, self._n)
            self._balance = self._device.read(found)
        return self._balance

    def slopes(self, which: Sequence[int]) -> Slopes:
        """Sums by code of some terms."""
        terms = np.asarray(which, np.int64)
        self._now()
        at = np.append(0, np.cumsum(self.tables.n_codes[terms] * self.tables.width))
        sums = np.zeros(at[-1], np.int64)
        two = self._places[terms] >= 0
        self._fill_two(terms[two], at[:-1][two], sums)
        self._fill_coded(terms[~two], at[:-1][~two], sums)
        return Slopes(sums, at)

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Raise the weights of terms by steps, in sixteenths."""
        kept = self._store
        for term, line in self._each(terms, steps):
            self._raise(term, line, kept["ratios"], kept["left out"], int(self.tables.first[term]))

    def add(self, terms: Sequence[int], tables: Sequence[Ints]) -> None:
        """Add to what terms say; what leaving a line out changes stays as it is."""
        kept, once = self._store, np.ones(self.tables.n_classes, np.int64)
        for term, table in zip(terms, tables, strict=True):
            added = kept.put("added", table.ravel())
            self._raise(term, once, added, kept.zeros("nothing", (table.size,), np.int64), 0)

    def _raise(self, term: int, steps: Ints, table: Foreign, own: Foreign, first: int) -> None:
        """Add steps of a table, from a row on, to the sums of the lines that have its codes."""
        self._loss = self._balance = None
        kept = self._store
        self._launch(
            "raise_term",
            (blocks(int(self._n)),),
            *(kept[name] for name in ("sums", "bits", "codes", "classes")),
            table,
            own,
            np.int64(first),
            kept.put("steps", np.asarray(steps, np.int64)),
            self._places[term],
            self._n_bits,
            self._n,
        )

    def shift(self, steps: Ints) -> None:
        """Raise the constants by steps, in sixty-fourths of a nat."""
        self._loss = self._balance = None
        kept = self._store
        there = kept.put("steps", np.asarray(steps, np.int64) * CONSTANT_STEP)
        self._launch("shift_sums", (blocks(int(self._n)),), kept["sums"], there, self._n)

    # -- sums ----------------------------------------------------------------------------------

    def _now(self) -> int:
        """Log-loss of all lines, each left out of its own tables."""
        if self._loss is None:
            kept, found = self._store, self._store.zeros("loss", (1,), np.int64)
            self._launch(
                "respond",
                (kept["first pieces"].size,),
                *(kept[name] for name in ("sums", "classes", "valid", "weights")),
                np.int32(self._weighted),
                *self._parts("pieces"),
                2.0**-SCORE_BITS,
                2.0**self.offers.bits,
                kept["planes"],
                found,
                self._n,
            )
            self._loss = int(self._device.read(found)[0])
        return self._loss

    def _read_sums(self) -> Ints:
        sums: Ints = self._device.read(self._store["sums"]).reshape(self.tables.n_classes, -1)
        return sums[:, self._words.places]

    def _launch(self, name: str, grid: Sequence[int], *args: Foreign) -> None:
        self._program.launch(name, grid, 256, args)

    def _parts(self, name: str) -> tuple[Foreign, Foreign]:
        return self._store[f"first {name}"], self._store[f"count {name}"]

    def _fill_two(self, terms: Ints, at: Ints, sums: Ints) -> None:
        """Code 1 is added up, code 0 has the rest."""
        if not terms.size:
            return
        kept, width, n_planes = self._store, self.tables.width, self._n_planes
        found = kept.zeros("slopes of bits", (terms.size, width), np.int64)
        grid = (blocks(terms.size), kept["first chunks"].size, blocks(n_planes + 1, _TOGETHER))
        self._launch(
            "slopes_of_bits",
            grid,
            *(kept[name] for name in ("bits", "planes", "classes")),
            *self._parts("chunks"),
            kept.put("columns", self._places[terms]),
            np.int32(terms.size),
            found,
            self._n_bits,
            self._n,
        )
        ones, totals = self._device.read(found), self.balance()
        every = np.append(totals[:, :n_planes].sum(0), totals[:, n_planes])
        sums[at[:, None] + np.arange(width)] = every - ones
        sums[at[:, None] + width + np.arange(width)] = ones

    def _fill_coded(self, terms: Ints, at: Ints, sums: Ints) -> None:
        kept, width = self._store, self.tables.width
        for lo, hi in batches(terms.size):
            sizes = self.tables.n_codes[terms[lo:hi]]
            ends = np.append(0, np.cumsum(sizes * width))
            found = kept.zeros("slopes of bytes", (int(ends[-1]),), np.int64)
            n_groups = blocks(self._n_planes + 1, _TOGETHER_BYTES)
            self._launch(
                "slopes_of_bytes",
                (kept["first chunks"].size, hi - lo, n_groups),
                *(kept[name] for name in ("codes", "planes", "classes")),
                *self._parts("chunks"),
                kept.put("columns", self._places[terms[lo:hi]]),
                kept.put("sizes", sizes.astype(np.int32)),
                kept.put("starts", ends[:-1].astype(np.int64)),
                found,
                self._n,
            )
            shift = at[lo:hi] - ends[:-1]
            sums[np.arange(ends[-1]) + np.repeat(shift, sizes * width)] = self._device.read(found)


def check_cells(cells: Cells) -> None:
    """Refuse columns that a GPU does not hold, by their positions."""
    odd: Ints = np.flatnonzero(cells.kinds == PRESENT)
    if odd.size:
        raise ValueError(
            "engine='gpu' holds dense tables; got sparse columns. Use engine=None, or a dense "
            "array of bytes."
        )
    wide = [j for j, column in enumerate(cells.columns) if column.dtype != np.uint8]
    if wide:
        raise ValueError(
            f"engine='gpu' holds columns of at most 255 values; term {wide[0]} has more. Use "
            "engine=None, or join rare values."
        )
