"""Results as small tables: HTML for notebooks, data frames for everything else."""

import importlib.util
import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

_MOST_ROWS = 60


def html_table(
    columns: Mapping[str, Sequence[object]],
    caption: str = "",
    most: int = _MOST_ROWS,
    figures: Collection[str] = (),
) -> str:
    """A table of plain values; long ones are cut, and say so.

    Parameters
    ----------
    columns : names and values.
    caption : shown above.
    most : rows shown at most.
    figures : columns of texts that are numbers, and stand to the right as such.
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
            f"<td{left[name]}>{escape(_shown(values[i]))}</td>" for name, values in columns.items()
        )
        + "</tr>"
        for i in range(min(height, most))
    )
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    more = f"<p>... and {height - most} more rows</p>" if height > most else ""
    return f"<table>{said}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def frame_of(columns: dict[str, list[object]], backend: Any = None) -> "IntoDataFrame":
    """Columns as a data frame of this library; of pandas or polars, whichever is there."""
    import narwhals as nw

    if backend is None:
        found = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]
        if not found:
            raise ImportError("to_frame needs pandas or polars; install one, or use to_dict().")
        backend = found[0]
    return nw.from_dict(columns, backend=backend).to_native()


class Tabular:
    """A result that notebooks show as a table, and that becomes a data frame.

    A subclass gives `to_columns`, and may give a `caption`; a data class among them leaves the
    representation to this one (``repr=False``).

    Examples
    --------
    >>> from bayesieve.data.html import Tabular
    >>> class Pair(Tabular):
    ...     def to_columns(self):
    ...         return {"a": [1, 2]}
    >>> Pair().to_frame("polars").shape
    (2, 1)
    """

    def to_columns(self) -> dict[str, list[object]]:
        """The table as columns of plain values."""
        raise NotImplementedError("a result says what its columns are")

    def caption(self) -> str:
        """A line above the table."""
        return ""

    def to_frame(self, backend: str | None = None) -> "IntoDataFrame":
        """The table as a data frame.

        Parameters
        ----------
        backend : str, optional
            A data-frame library known to narwhals, such as "pandas" or "polars".
        """
        return frame_of(self.to_columns(), backend)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.caption()}>"

    def _repr_html_(self) -> str:
        return html_table(self.to_columns(), self.caption())


def text_table(columns: Mapping[str, Sequence[object]]) -> str:
    """Columns side by side as plain text, numbers to the right.

    Examples
    --------
    >>> from bayesieve.data.html import text_table
    >>> print(text_table({"name": ["a", "bc"], "share": [0.5, 1.0]}))
    name  share
    a       0.5
    bc        1
    """
    cells = {name: [_shown(value) for value in values] for name, values in columns.items()}
    lines = []
    height = max((len(values) for values in columns.values()), default=0)
    for i in range(-1, height):
        line = []
        for name, shown in cells.items():
            width = max([len(name), *map(len, shown)])
            number = height and isinstance(columns[name][0], int | float)
            text = name if i < 0 else shown[i]
            line.append(text.rjust(width) if number else text.ljust(width))
        lines.append("  ".join(line).rstrip())
    return "\n".join(lines)


def _shown(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
