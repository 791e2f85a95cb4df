"""Results: plain data, data frame, text and HTML, all made from what a result declares."""

import importlib.util
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

import numpy as np

from ..checks import Foreign, plain_value

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: What a result holds, by the name of each field, as JSON has it.
Fields: TypeAlias = dict[str, Foreign]

#: The table of a result: the values of each column, by its head.
Columns: TypeAlias = dict[str, list[Foreign]]

#: A model, or a part of a report, as plain data: what each name holds.
Section: TypeAlias = Fields

#: What JSON can hold.
Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"

_MOST_ROWS = 60


def jsonable(value: object) -> Plain:
    """Dicts, lists, texts, numbers and None, as JSON has them; what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return cast(Plain, value)


class Result:
    """A result as plain data, data frame, text, and table of a notebook.

    A subclass, mostly a data class with ``repr=False``, declares what is told in which form, and
    gives a `caption`.  What cannot be declared (a computed table, say) is a method of the same name
    in the subclass.

    Attributes
    ----------
    _data : tuple of str
        Attributes that `to_dict` gives, fields or properties; by default all fields of a data
        class, and the columns of the table where there are no fields.
    _table : dict of str to str
        Heads of the columns of the table, and the attribute with the values of each: one value a
        row; or ``"rows.name"``, the attribute `name` of every element of `rows`.
    _texts : tuple of str
        Columns that a data frame holds as texts, since their values are of several kinds.
    _html_rows : int
        Rows that a notebook shows at most.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Shares(Result):
    ...     names: tuple[str, ...]
    ...     share: tuple[float, ...]
    ...     _table = {"column": "names", "share": "share"}
    ...
    ...     def caption(self):
    ...         return f"{len(self.names)} columns"
    >>> found = Shares(("a", "b"), (0.25, 0.75))
    >>> found
    <Shares: 2 columns>
    >>> found.to_dict()
    {'names': ['a', 'b'], 'share': [0.25, 0.75]}
    >>> print(found.to_text())
    2 columns
    column  share
    a        0.25
    b        0.75
    >>> found.to_frame("polars").shape
    (2, 2)
    """

    _data: ClassVar[tuple[str, ...]] = ()
    _table: ClassVar[Mapping[str, str]] = {}
    _texts: ClassVar[tuple[str, ...]] = ()
    _html_rows: ClassVar[int] = _MOST_ROWS

    def to_dict(self) -> Fields:
        """Everything as plain data, as JSON has it."""
        names = self._data
        if not names and is_dataclass(self):
            names = tuple(field.name for field in fields(self))
        if not names:
            return self.to_columns()
        return {name: plain(getattr(self, name)) for name in names}

    def to_columns(self) -> Columns:
        """The table as columns of plain values."""
        found = {}
        for head, attribute in self._table.items():
            name, _, of_each = attribute.partition(".")
            values = getattr(self, name)
            found[head] = plain([getattr(row, of_each) for row in values] if of_each else values)
        return found

    def caption(self) -> str:
        """A line above the table."""
        return ""

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """The table as a data frame.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".  By default the
            first of these two that is installed.
        """
        columns = self.to_columns()
        for name in self._texts:
            if name in columns:
                columns[name] = [None if each is None else str(each) for each in columns[name]]
        return frame_of(columns, backend)

    def to_text(self) -> str:
        """The caption, and the table below it."""
        return "\n".join([self.caption(), text_table(self.to_columns())])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.caption()}>"

    def to_html(self) -> str:
        """What a notebook shows, as part of a page."""
        return self._repr_html_()

    def _repr_html_(self) -> str:
        return html_table(self._shown(), self.caption(), self._html_rows)

    def _shown(self) -> Mapping[str, Sequence[object]]:
        """The columns of the table that a notebook shows."""
        return self.to_columns()


def plain(value: object) -> Foreign:
    """Plain data, as JSON has it: dicts, lists, texts, numbers, None.

    Data classes (what they show of themselves) and named tuples become dicts, other sequences and
    arrays lists.

    Examples
    --------
    >>> plain({"at": (np.int64(1), None), "share": np.array([0.5])})
    {'at': [1, None], 'share': [0.5]}
    """
    if isinstance(value, Result):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        shown = [field.name for field in fields(value) if field.repr]
        return {name: plain(getattr(value, name)) for name in shown}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(each) for name, each in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray) else plain_value(value)


def undefined_as_none(value: Foreign) -> Foreign:
    """Plain data in which NaN, which JSON does not have, is None.

    Examples
    --------
    >>> undefined_as_none({"error": [0.5, float("nan")]})
    {'error': [0.5, None]}
    """
    if isinstance(value, dict):
        return {key: undefined_as_none(each) for key, each in value.items()}
    if isinstance(value, list):
        return [undefined_as_none(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


# -- Tables ----------------------------------------------------------------------------------------


def html_table(
    columns: Mapping[str, Sequence[object]],
    caption: str = "",
    most: int = _MOST_ROWS,
    figures: Collection[str] = (),
) -> str:
    """A table of plain values; long ones are cut, and say so.

    `figures` are columns of texts that are numbers, and stand to the right as such.
    """
    height = max((len(values) for values in columns.values()), default=0)
    # Numbers to the right, as notebooks put everything; texts to the left.
    left = {
        name: ' style="text-align:left"'
        if name not in figures and any(isinstance(value, str) for value in values)
        else ""
        for name, values in columns.items()
    }
    head = "".join(f"<th{left[name]}>{escape(str(name))}</th>" for name in columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{left[name]}>{escape(_cell(values[i]))}</td>" for name, values in columns.items()
        )
        + "</tr>"
        for i in range(min(height, most))
    )
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    more = f"<p>... and {height - most} more rows</p>" if height > most else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def frame_of(columns: Mapping[str, Sequence[object]], backend: Foreign = None) -> "IntoDataFrame":
    """Columns as a data frame of this library; of pandas or polars, whichever is there."""
    import narwhals as nw

    if backend is None:
        found = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]
        if not found:
            raise ImportError("to_frame needs pandas or polars; install one, or use to_dict().")
        backend = found[0]
    return nw.from_dict(columns, backend=backend).to_native()


def text_table(columns: Mapping[str, Sequence[object]], figures: Collection[str] = ()) -> str:
    """Columns side by side as plain text, numbers to the right, as are `figures`: see `html_table`.

    Examples
    --------
    >>> print(text_table({"name": ["a", "bc"], "share": [0.5, 1.0]}))
    name  share
    a       0.5
    bc        1
    """
    cells = {name: [_cell(value) for value in values] for name, values in columns.items()}
    lines = []
    height = max((len(values) for values in columns.values()), default=0)
    for i in range(-1, height):
        line = []
        for name, shown in cells.items():
            width = max([len(name), *map(len, shown)])
            number = name in figures or (height and isinstance(columns[name][0], int | float))
            text = name if i < 0 else shown[i]
            line.append(text.rjust(width) if number else text.ljust(width))
        lines.append("  ".join(line).rstrip())
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
