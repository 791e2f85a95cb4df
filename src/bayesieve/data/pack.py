"""`pack`: a table in a file, read in blocks and kept small."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import check_flag, check_number
from .columns import MOST_CODES
from .files.sources import Source, open_source
from .packed import PackedColumn, PackedTable, room_for
from .storage import Room
from .tables import infinity_error, kind_of_column

# Numbers with more distinct values than two bytes tell apart are stored as they are.
_MOST_NUMBERS = 2**16 - 1


# Distinct texts that may come again before they are sorted out.
_UNSORTED = 2**16


def pack(
    source: Any,
    folder: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    identifiers: bool = True,
    block_cells: int = 2**22,
) -> PackedTable:
    """Read a table block by block and keep one byte a cell where that suffices.

    The result is taken as X by `NaiveBayesSelector`, `NaiveBayes` and `rank`, with the answers that
    the whole table as a data frame would give.  Columns of at most 255 distinct values take one
    byte a cell, numbers of up to 65535 and texts two (texts beyond, four), other numbers eight.

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
    >>> from bayesieve import NaiveBayesSelector, pack
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
    wanted = [target] if isinstance(target, str) else list(target or ())
    kept = opened.find(wanted)
    asked = [name for name in opened.names if name not in wanted] if columns is None else columns
    both = [name for name in asked if name in wanted]
    if both:
        raise ValueError(f"columns must not hold the target; got {both[0]!r} in both.")
    chosen = opened.find(asked)
    if not chosen:
        raise ValueError(f"{opened.name} has no column left to learn from.")
    y: Any = opened.read(kept) if kept else None
    if isinstance(target, str):
        y = y[target].to_numpy()
    learners = _learners(opened, chosen)
    n_rows = 0
    for j, first, series in _cells(opened, learners, int(block_cells)):
        learners[j].learn(first, series)
        n_rows = max(n_rows, first + len(series))
    if not n_rows:
        raise ValueError(f"{opened.name} has no rows (X is empty: 0 samples).")
    left_out = []
    if not identifiers:
        left_out = [j for j, each in learners.items() if each.names_rows(n_rows)]
        learners = {j: each for j, each in learners.items() if j not in left_out}
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


def _check_folder(folder: Any) -> str | None:
    if folder is None:
        return None
    try:
        path = Path(folder)
    except TypeError as error:
        raise TypeError(f"folder must be None or a path; got {folder!r}.") from error
    if not path.is_dir():
        raise ValueError(f"folder must be a folder that exists; got {str(path)!r}. Make it first.")
    return str(path)


class _Numbers:
    """Distinct values of a column of numbers, while they are few."""

    def __init__(self, name: str, position: int):
        import polars as pl

        self._name = name
        self.expression = pl.nth(position).cast(pl.Float64).alias(str(position))
        self.known: NDArray[np.float64] | None = np.empty(0)

    def learn(self, first: int, series: Any) -> None:
        """See some rows, from row `first` on."""
        values = series.to_numpy()
        infinite = np.isinf(values)
        if infinite.any():
            raise infinity_error(self._name, first + int(infinite.argmax()))
        if self.known is None:
            return
        # Most blocks bring nothing new: looking values up is quicker than sorting them.
        padded = np.append(self.known, np.nan)
        new = values[(padded[np.searchsorted(self.known, values)] != values) & ~np.isnan(values)]
        if new.size:
            known = np.union1d(self.known, new)
            self.known = None if known.size > _MOST_NUMBERS else known

    def names_rows(self, n_rows: int) -> bool:
        """Numbers may tell something."""
        return False

    def values(self) -> NDArray[np.float64] | None:
        """What codes stand for; all rows have been seen."""
        return None if self.known is None else np.append(self.known, np.nan)

    def pack(self, series: Any) -> NDArray[Any]:
        """Codes of some rows, or their numbers."""
        values = series.to_numpy()
        # NaN sorts behind all numbers: its code is the last one.
        return values if self.known is None else np.searchsorted(self.known, values)


class _Texts:
    """Distinct values of a column of texts or categories."""

    def __init__(self, name: str, position: int, categories: bool):
        import polars as pl

        self._categories = categories
        self.expression = pl.nth(position).cast(pl.String).alias(str(position))
        self._seen = pl.Series([], dtype=pl.String)
        self._more: list[Any] = []
        self._missing = False
        self._levels: Any = None

    def learn(self, first: int, series: Any) -> None:
        """See some rows."""
        self._missing |= series.null_count() > 0
        self._more.append(series.drop_nulls().unique())
        if sum(map(len, self._more)) > _UNSORTED + len(self._seen):
            self._sort_out()

    def names_rows(self, n_rows: int) -> bool:
        """Is every row's text another one?"""
        self._sort_out()
        n_texts = len(self._seen) + self._missing
        return not self._categories and n_rows > 1 and n_texts == n_rows

    def values(self) -> NDArray[Any]:
        """What codes stand for; all rows have been seen."""
        import polars as pl

        self._sort_out()
        # In the order of Python's own sort, which levels of a data frame get.
        levels = sorted(self._seen.to_list())
        self._seen, self._levels = self._seen.clear(), pl.Enum(levels)
        if not levels and not self._categories:
            return np.array([np.nan])  # nothing but missing values: as good as numbers
        values = np.empty(len(levels) + 1, object)
        values[:-1] = levels
        return values

    def pack(self, series: Any) -> NDArray[Any]:
        """Codes of some rows."""
        import polars as pl

        n_levels = len(self._levels.categories)
        if not n_levels:
            return np.zeros(len(series), np.uint8)
        codes = series.cast(self._levels).to_physical().cast(pl.UInt32)
        return codes.fill_null(n_levels).to_numpy()

    def _sort_out(self) -> None:
        """Every text once."""
        import polars as pl

        self._seen, self._more = pl.concat([self._seen, *self._more]).unique(), []


_Learners = dict[int, _Numbers | _Texts]


def _learners(source: Source, chosen: list[int]) -> _Learners:
    """One for each column, in this order."""
    dtypes = source.dtypes()
    found: _Learners = {}
    for j in chosen:
        kind = kind_of_column(source.names[j], dtypes[j])
        if kind == "numbers":
            found[j] = _Numbers(source.names[j], j)
        else:
            found[j] = _Texts(source.names[j], j, kind == "categories")
    return found


def _cells(source: Source, learners: _Learners, cells: int) -> Iterator[tuple[int, int, Any]]:
    """Column, first row and values of every block."""
    expressions = [each.expression for each in learners.values()]
    for columns, first, frame in source.blocks(list(learners), expressions, cells):
        for j, series in zip(columns, frame.iter_columns(), strict=True):
            yield j, first, series


def _store(
    source: Source, learners: _Learners, n_rows: int, folder: str | None, cells: int
) -> tuple[PackedColumn, ...]:
    """All columns in one array, each from a multiple of 8 bytes on."""
    values = {j: each.values() for j, each in learners.items()}
    dtypes = {j: _code_type(found) for j, found in values.items()}
    sizes = [-(-n_rows * dtype.itemsize // 8) * 8 for dtype in dtypes.values()]
    flat = Room(folder)((sum(sizes),), np.uint8)
    stored, at = {}, 0
    for (j, dtype), size in zip(dtypes.items(), sizes, strict=True):
        stored[j] = flat[at : at + n_rows * dtype.itemsize].view(dtype)
        at += size
    for j, first, series in _cells(source, learners, cells):
        stored[j][first : first + len(series)] = learners[j].pack(series)
    return tuple(PackedColumn(values[j], stored[j]) for j in learners)


def _code_type(values: NDArray[Any] | None) -> np.dtype[Any]:
    """The smallest type that holds every code."""
    if values is None:
        return np.dtype(np.float64)
    most = len(values) - 1
    return np.dtype(np.uint8 if most <= MOST_CODES else np.uint16 if most < 2**16 else np.uint32)
