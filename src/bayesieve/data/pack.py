"""`pack`: a table larger than memory, read once into one byte a cell."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..checks import Array, Floats, check_flag, check_memory, check_number
from .columns import MOST_CODES
from .files.sources import Source, open_source
from .storage import Bits, PackedColumn, PackedTable, Room, room_for
from .tables import infinity_error

if TYPE_CHECKING:
    import polars as pl

# Numbers with more distinct values than two bytes tell apart are stored as they are.
_MOST_NUMBERS = 2**16 - 1

# Distinct texts that may come again before they are sorted out.
_UNSORTED = 2**16

Codes = NDArray[np.generic]


class Numbers:
    """Distinct values of a column of numbers, while they are few."""

    unsettled = False

    def __init__(self, name: str):
        self._name = name
        self._known: Floats | None = np.empty(0)
        self._infinite: int | None = None
        self.missing = False

    def learn(self, first: int, series: "pl.Series") -> None:
        """See some rows."""
        values = _floats(series)
        unknown = np.isnan(values)
        self.missing |= bool(unknown.any())
        infinite = np.isinf(values)
        if self._infinite is None and infinite.any():
            self._infinite = first + int(infinite.argmax())
        if self._known is None:
            return
        # Most blocks bring nothing new: looking values up is quicker than sorting them.
        padded = np.append(self._known, np.nan)
        new = values[(padded[np.searchsorted(self._known, values)] != values) & ~unknown]
        if new.size:
            known = np.union1d(self._known, new)
            self._known = None if known.size > _MOST_NUMBERS else known

    def names_rows(self, n_rows: int) -> bool:
        """Numbers may tell something."""
        return False

    def values(self) -> Codes | None:
        """The numbers in order; infinite ones are refused."""
        if self._infinite is not None:
            raise infinity_error(self._name, self._infinite)
        return None if self._known is None else np.append(self._known, np.nan)

    def pack(self, series: "pl.Series") -> Codes:
        """Codes, or numbers."""
        values = _floats(series)
        # NaN sorts behind all numbers: its code is the last one.
        return values if self._known is None else np.searchsorted(self._known, values)


def _floats(series: "pl.Series") -> Floats:
    import polars as pl

    return series.cast(pl.Float64).to_numpy()


class Texts:
    """Distinct values of a column of texts or categories.

    Categories name no rows.
    """

    unsettled = False

    def __init__(self, categories: bool = False):
        import polars as pl

        self._categories = categories
        self._seen = pl.Series([], dtype=pl.String)
        self._more: list[pl.Series] = []
        self.missing = False
        self._levels = pl.Enum([])

    def learn(self, first: int, series: "pl.Series") -> None:
        """See some rows."""
        import polars as pl

        self.missing |= series.null_count() > 0
        self._more.append(series.cast(pl.String).drop_nulls().unique())
        if sum(map(len, self._more)) > _UNSORTED + len(self._seen):
            self.distinct()

    def names_rows(self, n_rows: int) -> bool:
        """Is every row's text another one?"""
        n_texts = len(self.distinct()) + self.missing
        return not self._categories and n_rows > 1 and n_texts == n_rows

    def values(self) -> Codes:
        """The texts in the order of Python's own sort, which levels of a data frame get."""
        import polars as pl

        levels = sorted(self.distinct().to_list())
        self._seen, self._levels = self._seen.clear(), pl.Enum(levels)
        if not levels and not self._categories:
            return np.array([np.nan])  # nothing but missing values: as good as numbers
        values = np.empty(len(levels) + 1, object)
        values[:-1] = levels
        return values

    def pack(self, series: "pl.Series") -> Codes:
        """Codes of some rows."""
        import polars as pl

        n_levels = len(self._levels.categories)
        if not n_levels:
            return np.zeros(len(series), np.uint8)
        codes = series.cast(pl.String).cast(self._levels).to_physical().cast(pl.UInt32)
        return codes.fill_null(n_levels).to_numpy()

    def distinct(self) -> "pl.Series":
        """Every text once."""
        import polars as pl

        self._seen, self._more = pl.concat([self._seen, *self._more]).unique(), []
        return self._seen


class PackedCells:
    """Distinct values of a column of a text file: numbers if all cells are, else texts.

    Texts are learnt until a number has come: a column that turns from numbers into texts later than
    in the first block must be seen once more.
    """

    def __init__(self, name: str):
        self._numbers, self._texts = Numbers(name), Texts()
        self._kind = "nothing"
        self.unsettled = False

    def learn(self, first: int, series: "pl.Series") -> None:
        """See some rows."""
        if self.unsettled and first == 0:
            self._texts, self.unsettled = Texts(), False
        before = self._kind
        if before != "texts":
            found, numbers = _kind_of_cells(series)
            self._kind = _joint_kind(before, found)
            if numbers is not None:
                self._numbers.learn(first, numbers)
            self.unsettled = before == "numbers" and self._kind == "texts"
        if before != "numbers" and not self.unsettled:
            self._texts.learn(first, series)

    def names_rows(self, n_rows: int) -> bool:
        """Is every row's text another one?"""
        return self._settled() is self._texts and self._texts.names_rows(n_rows)

    @property
    def missing(self) -> bool:
        """Has a row no value?"""
        return self._settled().missing

    def values(self) -> Codes | None:
        """What codes stand for."""
        return self._settled().values()

    def pack(self, series: "pl.Series") -> Codes:
        """Codes of some rows, or their numbers."""
        if self._settled() is self._texts:
            return self._texts.pack(series)
        _, numbers = _kind_of_cells(series)
        assert numbers is not None  # every row has been seen
        return self._numbers.pack(numbers)

    def _settled(self) -> Numbers | Texts:
        """All rows have been seen: what are they?"""
        if self._kind == "no finite number":
            from .files.text import stand_for_no_number

            self._kind = "numbers" if stand_for_no_number(self._texts.distinct()) else "texts"
        return self._numbers if self._kind in ("numbers", "flags") else self._texts


def _kind_of_cells(series: "pl.Series") -> tuple[str, "pl.Series | None"]:
    """What the cells of a block are, and the numbers where they are or stand for some."""
    from .files.text import as_flags, as_numbers

    numbers = as_numbers(series)
    if numbers is None:
        flags = as_flags(series)
        return ("texts", None) if flags is None else ("flags", flags)
    if numbers.null_count() == len(numbers):
        return ("nothing" if series.null_count() == len(series) else "spaces"), numbers
    return ("numbers" if numbers.is_finite().any() else "no finite number"), numbers


def _joint_kind(one: str, other: str) -> str:
    """What a column is whose parts are these."""
    kinds = {one, other} - {"nothing"}
    for kind in ("numbers", "no finite number"):
        if kind in kinds and kinds <= {"numbers", "no finite number", "spaces"}:
            return kind
    return "texts" if len(kinds) > 1 else next(iter(kinds), "nothing")


#: What is learnt of a column: first every row is seen, then the rows are coded.
Learner: TypeAlias = Numbers | Texts | PackedCells


# -- pack ------------------------------------------------------------------------------------------


# Values of a column that a bit tells apart, and the missing one.
_TWO = 3


def pack(
    source: "str | PathLike[str] | pl.DataFrame | pl.LazyFrame | Source",
    folder: str | PathLike[str] | None = None,
    *,
    target: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    identifiers: bool = True,
    block_cells: int = 2**22,
) -> PackedTable:
    """Pack a table larger than memory: read in blocks, stored as a bit or a byte a cell.

    The result is taken as X by `NaiveBayesSelector`, `NaiveBayes` and `rank`, with the answers that
    the whole table as a data frame would give.  Columns of two values, none of them missing, take
    one bit a cell, those of at most 255 distinct values one byte, numbers of up to 65535 and texts
    two (texts beyond, four), other numbers eight.

    With a `folder`, columns are mapped from a file there, and so is what a search makes of them:
    the table may be larger than memory.  This holds for the criteria ``"error"``,
    ``"probability"`` and ``"log-likelihood"``; AUC and labels keep their columns in memory.

    Parameters
    ----------
    source : path, polars.LazyFrame or polars.DataFrame
        A file by its ending: .parquet, .arrow, .feather, .ipc, .csv or .tsv (also .gz).
    folder : path, optional
        Where the files of mapped columns live; memory by default.  They have no name, are gone with
        the table, and leave nothing behind, even if the process dies.
    target : str or list of str, optional
        Column with the classes, or columns of labels: kept apart, in memory, as `target`.
    columns : list of str, optional
        The columns to read; by default all but the target.
    identifiers : bool, default=True
        False leaves out text columns with as many values as rows: they name rows.
    block_cells : int, default=2**22
        About so many cells are read at a time.

    Returns
    -------
    table : PackedTable

    Examples
    --------
    >>> import polars as pl
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.engine import pack
    >>> frame = pl.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "c": list("nnyy")})
    >>> X = pack(frame, target="c")
    >>> X
    <PackedTable of 4 rows x 2 columns, 0.0 MB in memory>
    >>> NaiveBayesSelector(validation=None).fit(X, X.target).selected_
    array([1])
    """
    check_number("block_cells", block_cells, low=1, whole=True)
    check_flag("identifiers", identifiers)
    place = _check_folder(folder)
    opened = open_source(source)
    targets = [target] if isinstance(target, str) else list(target or ())
    kept = opened.find(targets)
    features = (
        [name for name in opened.names if name not in targets] if columns is None else columns
    )
    both = [name for name in features if name in targets]
    if both:
        raise ValueError(f"columns must not hold the target; got {both[0]!r} in both.")
    chosen = opened.find(features)
    if not chosen:
        raise ValueError(f"{opened.name} has no column left to learn from.")
    learners, apart = _learners(opened, chosen), {j: _PackedColumns() for j in kept}
    n_rows = _learn(opened, {**learners, **apart}, int(block_cells))
    if not n_rows:
        raise ValueError(f"{opened.name} has no rows (X is empty: 0 samples).")
    left_out = []
    if not identifiers:
        left_out = [j for j, each in learners.items() if each.names_rows(n_rows)]
        learners = {j: each for j, each in learners.items() if j not in left_out}
    y = _target(opened, apart, isinstance(target, str))
    packed = _store(opened, learners, n_rows, place, int(block_cells))
    size = sum(column.cells.nbytes for column in packed)
    return PackedTable(
        [opened.names[j] for j in learners],
        n_rows,
        packed,
        room_for(size, place),
        y,
        tuple(opened.names[j] for j in left_out),
    )


def _check_folder(folder: str | PathLike[str] | None) -> str | None:
    if folder is None:
        return None
    try:
        path = Path(folder)
    except TypeError as error:
        raise TypeError(f"folder must be None or a path; got {folder!r}.") from error
    if not path.is_dir():
        raise ValueError(f"folder must be a folder that exists; got {str(path)!r}. Make it first.")
    return str(path)


class _PackedColumns:
    """A column of the target: all of it, in memory."""

    unsettled = False

    def __init__(self) -> None:
        self.parts: list[pl.Series] = []

    def learn(self, first: int, series: "pl.Series") -> None:
        """Keep some rows."""
        self.parts.append(series)


def _target(
    source: Source, apart: dict[int, _PackedColumns], single: bool
) -> "NDArray[Any] | pl.DataFrame | None":
    """An array of classes, a frame of labels, or None."""
    import polars as pl

    if not apart:
        return None
    columns = {source.names[j]: source.joined(each.parts) for j, each in apart.items()}
    return next(iter(columns.values())).to_numpy() if single else pl.DataFrame(columns)


def _learners(source: Source, chosen: list[int]) -> dict[int, Learner]:
    """One for each column, in this order."""
    named: dict[str, type[Numbers | PackedCells]] = {"numbers": Numbers, "cells": PackedCells}
    return {
        j: named[kind](source.names[j]) if kind in named else Texts(kind == "categories")
        for j, kind in zip(chosen, source.kinds(chosen), strict=True)
    }


def _learn(source: Source, learners: Mapping[int, Learner | _PackedColumns], cells: int) -> int:
    """Show every row to all of them; the number of rows."""
    n_kept = sum(isinstance(each, _PackedColumns) for each in learners.values())
    least = n_kept * _BYTES_KEPT + (len(learners) - n_kept) / 8
    _check_room(source, checked := source.expected_rows(), checked * least)
    n_rows, again = 0, False
    while learners:
        for j, first, series in _cells(source, list(learners), cells, again):
            learners[j].learn(first, series)
            n_rows = max(n_rows, first + len(series))
            if n_rows > checked:
                _check_room(source, n_rows, n_rows * least)
                checked = n_rows + n_rows // 8
        learners = {j: each for j, each in learners.items() if each.unsettled}
        again = True
    return n_rows


# A cell of the target: as read, and as an array.
_BYTES_KEPT = 24


def _check_room(source: Source, n_rows: int, needed: float) -> None:
    """Refuse about so many rows where they would not fit into memory."""
    what = f"{n_rows:.2g} rows of {source.name}, packed,"
    instead = "pack into a folder on disk (folder=), read fewer columns, or sample rows"
    check_memory(what, needed, instead)


def _cells(
    source: Source, columns: list[int], cells: int, again: bool
) -> Iterator[tuple[int, int, "pl.Series"]]:
    """Column, first row and values of every block."""
    for part, first, frame in source.blocks(columns, cells, again):
        for j, series in zip(part, frame.iter_columns(), strict=True):
            yield j, first, series


def _store(
    source: Source, learners: dict[int, Learner], n_rows: int, folder: str | None, cells: int
) -> tuple[PackedColumn, ...]:
    """All columns in one array, each from a multiple of 8 bytes on."""
    values = {j: each.values() for j, each in learners.items()}
    # A bit for two values, all of them known.
    two = {j for j, v in values.items() if v is not None and len(v) <= _TWO}
    n_bits = {
        j: 1 if j in two and not learners[j].missing else 8 * _code_type(found).itemsize
        for j, found in values.items()
    }
    sizes = [-(-n_rows * bits // 64) * 8 for bits in n_bits.values()]
    if folder is None:
        _check_room(source, n_rows, sum(sizes))
    flat = Room(folder)((sum(sizes),), np.uint8)
    stored: dict[int, Array | Bits] = {}
    at = 0
    for (j, bits), size in zip(n_bits.items(), sizes, strict=True):
        mine = flat[at : at + -(-n_rows * bits // 8)]
        stored[j] = Bits(mine, n_rows) if bits == 1 else mine.view(_code_type(values[j]))
        at += size
    for j, first, series in _cells(source, list(learners), cells, again=True):
        codes, kept = learners[j].pack(series), stored[j]
        if isinstance(kept, Bits):
            kept.put(first, codes)
        else:
            kept[first : first + len(series)] = codes
    return tuple(PackedColumn(values[j], stored[j]) for j in learners)


def _code_type(values: Codes | None) -> np.dtype[np.generic]:
    """The smallest type that holds every code."""
    if values is None:
        return np.dtype(np.float64)
    most = len(values) - 1
    return np.dtype(np.uint8 if most <= MOST_CODES else np.uint16 if most < 2**16 else np.uint32)
