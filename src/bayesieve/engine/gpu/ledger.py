"""The dense ledger on a GPU: integers decide as on the host, scans shortlist."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...checks import Foreign
from ...data.kernels.options import ERROR, PROBABILITY, ROW_KINDS
from ...models.base import Floats, Ints
from ..contract import AS_IT_IS, Bounds, Measure, Outline, Scores, Units, walk
from ..dense import UnitSlots
from ..lines import DenseRows
from ..tables import LedgerTables
from ..threads import Threads
from . import source
from .device import Device, Store, batches, blocks
from .memory import check_fits
from .words import CHUNK, Words, put_columns

#: With more classes nothing is scanned: exact losses of all candidates.
MOST_SCANNED = 32

_FLOAT32 = 2.0**-24

# Roundings of a line's value beside one a class: factors, reciprocal, products, and up to 16 sums
# within a word; and some to spare.
_ROUNDINGS = 32

# Columns whose terms differ by more nat between classes need a clamp in the scan; odds are cut off
# where the product of those of two lines stays finite.
_NEAR, _NEAR_ODDS, _FAR_ODDS = 13.5, 30.0, 85.0

# Sorted margins are kept while they fit into this many bytes.
_MOST_NEEDS = 1 << 27


class GpuLedger:
    """Integer sums, classes x lines, in the memory of a GPU.

    Parameters
    ----------
    tables : the terms of all columns, value by value.
    rows : the lines and what they hold; not kept.
    factors : what a line of each class counts.
    threads : who packs columns.
    device : the GPU.
    """

    def __init__(
        self,
        tables: LedgerTables,
        rows: DenseRows,
        factors: tuple[int, ...],
        threads: Threads,
        device: Device,
    ):
        scale, n_classes = tables.scale, tables.n_classes
        self.outline = Outline(n_classes, ("",), False, factors, scale.bits, scale.bound)
        self._tables, self._lines, self._device = tables, rows.lines, device
        self._float_factors = np.array([float(factor) for factor in factors])
        lines = rows.lines
        self._words = Words.of(lines.labels, lines.line_sets)
        self._weighted = lines.weights.size > 0
        self._class_totals = lines.class_totals(n_classes)
        self._units: UnitSlots | None = None
        self._derived = ""  # what the planes hold of the sums, until these change
        self._surprise = np.zeros(n_classes)
        two = tables.n_codes == 2
        check_fits(self._words, n_classes, two, self._weighted, device.free_bytes())
        self._program = device.compile(
            source.selection_source(n_classes, n_classes <= MOST_SCANNED)
        )
        self._store = Store(device)
        self._words.put(self._store, lines.weights)
        columns = [codes[: lines.rows.size] for codes in rows.codes]
        how = device, self._program, threads
        self._places = put_columns(self._words, columns, two, self._store, how)
        self._n_bits, self._n = np.int32(two.sum()), np.int64(self._words.n_padded)
        self._put_tables()
        self._near = _largest_spread(tables) <= _NEAR
        self._start()

    # -- the contract --------------------------------------------------------------------------

    def totals(self) -> Ints:
        """Weight of the lines: problems (one) x folds x classes."""
        lines = self._lines
        found = np.zeros((1, self._tables.n_sets, self.outline.n_classes), np.int64)
        np.add.at(found[0], (lines.line_sets, lines.labels), lines.line_weights)
        return found

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Let columns join (1) or leave (-1); exact, so leaving undoes joining to the bit."""
        self._derived = ""
        tables, kept = self._tables, self._store
        for slot in tables.slots[list(columns)].tolist():
            self._launch(
                "move_column",
                (blocks(int(self._n)),),
                kept["sums"],
                kept["bits"],
                kept["codes"],
                kept["sets"],
                kept["table"],
                np.int64(tables.offsets[slot]),
                np.int32(tables.n_codes[slot]),
                self._places[slot],
                np.int32(sign),
                self._n_bits,
                self._n,
            )

    def losses(self, measure: Measure, units: Units, which: Ints, sign: int) -> Ints:
        """Exact loss by class, by the quickest exact way."""
        kind, slots = ROW_KINDS[measure.kind], self._slots(units)
        which = np.asarray(which, np.int64)
        quick = np.zeros(which.size, bool)
        if kind == ERROR and self._counts_by_rank:
            single = (which != AS_IT_IS) & slots.coded[which]
            quick = single & (self._places[slots.first[which]] >= 0)
        if quick.all() and which.size:
            return self._count_errors(slots.first[which], sign)
        out = np.empty((which.size, self.outline.n_classes), np.int64)
        out[~quick] = self._settle(kind, measure.bits, slots, which[~quick], sign)
        if quick.any():
            out[quick] = self._count_errors(slots.first[which[quick]], sign)
        return out

    def bounds(self, measure: Measure, units: Units, which: Ints, sign: int) -> Bounds:
        """Losses in single precision, and how far each may be off."""
        kind, slots = ROW_KINDS[measure.kind], self._slots(units)
        which = np.asarray(which, np.int64)
        found = Bounds(np.zeros(which.size), np.full(which.size, np.inf))
        fast = slots.linear[which]
        if kind != ERROR and self.outline.n_classes <= MOST_SCANNED and fast.sum() > 1:
            mine = slots.first[which[fast]]
            found.losses[fast], found.doubts[fast] = self._scan(kind, mine, sign)
        return found

    def walk(self, measure: Measure, units: Units, which: Ints, signs: Ints) -> Ints:
        """One step after the other."""
        return walk(self, measure, units, which, signs)

    def scores(self, joining: Sequence[int], leaving: Sequence[int]) -> Iterator[Scores]:
        """All lines at once; the sums go there and come back."""
        self.apply(joining, 1)
        self.apply(leaving, -1)
        try:
            sums = self._device.read(self._store["sums"])
        finally:
            self.apply(leaving, 1)
            self.apply(joining, -1)
        lines = self._lines
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

    def _put_tables(self) -> None:
        tables, kept = self._tables, self._store
        kept.put("table", tables.table)
        kept.put("offsets", tables.offsets)
        kept.put("n_codes", tables.n_codes.astype(np.int32))
        kept.put("places", self._places)
        kept.put("prior", tables.prior)

    def _start(self) -> None:
        n, kept = int(self._n), self._store
        sums = kept.room("sums", (self.outline.n_classes * n,), np.int64)
        self._launch("start_sums", (blocks(n),), sums, kept["sets"], kept["prior"], self._n)

    def _slots(self, units: Units) -> UnitSlots:
        if self._units is None or self._units.units is not units:
            self._units = UnitSlots(units, self._tables)
        return self._units

    # -- exact answers -------------------------------------------------------------------------

    def _settle(self, kind: int, bits: int, slots: UnitSlots, which: Ints, sign: int) -> Ints:
        """Losses by class from the integer sums."""
        n_classes = self.outline.n_classes
        out = np.zeros((which.size, n_classes), np.int64)
        for lo, hi in batches(which.size):
            ends, members = _members(slots, which[lo:hi])
            there = self._store.zeros("losses", (hi - lo, n_classes), np.int64)
            self._launch(
                "settle",
                (self._store["first pieces"].size, hi - lo),
                np.int32(kind),
                *self._of_lines("pieces"),
                *(self._store[name] for name in ("bits", "codes", "places", "offsets")),
                *(self._store[name] for name in ("n_codes", "table")),
                self._store.put("pointers", ends),
                self._store.put("members", members),
                np.int32(sign),
                self._tables.scale.unit,
                2.0**bits,
                there,
                self._n_bits,
                self._n,
            )
            out[lo:hi] = self._device.read(there)
        return out

    def _of_lines(self, parts: str) -> tuple[Foreign, ...]:
        """Sums, classes, sets, valid, weights and the parts of the lines that blocks have."""
        kept = self._store
        return (
            kept["sums"],
            kept["classes"],
            kept["sets"],
            kept["valid"],
            kept["weights"],
            np.int32(self._weighted),
            kept[f"first {parts}"],
            kept[f"count {parts}"],
        )

    @property
    def _counts_by_rank(self) -> bool:
        """Are errors counted from ranks: lines without weights, and few sorted margins?"""
        n_classes = self.outline.n_classes
        n_needs = 2 * int(self._n_bits) * self._tables.n_sets * n_classes * (n_classes - 1)
        return not self._weighted and n_classes <= MOST_SCANNED and n_needs * 8 <= _MOST_NEEDS

    def _count_errors(self, slots: Ints, sign: int) -> Ints:
        """Errors by class of bit columns: each line compares ranks."""
        kept, n_needs = self._store, np.int32(2 * self._n_bits)
        name = f"needs {sign}"
        if name not in kept:
            kept.put(name, self._needs(sign))
        if self._derived != name:
            planes = self._planes(self.outline.n_classes - 1)
            lines = (kept[each] for each in ("sums", "classes", "sets", "valid"))
            grid = (blocks(int(self._n)),)
            self._launch("find_ranks", grid, *lines, kept[name], n_needs, planes, self._n)
            self._derived = name
        right = self._scan_bits("count_right", slots, sign, kept[name], n_needs)
        return self._words.by_class(self.outline.n_classes) - right.astype(np.int64)

    def _needs(self, sign: int) -> Ints:
        """Margins that bit columns ask of right lines, ascending: sets x own x others x margins."""
        tables, n_classes = self._tables, self.outline.n_classes
        two = np.flatnonzero(self._places >= 0)
        at = tables.offsets[two][:, None] + np.arange(tables.n_sets * 2 * n_classes)
        terms = tables.table[at].reshape(two.size, tables.n_sets, 2, n_classes)
        found = np.empty((tables.n_sets, n_classes, n_classes - 1, 2 * two.size), np.int64)
        for own in range(n_classes):
            for q, k in enumerate(k for k in range(n_classes) if k != own):
                asked = sign * (terms[..., k] - terms[..., own]) + (k < own)
                found[:, own, q] = np.sort(asked.transpose(1, 0, 2).reshape(tables.n_sets, -1))
        return found

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
            sums, classes, _, *rest = self._of_lines("chunks")
            parts = kept.room("surprise", (kept["first chunks"].size,), np.float64)
            planes = self._planes(n_classes)
            grid = (kept["first chunks"].size,)
            lines = [sums, classes, *rest]
            self._launch("find_posteriors", grid, *lines, unit, planes, parts, self._n)
            first, _ = self._words.cuts(CHUNK)
            owners = np.repeat(self._words.classes, self._words.counts)[first]
            self._surprise[:] = np.bincount(owners, self._device.read(parts), n_classes)
        self._derived = name

    def _scan(self, kind: int, slots: Ints, sign: int) -> tuple[Floats, float]:
        """Approximate losses, and how far each may be from the truth."""
        self._derive(kind)
        n_classes = self.outline.n_classes
        found = np.empty((slots.size, n_classes))
        two = self._places[slots] >= 0
        if two.any():
            name = "scan_near" if self._near else "scan_far"
            name = "scan_weighted" if self._weighted else name
            if kind != PROBABILITY:
                name = "scan_surprise_weighted" if self._weighted else "scan_surprise"
            nothing = self._store["offsets"], np.int32(0)
            found[two] = self._scan_bits(name, slots[two], sign, *nothing)
        if not two.all():
            found[~two] = self._scan_bytes(kind, slots[~two], sign)
        lines = self._class_totals if self._weighted else self._words.by_class(n_classes)
        # Lines that are none count in a scan of lines without weights: as one each.
        doubt = float(lines @ self._float_factors) * (n_classes + _ROUNDINGS) * _FLOAT32
        if kind == PROBABILITY:
            return (lines - found) @ self._float_factors, doubt
        doubt += 1e-11 * float(np.abs(self._surprise) @ self._float_factors)
        return (found + self._surprise) @ self._float_factors, doubt

    def _scan_bits(
        self, name: str, slots: Ints, sign: int, needs: Foreign, n_needs: np.int32
    ) -> Floats:
        """Sums by class of bit columns."""
        kept, n = self._store, slots.size
        parts = kept.room("parts", (kept["first chunks"].size, n), np.float64)
        shape = source.shape_of(self.outline.n_classes)
        self._launch(
            name,
            (blocks(n, shape.threads * shape.columns), kept["first chunks"].size),
            *(kept[each] for each in ("bits", "planes", "weights", "classes", "sets")),
            *(kept[each] for each in ("first chunks", "count chunks")),
            *(kept[each] for each in ("places", "offsets", "table")),
            kept.put("candidates", slots.astype(np.int32)),
            np.int32(n),
            np.int32(sign),
            self._tables.scale.unit,
            needs,
            n_needs,
            parts,
            self._n_bits,
            self._n,
            block=shape.threads,
        )
        return self._add_chunks(parts, n)

    def _scan_bytes(self, kind: int, slots: Ints, sign: int) -> Floats:
        """Sums by class of byte columns."""
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
            found.append(self._add_chunks(parts, hi - lo))
        return np.concatenate(found)

    def _add_chunks(self, parts: Foreign, n: int) -> Floats:
        kept, n_chunks = self._store, self._store["first chunks"].size
        out = kept.room("by class", (n, self.outline.n_classes), np.float64)
        lines = parts, kept["classes"], kept["first chunks"]
        self._launch("add_chunks", (blocks(n),), *lines, np.int32(n_chunks), np.int32(n), out)
        found: Floats = self._device.read(out)
        return found


def _members(slots: UnitSlots, which: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Slots of the columns of some units one after the other, and where each unit's start."""
    pointers, members = slots.arrays
    sizes = np.where(which == AS_IT_IS, 0, (pointers[1:] - pointers[:-1])[which])
    ends = np.append(0, np.cumsum(sizes))
    at = np.arange(ends[-1]) + np.repeat(pointers[which] - ends[:-1], sizes)
    # An empty array has no place on a device.
    found = np.append(members[at], 0) if not at.size else members[at]
    return ends.astype(np.int32), found.astype(np.int32)


def _largest_spread(tables: LedgerTables) -> float:
    """By how many nat the terms of a value differ most between classes."""
    terms = tables.table.reshape(-1, tables.n_classes)
    if not terms.size:
        return 0.0
    return float((terms.max(1) - terms.min(1)).max()) * tables.scale.unit
