"""The dense ledger on a GPU: integers decide as on the host, scans shortlist."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...checks import Foreign
from ...data.kernels.options import ERROR, PROBABILITY, ROW_KINDS
from ...models.base import Floats, Ints
from ..contract import (
    AS_IT_IS,
    SIGNS,
    WHOLE,
    Bounds,
    Measure,
    Scores,
    Units,
    sign_of,
)
from ..dense import LedgerTables, TableLedger
from ..layout import DenseRows, UnitSlots
from ..threads import Threads
from . import device as source
from .device import Store, Words, batches, blocks, check_fits, put_columns

if TYPE_CHECKING:
    from .engine import Gpu

#: With more classes nothing is scanned: exact losses of all candidates.
MOST_SCANNED = 32

_FLOAT32 = 2.0**-24

# Roundings of a line's value beside one a class: factors, reciprocal, products, and up to 16 sums
# within a word; and some to spare.
_ROUNDINGS = 32

# Columns whose terms differ by more nat between classes need a clamp in the scan; odds are cut off
# where the product of those of two lines stays finite.
_NEAR, _NEAR_ODDS, _FAR_ODDS = 13.5, 30.0, 85.0

# How scans of bit columns are cut, by the first word of a kernel's name.
_SHAPES = {"scan": "PROBABILITY", "surprise": "SURPRISE", "count": "ERROR"}

# Sorted margins are kept while they fit into this many bytes, with their ranks.
_MOST_NEEDS = 1 << 27


class GpuLedger(TableLedger):
    """Integer sums, classes x lines, in the memory of a GPU; whole columns join and leave.

    The rows are not kept.
    """

    def __init__(
        self,
        tables: LedgerTables,
        rows: DenseRows,
        factors: tuple[int, ...],
        threads: Threads,
        device: "Gpu",
    ):
        super().__init__(tables, rows.lines, factors)
        self._device, lines, n_classes = device, rows.lines, tables.n_classes
        self._words = Words.of(lines.labels, lines.line_sets)
        self._weighted = lines.weights.size > 0
        self._scanned_lines = (
            lines.class_totals(n_classes) if self._weighted else self._words.by_class(n_classes)
        )
        self._derived = ""  # what the planes hold of the sums, until these change
        self._surprise = np.zeros(n_classes)
        two = tables.n_codes == 2
        check_fits(self._words, n_classes, two, self._weighted, device.free_bytes())
        self._program = device.compile(
            source.selection_source(n_classes, n_classes <= MOST_SCANNED)
        )
        self._shapes = source.shapes_of(n_classes)
        self._store = Store(device)
        self._words.put(self._store, lines.weights)
        how = device, self._program, threads
        self._places = put_columns(self._words, rows.cells.column, two, self._store, how)
        self._n_bits, self._n = np.int32(two.sum()), np.int64(self._words.n_padded)
        self._store.put("table", tables.table)
        self._store.put("offsets", tables.offsets)
        self._store.put("n_codes", tables.n_codes.astype(np.int32))
        self._store.put("places", self._places)
        self._store.put("prior", tables.prior)
        self._store.put("factors", self._float_factors)
        self._store.put("every class", np.eye(n_classes))
        terms = tables.table.reshape(-1, n_classes)
        spread = float((terms.max(1) - terms.min(1)).max(initial=0)) * tables.scale.unit
        self._near = spread <= _NEAR
        sums = self._store.room("sums", (n_classes * self._words.n_padded,), np.int64)
        at = sums, self._store["sets"], self._store["prior"], self._n
        self._launch("start_sums", (blocks(self._words.n_padded),), *at)

    # -- the contract --------------------------------------------------------------------------

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Add or remove columns; exact, so that removal undoes addition to the bit."""
        self._derived = ""
        tables, kept, sign = self._tables, self._store, sign_of(steps)
        for slot in tables.slots[list(terms)].tolist():
            self._launch(
                "move_column",
                (blocks(int(self._n)),),
                *(kept[name] for name in ("sums", "bits", "codes", "sets", "table")),
                np.int64(tables.offsets[slot]),
                np.int32(tables.n_codes[slot]),
                self._places[slot],
                np.int32(sign),
                self._n_bits,
                self._n,
            )

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """Exact loss by class, by the quickest exact way."""
        kind, slots, sign = ROW_KINDS[measure.kind], self._slots(units), SIGNS[steps]
        which = np.asarray(which, np.int64)
        quick, n_classes = np.zeros(which.size, bool), self.outline.n_classes
        # From ranks, where lines have no weights and sorted margins are few.
        n_needs = 2 * int(self._n_bits) * self._tables.n_sets * n_classes * (n_classes - 1)
        ranked = not self._weighted and n_classes <= MOST_SCANNED and n_needs * 12 <= _MOST_NEEDS
        if kind == ERROR and ranked:
            single = (which != AS_IT_IS) & slots.coded[which]
            quick = single & (self._places[slots.first[which]] >= 0)
        out = np.empty((which.size, n_classes), np.int64)
        if not quick.all():
            out[~quick] = self._settle(kind, measure.bits, slots, which[~quick], sign)
        if quick.any():
            out[quick] = self._count_errors(slots.first[which[quick]], sign)
        return out

    def bounds(self, measure: Measure, units: Units, which: Ints, steps: int) -> Bounds:
        """Losses in single precision, and how far each may be off."""
        kind, slots, sign = ROW_KINDS[measure.kind], self._slots(units), SIGNS[steps]
        which = np.asarray(which, np.int64)
        fast = slots.linear[which]
        found = Bounds(np.zeros(which.size), np.full(which.size, np.inf))
        if kind == ERROR or self.outline.n_classes > MOST_SCANNED or fast.sum() < 2:
            return found
        found.losses[fast], found.doubts[fast] = self._scan(measure, slots.first[which[fast]], sign)
        return found

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """All lines at once; the sums go there and come back."""
        self.apply(joining, WHOLE)
        self.apply(leaving, -WHOLE)
        try:
            sums = self._device.read(self._store["sums"])
        finally:
            self.apply(leaving, WHOLE)
            self.apply(joining, -WHOLE)
        lines = self._scored
        yield Scores(
            lines.rows,
            lines.line_sets,
            lines.line_weights,
            lines.labels[None],
            sums.reshape(self.outline.n_classes, -1)[:, self._words.places].T[None],
        )

    # -- memory --------------------------------------------------------------------------------

    def _launch(self, name: str, grid: Sequence[int], *args: Foreign, block: int = 256) -> None:
        self._program.launch(name, grid, block, args)

    # -- exact answers -------------------------------------------------------------------------

    def _settle(self, kind: int, bits: int, slots: UnitSlots, which: Ints, sign: int) -> Ints:
        """Losses by class from the integer sums."""
        n_classes = self.outline.n_classes
        out = np.zeros((which.size, n_classes), np.int64)
        for lo, hi in batches(which.size):
            ends, members = _members(slots, which[lo:hi])
            # One copy for what the candidates are and for zeros to add their losses to.
            n_losses = (hi - lo) * n_classes
            given = np.concatenate([np.zeros(2 * n_losses, np.int32), ends, members])
            there = self._store.put("candidates", given)
            losses = there[: 2 * n_losses].view(np.int64).reshape(hi - lo, n_classes)
            self._launch(
                "settle",
                (self._store["first pieces"].size, hi - lo),
                np.int32(kind),
                *self._of_lines("pieces"),
                *(self._store[name] for name in ("bits", "codes", "places", "offsets")),
                *(self._store[name] for name in ("n_codes", "table")),
                there[2 * n_losses : 2 * n_losses + ends.size],
                there[2 * n_losses + ends.size :],
                np.int32(sign),
                self._tables.scale.unit,
                2.0**bits,
                losses,
                self._n_bits,
                self._n,
            )
            out[lo:hi] = self._device.read(losses)
        return out

    def _of_lines(self, parts: str) -> tuple[Foreign, ...]:
        """Sums, classes, sets, valid, weights and the parts of the lines that blocks have."""
        kept = self._store
        lines = [kept[name] for name in ("sums", "classes", "sets", "valid", "weights")]
        return (*lines, np.int32(self._weighted), kept[f"first {parts}"], kept[f"count {parts}"])

    def _count_errors(self, slots: Ints, sign: int) -> Ints:
        """Errors by class of bit columns: each line compares ranks."""
        kept, name = self._store, f"needs {sign}"
        if name not in kept:
            needs, limits = self._needs(sign)
            kept.put(name, needs)
            kept.put(f"limits {sign}", limits)
        if self._derived != name:
            planes = self._planes(self.outline.n_classes - 1)
            lines = (kept[each] for each in ("sums", "classes", "sets", "valid"))
            numbers = kept[name], np.int32(2 * self._n_bits), planes, self._n
            self._launch("find_ranks", (blocks(int(self._n)),), *lines, *numbers)
            self._derived = name
        parts = self._scan_bits("count_wrong", slots, sign, kept[f"limits {sign}"])
        return self._add_chunks(parts, "every class").astype(np.int64)

    def _needs(self, sign: int) -> tuple[Ints, NDArray[np.float32]]:
        """Margins that bit columns ask of right lines, and which of them each column asks for.

        Margins are in ascending order: sets x own class x others x margins; ranks, from 1, are of
        sets x own class x others x codes x columns.
        """
        tables, n_classes = self._tables, self.outline.n_classes
        two = np.flatnonzero(self._places >= 0)
        at = tables.offsets[two][:, None] + np.arange(tables.n_sets * 2 * n_classes)
        terms = tables.table[at].reshape(two.size, tables.n_sets, 2, n_classes)
        shape = tables.n_sets, n_classes, n_classes - 1, 2 * two.size
        margins, ranks = np.empty(shape, np.int64), np.empty(shape, np.float32)
        for own in range(n_classes):
            for q, k in enumerate(k for k in range(n_classes) if k != own):
                limits = sign * (terms[..., k] - terms[..., own]) + (k < own)
                for number, mine in enumerate(limits.transpose(1, 2, 0).reshape(tables.n_sets, -1)):
                    margins[number, own, q] = np.sort(mine)
                    ranks[number, own, q] = np.searchsorted(margins[number, own, q], mine) + 1
        return margins, ranks

    # -- fast answers --------------------------------------------------------------------------

    def _planes(self, n_planes: int) -> Foreign:
        return self._store.room("planes", (n_planes * int(self._n),), np.float32)

    def _derive(self, kind: int) -> None:
        """What scans of this kind read: odds, or posteriors and the surprise as it is."""
        n_classes, kept, unit = self.outline.n_classes, self._store, self._tables.scale.unit
        name = f"kind {kind}"
        if self._derived == name:
            return
        if kind == PROBABILITY:
            most = _NEAR_ODDS if self._near and not self._weighted else _FAR_ODDS
            lines = [kept[each] for each in ("sums", "classes", "valid")]
            planes = self._planes(n_classes - 1)
            self._launch("find_odds", (blocks(int(self._n)),), *lines, unit, most, planes, self._n)
        else:
            sums, classes, _, *rest = self._of_lines("pieces")
            parts = kept.room("surprise", (kept["first pieces"].size,), np.float64)
            planes = self._planes(n_classes)
            grid = (kept["first pieces"].size,)
            lines = [sums, classes, *rest]
            self._launch("find_posteriors", grid, *lines, unit, planes, parts, self._n)
            owners = self._words.piece_classes
            self._surprise[:] = np.bincount(owners, self._device.read(parts), n_classes)
        self._derived = name

    def _scan(self, measure: Measure, slots: Ints, sign: int) -> tuple[Floats, float]:
        """Approximate losses, and how far each may be from the exact ones."""
        kind = ROW_KINDS[measure.kind]
        self._derive(kind)
        factors, n_classes = self._float_factors, self.outline.n_classes
        two = self._places[slots] >= 0
        found = np.empty(slots.size)
        if two.any():
            how = "weighted" if self._weighted else "near" if self._near else "far"
            name = f"scan_{how}" if kind == PROBABILITY else f"surprise_{how}"
            parts = self._scan_bits(name, slots[two], sign, self._store["offsets"])
            found[two] = self._add_chunks(parts, "factors")[:, 0]
        if not two.all():
            found[~two] = self._scan_bytes(kind, slots[~two], sign)
        # Lines that are none count in a scan of lines without weights: as one each.
        lines = float(self._scanned_lines @ factors)
        # Exact losses are rounded too, a line at a time.
        doubt = lines * ((n_classes + _ROUNDINGS) * _FLOAT32 + 2.0 ** -(measure.bits + 1))
        if kind == PROBABILITY:
            return lines - found, doubt
        doubt += 1e-11 * float(np.abs(self._surprise) @ factors)
        return found + float(self._surprise @ factors), doubt

    def _scan_bits(self, name: str, slots: Ints, sign: int, limits: Foreign) -> Foreign:
        """Sums of bit columns, chunk by chunk."""
        kept, n = self._store, slots.size
        parts = kept.room("parts", (kept["first chunks"].size, n), np.float64)
        shape = self._shapes[_SHAPES[name.split("_")[0]]]
        self._launch(
            name,
            (blocks(n, source.SCAN_THREADS * shape.columns), kept["first chunks"].size),
            *(kept[each] for each in ("bits", "planes", "weights", "classes", "sets")),
            *(kept[each] for each in ("first chunks", "count chunks")),
            *(kept[each] for each in ("places", "offsets", "table")),
            kept.put("candidates", slots.astype(np.int32)),
            np.int32(n),
            np.int32(sign),
            self._tables.scale.unit,
            limits,
            parts,
            self._n_bits,
            self._n,
            block=source.SCAN_THREADS,
        )
        return parts

    def _scan_bytes(self, kind: int, slots: Ints, sign: int) -> Floats:
        """Sums of byte columns, weighed by class."""
        kept, found = self._store, []
        for lo, hi in batches(slots.size):
            parts = kept.room("parts", (kept["first chunks"].size, hi - lo), np.float64)
            self._launch(
                "scan_bytes",
                (kept["first chunks"].size, hi - lo),
                np.int32(kind != PROBABILITY),
                *(kept[each] for each in ("codes", "planes", "weights")),
                np.int32(self._weighted),
                *(kept[each] for each in ("classes", "sets", "first chunks", "count chunks")),
                *(kept[each] for each in ("places", "offsets", "n_codes", "table")),
                kept.put("candidates", slots[lo:hi].astype(np.int32)),
                np.int32(hi - lo),
                np.int32(sign),
                self._tables.scale.unit,
                parts,
                self._n,
            )
            found.append(self._add_chunks(parts, "factors")[:, 0])
        return np.concatenate(found)

    def _add_chunks(self, parts: Foreign, mix: str) -> Floats:
        """Sums of all chunks: candidates x rows of "factors", or of "every class"."""
        kept, (n_chunks, n) = self._store, parts.shape
        n_rows = kept[mix].size // self.outline.n_classes
        out = kept.room("added up", (n, n_rows), np.float64)
        lines = parts, kept["classes"], kept["first chunks"], kept[mix]
        numbers = np.int32(n_chunks), np.int32(n)
        self._launch("add_chunks", (blocks(n, 32), n_rows), *lines, *numbers, out)
        return self._device.read(out)


def _members(slots: UnitSlots, which: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Slots of the columns of some units one after the other, and where each unit's start."""
    pointers, members = slots.arrays
    sizes = np.where(which == AS_IT_IS, 0, (pointers[1:] - pointers[:-1])[which])
    ends = np.append(0, np.cumsum(sizes))
    at = np.arange(ends[-1]) + np.repeat(pointers[which] - ends[:-1], sizes)
    # An empty array has no place on a device.
    found = np.append(members[at], 0) if not at.size else members[at]
    return ends.astype(np.int32), found.astype(np.int32)
