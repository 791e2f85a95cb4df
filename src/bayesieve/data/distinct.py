"""The distinct values of a column, learnt block by block, and the codes that stand for them."""

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from .tables import infinity_error

if TYPE_CHECKING:
    import polars as pl

# Numbers with more distinct values than two bytes tell apart are stored as they are.
_MOST_NUMBERS = 2**16 - 1


# Distinct texts that may come again before they are sorted out.
_UNSORTED = 2**16


Codes = NDArray[np.generic]


class Learner(Protocol):
    """What is learnt of a column: first every row is seen, then the rows are coded."""

    @property
    def unsettled(self) -> bool:
        """Must all rows be seen once more?  This holds until they are."""

    def learn(self, first: int, series: "pl.Series") -> None:
        """See some rows, from row `first` on."""

    @property
    def missing(self) -> bool:
        """Has a row no value?"""

    def names_rows(self, n_rows: int) -> bool:
        """Is every row's value a text of its own?"""

    def values(self) -> Codes | None:
        """What codes stand for, missing values last; None for numbers that are stored as such."""

    def pack(self, series: "pl.Series") -> Codes:
        """Codes of some rows, or their numbers."""


class Numbers:
    """Distinct values of a column of numbers, while they are few.

    Parameters
    ----------
    name : of the column, for messages.
    """

    unsettled = False

    def __init__(self, name: str):
        self._name = name
        self._known: NDArray[np.float64] | None = np.empty(0)
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


def _floats(series: "pl.Series") -> NDArray[np.float64]:
    import polars as pl

    return series.cast(pl.Float64).to_numpy()


class Texts:
    """Distinct values of a column of texts or categories.

    Parameters
    ----------
    categories : they are categories: they name no rows.
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


class Cells:
    """Distinct values of a column of a text file: numbers if all cells are, else texts.

    Texts are learnt until a number has come: a column that turns from numbers into texts later than
    in the first block must be seen once more.

    Parameters
    ----------
    name : of the column, for messages.
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
