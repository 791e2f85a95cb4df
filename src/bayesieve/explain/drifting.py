"""A picture of how far columns moved."""

from typing import TYPE_CHECKING

from ..evaluation.drift import Drift
from .pictures import new_axes, plain_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOVED, _STAYED = "#c0392b", "#b5b5b5"


# Columns that a picture shows.
_MOST = 25


def plot_drift(found: Drift, ax: "Axes | None" = None) -> "Axes":
    """A bar for each column, how far it moved; those that moved by more than chance in colour.

    Parameters
    ----------
    found : of some columns, of which the first are drawn.
    ax : matplotlib axes, optional
    """
    names = plain_names(found.columns[:_MOST])
    lengths, moved = found.distance[:_MOST], set(found.moved)
    if ax is None:
        ax = new_axes(7.5, 1.3 + 0.28 * len(names))
    colours = [_MOVED if name in moved else _STAYED for name in found.columns[:_MOST]]
    places = list(range(len(names)))
    ax.barh(places, lengths, color=colours, height=0.7)
    for at, (length, change) in enumerate(zip(lengths, found.change, strict=False)):
        ax.annotate(
            change.replace("$", r"\$"),
            (length, at),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set_xlim(0, max(1.6 * max(lengths, default=0.0), 0.1))
    ax.set_xlabel("share of rows that would have to change")
    ax.spines[["top", "right"]].set_visible(False)
    left = len(found.columns) - len(names)
    more = f"\n({left} more columns, less clearly)" if left else ""
    ax.set_title(found.headline(3).replace("$", r"\$") + more, fontsize=10, loc="left")
    return ax
