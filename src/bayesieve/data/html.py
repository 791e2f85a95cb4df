"""Results as small HTML tables, for notebooks."""

from html import escape
from typing import Any

_MOST_ROWS = 60


def html_table(columns: dict[str, list[Any]], caption: str = "") -> str:
    """A table of plain values; long ones are cut, and say so.

    Parameters
    ----------
    columns : names and values.
    caption : shown above.
    """
    height = max((len(values) for values in columns.values()), default=0)
    head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(_shown(values[i]))}</td>" for values in columns.values())
        + "</tr>"
        for i in range(min(height, _MOST_ROWS))
    )
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    more = f"<p>... and {height - _MOST_ROWS} more rows</p>" if height > _MOST_ROWS else ""
    return f"<table>{said}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
