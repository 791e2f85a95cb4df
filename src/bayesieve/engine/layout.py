"""Layout of a dense ledger: which rows are scored, and by which fold's tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import Array, Bytes, Floats, check_memory, choose
from ..data.columns import MOST_CODES, ColumnSpec, to_codes
from ..data.kernels.options import BLOCK, BYTES, LANES
from ..data.sample import find_splits, training_copies
from ..data.storage import IN_MEMORY, Lookup, Room
from ..models.base import Ints, Statistics, TrainingSets, one_set
from ..models.registry import MODELS
from .contract import Units
from .kernels.arrays import LineArrays, UnitArrays

if TYPE_CHECKING:
    from .dense import LedgerTables


@dataclass(frozen=True)
class Lines:
    """The lines of a ledger, sorted by true class and table set.

    Pieces are runs of lines that share both; tiles are runs of pieces of one class that a kernel
    handles together.
    """

    rows: Ints  #: the row of the table behind each line
    pieces: Ints  #: first line of each piece, and the number of lines at the end
    sets: Ints  #: table set of each piece
    tiles: Ints  #: first piece of each tile, and the number of pieces at the end
    classes: Ints  #: true class of each tile
    weights: Ints  #: how often each line counts; empty where every line counts once

    @classmethod
    def sort(cls, rows: Array, sets: Array, labels: Array, weights: Array) -> "Lines":
        """Sort lines by class and set, stably, and cut them into pieces and tiles."""
        if not rows.size:
            none = np.empty(0, np.int64)
            return cls(none, np.zeros(1, np.int64), none, np.zeros(1, np.int64), none, none)
        order = np.lexsort((sets, labels))
        keys = np.stack([labels[order], sets[order]])
        cuts = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(0)) + 1
        ends = np.append(cuts, rows.size)
        pieces, tiles = [0], [0]
        room = BLOCK
        for start, end in pairwise([0, *ends.tolist()]):
            if keys[0, start] != keys[0, pieces[-1] - 1] or end - start > room:
                tiles.append(len(pieces) - 1)
                room = BLOCK
            for stop in range(start + BLOCK, end, BLOCK):
                pieces.append(stop)
                tiles.append(len(pieces) - 1)
                room = BLOCK
            room -= end - pieces[-1]
            pieces.append(end)
        tiles = sorted({*tiles, len(pieces) - 1})
        first_lines = np.array(pieces[:-1])
        kept = weights[order].astype(np.int64)
        return cls(
            rows[order].astype(np.int64),
            np.array(pieces, np.int64),
            keys[1, first_lines].astype(np.int64),
            np.array(tiles, np.int64),
            keys[0, first_lines[tiles[:-1]]].astype(np.int64),
            np.empty(0, np.int64) if (kept == 1).all() else kept,
        )

    @property
    def labels(self) -> Ints:
        """True class of every line."""
        return np.repeat(self.classes, np.diff(self.pieces[self.tiles]))

    def runs(self) -> Iterator[tuple[slice, int]]:
        """The longest runs of lines that read one table set, and that set."""
        first = np.flatnonzero(np.diff(self.sets, prepend=-1))
        ends = self.pieces[np.append(first, self.sets.size)]
        for g, (start, end) in zip(self.sets[first], pairwise(ends), strict=True):
            yield slice(start, end), int(g)

    @cached_property
    def arrays(self) -> LineArrays:
        """Arrays of the lines in the form that the kernels read."""
        return LineArrays(self.pieces, self.sets, self.tiles, self.classes, self.weights)

    @cached_property
    def has_whole_tiles(self) -> bool:
        """Is a tile as wide as it may be, of one piece, and does every line count once?"""
        whole = (np.diff(self.tiles) == 1) & (np.diff(self.pieces[self.tiles]) == BLOCK)
        return not self.weights.size and bool(whole.any())

    @property
    def line_sets(self) -> Ints:
        """Table set of every line."""
        return np.repeat(self.sets, np.diff(self.pieces))

    @property
    def line_weights(self) -> Ints:
        """How often every line counts."""
        return self.weights if self.weights.size else np.ones(self.rows.size, np.int64)

    def class_totals(self, n_classes: int) -> Ints:
        """Weight of the lines of each true class."""
        totals = np.zeros(n_classes, np.int64)
        np.add.at(totals, self.labels, self.line_weights)
        return totals

    def take(self, at: Ints) -> "Lines":
        """Some lines only, in the same order."""
        return Lines.sort(self.rows[at], self.line_sets[at], self.labels[at], self.line_weights[at])


class ScoredRows(NamedTuple):
    """Which rows train, and which are scored."""

    sets: TrainingSets  #: of the training rows
    lines: Lines  #: rows of the table
    loo: bool  #: lines leave themselves out
    training: Ints  #: rows of the table that train, some of them several times


def scoring(
    cv: object,
    labels: Ints,
    weights: Floats,
    guiding: Ints,
    factors: list[Fraction],
    numbers: Ints | None = None,
    groups: Array | None = None,
    n_rows: int | None = None,
) -> ScoredRows:
    """Training sets and lines, as `cv` makes them of the guiding rows.

    `cv` is "train", "loo", a number of folds, a splitter of the guiding rows, or an iterable of the
    user's row numbers, which `numbers` tells where rows without weight are gone.
    """
    mine = labels[guiding]
    class_weight = np.array([float(factor) for factor in factors])

    if isinstance(cv, str):
        choose("cv", cv, ["train", "loo"], beside="a number of folds")
        loo = cv == "loo"
        lines = Lines.sort(guiding, mine if loo else np.zeros_like(mine), mine, weights[guiding])
        return ScoredRows(
            one_set(mine, weights[guiding], class_weight, guiding), lines, loo, guiding
        )
    theirs = guiding if numbers is None else numbers[guiding]
    splits = find_splits(cv, mine, theirs, groups, labels.size if n_rows is None else n_rows)
    rows = [test for _, test in splits]
    at = np.concatenate(rows)
    sets = np.repeat(np.arange(len(rows)), [test.size for test in rows])
    lines = Lines.sort(guiding[at], sets, mine[at], weights[guiding][at])
    copies, left_out = training_copies([train for train, _ in splits], guiding.size)
    training = guiding[copies]
    found = TrainingSets(mine[copies], weights[training], left_out, class_weight, training)
    return ScoredRows(found, lines, False, training)


def validation_lines(labels: Ints, weights: Floats, rows: Ints) -> Lines:
    """Lines of the validation part: one set of tables, from all guiding rows."""
    mine = labels[rows]
    return Lines.sort(rows, np.zeros_like(mine), mine, weights[rows])


#: Term columns of continuous features are kept while they fit into this many bytes; beyond, they
#: are made anew whenever they are read.
TERM_CACHE_BYTES = 2**28

#: Below this many cells a table stays in the caches and bytes are as quick; bits take an eighth of
#: the room.
MANY_CELLS = 1 << 22

#: Tables of all columns of codes may take this much; beyond, a column is kept as its terms where
#: that takes less.
TABLE_BYTES = 2**25


class LineCells:
    """Codes of columns, of each line: a byte a cell, or a bit."""

    def __init__(self, lines: Lines, n_columns: int, room: Room = IN_MEMORY):
        self._lines, self._n_columns, self._room = lines, n_columns, room
        # A tile of few lines, as of a rare class, takes as many bits as a full one.
        saves = 2 * lines.classes.size * BYTES <= lines.rows.size
        self._packs = saves and lines.rows.size * n_columns >= MANY_CELLS
        self._rows: list[int] = []
        self._n_bits = 0
        #: Columns x lines, padded by LANES: kernels read whole vectors.
        self.codes = np.empty((0, lines.rows.size + LANES), np.uint8)
        #: Columns x bytes, BYTES a tile, see `pack_bits`.
        self.bits = np.empty((0, lines.classes.size * BYTES), np.uint8)

    @property
    def rows(self) -> Ints:
        """Where each column is: a row of codes, or below 0 one of bits."""
        return np.array(self._rows, np.int64)

    def put(self, codes: Array, two: bool) -> None:
        """The next column; `two`: it holds 0 and 1 only."""
        if two and self._packs:
            from .kernels.bits import pack_bits

            if not self.bits.shape[0]:
                self.bits = self._room((self._n_columns, self.bits.shape[1]), np.uint8)
            pack_bits(codes, self._lines.arrays, self.bits[self._n_bits])
            self._n_bits += 1
            self._rows.append(-self._n_bits)
            return
        if not self.codes.shape[0]:
            self.codes = self._room((self._n_columns, self.codes.shape[1]), np.uint8)
        row = len(self._rows) - self._n_bits
        self.codes[row, : codes.size] = codes
        self._rows.append(row)

    def column(self, slot: int) -> Bytes:
        """The codes of one column."""
        row = self._rows[slot]
        if row >= 0:
            return self.codes[row, : self._lines.rows.size]
        from .kernels.bits import unpack_column

        found = np.empty(self._lines.rows.size, np.uint8)
        unpack_column(self.bits[-1 - row], self._lines.arrays, found)
        return found

    def is_two(self, slot: int) -> bool:
        """Is the column held as bits?"""
        return self._rows[slot] < 0

    def take(self, at: Ints, lines: Lines) -> "LineCells":
        """Some lines only."""
        found = LineCells(lines, len(self._rows), self._room)
        for slot in range(len(self._rows)):
            found.put(self.column(slot)[at], self.is_two(slot))
        return found


@dataclass(frozen=True)
class DenseRows:
    """Codes of columns with few values, numbers of the others; of each line."""

    lines: Lines  #: which rows, in which order
    cells: LineCells
    numbers: list[Array | Lookup]  #: one array a column without codes
    room: Room  #: where large arrays are put

    def take(self, at: Ints) -> "DenseRows":
        """Some lines only."""
        numbers: list[Array | Lookup] = [values[:][at] for values in self.numbers]
        lines = self.lines.take(at)
        return DenseRows(lines, self.cells.take(at, lines), numbers, self.room)

    def planes(self, tables: "LedgerTables") -> Ints | None:
        """Terms of the columns without codes; None where they are to be made when read."""
        plain = np.flatnonzero(tables.slots < 0)
        n_lines = self.lines.rows.size
        most = TERM_CACHE_BYTES
        if self.room.cache_bytes is not None:
            most = min(most, self.room.cache_bytes)
        if plain.size * tables.n_classes * n_lines * 8 > most:
            return None
        planes = self.room((plain.size, tables.n_classes, n_lines), np.int64)
        for d, f in enumerate(plain):
            self.fill(tables, int(f), planes[d])
        return planes

    def fill(self, tables: "LedgerTables", column: int, out: Ints) -> None:
        """Terms of a column that has no codes: classes x lines."""
        values = self.numbers[-1 - tables.slots[column]]
        speak = tables.speaker(column)
        terms: list[Ints] = []
        begin, n_lines = 0, self.lines.rows.size
        for part, g in self.lines.runs():
            terms.append(speak(values[part], g))
            # Lines of many classes are few each: turned alone they would be scattered.
            if part.stop - begin >= BLOCK or part.stop == n_lines:
                out[:, begin : part.stop] = np.concatenate(terms).T
                begin, terms = part.stop, []


class UnitSlots:
    """Where the terms of each unit's columns are found."""

    def __init__(self, units: Units, tables: "LedgerTables"):
        widths = np.array([len(unit) for unit in units.members], np.int64)
        pointers = np.append(0, np.cumsum(widths))
        columns = np.concatenate(units.members).astype(np.int64)
        self.units = units
        self.arrays = UnitArrays(pointers, tables.slots[columns])
        first = columns[pointers[:-1]]
        self.first = tables.slots[first]
        self.coded = (widths == 1) & (self.first >= 0)
        self.linear = self.coded & tables.linear_ok[first]


# Arrays of the size of a table of terms while tables of codes are made: terms, integers (three),
# nat, factors of joining and leaving; and of the counts by code and class: those of a column, and
# the final model's counts and terms.
_OF_TABLES, _OF_COUNTS = 7, 6

# Arrays of lines x classes while subsets are scored: sums, what scans read, and what errors do.
_OF_LINES = 6


class TableColumns:
    """What tables are made of: columns that were counted, wherever their rows are.

    With `loo`, each line reads tables with itself taken out.
    """

    def __init__(self, sets: TrainingSets, loo: bool):
        self.sets, self.loo = sets, loo
        self.specs: list[ColumnSpec] = []
        self.statistics: list[Statistics] = []
        #: Values behind the codes of each column; None where it is stored as numbers.
        self.levels: list[Array | None] = []
        #: Has no row of the table a missing value here?
        self.all_known: list[bool] = []
        #: Row of `codes` (>= 0), or -1 - position in `numbers`.
        self.slots: list[int] = []
        #: Training values of continuous columns, for leave-one-out.
        self.training: list[Array | Lookup | None] = []
        self._n_bytes, self._checked = 8 * _OF_COUNTS * self.n_sets * sets.n_classes, 0

    @property
    def n_sets(self) -> int:
        """How many sets of tables; one a class where lines are left out of their own."""
        return self.sets.n_classes if self.loo else self.sets.n_sets

    def _reserve(self, n_codes: int, coded: bool) -> None:
        """Refuse a column whose tables have no room, beside those of the columns before it."""
        n_sets, n_classes = self.n_sets, self.sets.n_classes
        of_column = 8 * n_codes * n_classes
        self._n_bytes += of_column * (self.sets.n_sets + _OF_COUNTS)
        self._n_bytes += of_column * n_sets * _OF_TABLES if coded else 0
        if self._n_bytes < self._checked:
            return
        # To ask how much memory there is takes longer than to count a column.
        self._checked = self._n_bytes + self._n_bytes // 8
        what = f"the tables of {len(self.specs) + 1} columns for {n_classes} classes"
        check_memory(what, self._n_bytes, "join rare classes, or use fewer columns or rows")

    def keep(self, spec: ColumnSpec, statistics: Statistics, all_known: bool) -> None:
        """A column of codes that others hold and have counted."""
        coded = fits_a_byte(spec)
        self._reserve(spec.n_codes, True)
        self.specs.append(spec)
        self.statistics.append(statistics)
        self.training.append(None)
        self.levels.append(np.arange(spec.n_codes) if coded else None)
        self.all_known.append(coded and all_known)
        before = sum(slot >= 0 for slot in self.slots)
        self.slots.append(before if coded else before - len(self.slots) - 1)


def fits_a_byte(spec: ColumnSpec) -> bool:
    """Has a column of codes few enough of them?"""
    return spec.n_codes <= MOST_CODES + 1


class DenseColumns(TableColumns):
    """Reads columns one by one and keeps of each what a dense ledger needs.

    Rows of `lines` index the columns given to `add`, `training_rows` tells those of `sets`;
    `only_codes` keeps columns of few values as codes whatever their tables take.
    """

    def __init__(
        self,
        sets: TrainingSets,
        lines: Lines,
        loo: bool,
        n_columns: int,
        room: Room = IN_MEMORY,
        training_rows: Ints | None = None,
        only_codes: bool = False,
    ):
        super().__init__(sets, loo)
        self.lines, self._n_columns, self._only_codes = lines, n_columns, only_codes
        self.cells = LineCells(lines, n_columns, room)
        self.room = room
        self.training_rows = training_rows
        of_lines = 8 * lines.rows.size * sets.n_classes
        self._n_bytes += _OF_LINES * of_lines + min(n_columns * of_lines, TERM_CACHE_BYTES)
        self.numbers: list[Array | Lookup] = []

    def add(
        self,
        spec: ColumnSpec,
        training: Array,
        column: Array,
        later: Callable[[Ints | None], Lookup] | None = None,
        known: Statistics | None = None,
    ) -> None:
        """Take in a column: `training` holds the rows of `sets`, `column` those of `lines`.

        Numbers are copied, or looked up in a packed table by what `later` makes of their rows.
        `known` are statistics of the same training rows, where somebody has made them.
        """
        model = MODELS[spec.model]
        by_table = model.discrete and fits_a_byte(spec) and self._worth_a_table(spec)
        self._reserve(spec.n_codes if model.discrete else 1, by_table)
        self.specs.append(spec)
        self.statistics.append(
            model.statistics(training, spec.n_codes, self.sets) if known is None else known
        )
        kept = training if later is None else later(self.training_rows)
        self.training.append(kept if self.loo and not model.discrete else None)
        of_lines = column[self.lines.rows]
        levels: Array | None = None
        if by_table:
            levels = np.arange(spec.n_codes)
        elif not model.discrete and self._worth_coding(spec):
            assert spec.distinct is not None
            levels = np.append(spec.distinct, np.nan)
            of_lines = to_codes(spec.distinct, of_lines)
        self.levels.append(levels)
        self.all_known.append(
            levels is not None
            and not (np.isnan(column) if spec.levels is None else column == spec.n_codes - 1).any()
        )
        if levels is None:
            self.numbers.append(of_lines if later is None else later(self.lines.rows))
            self.slots.append(-len(self.numbers))
        else:
            self.slots.append(len(self.specs) - len(self.numbers) - 1)
            self.cells.put(of_lines, levels.size == 3 and self.all_known[-1])

    def rows(self) -> DenseRows:
        """What the lines hold."""
        return DenseRows(self.lines, self.cells, self.numbers, self.room)

    def _worth_coding(self, spec: ColumnSpec) -> bool:
        """Few enough values that a table is smaller than half a column of terms."""
        few = spec.distinct is not None and spec.n_distinct == spec.distinct.size <= MOST_CODES
        return few and self._is_smaller(spec.n_distinct + 1)

    def _worth_a_table(self, spec: ColumnSpec) -> bool:
        """Is a table of codes worth its room?  Scans read it sooner: a small one always is."""
        size = 8 * self.n_sets * spec.n_codes * self.sets.n_classes
        small = size * self._n_columns <= TABLE_BYTES
        return self._only_codes or small or self._is_smaller(spec.n_codes)

    def _is_smaller(self, n_values: int) -> bool:
        return 2 * self.n_sets * n_values <= self.lines.rows.size
