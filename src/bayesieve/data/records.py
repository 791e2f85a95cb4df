"""Labels of series, and long records cut into labelled windows."""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

import narwhals as nw
import numpy as np
from narwhals.typing import IntoDataFrame
from numpy.typing import NDArray

from ..checks import Array, check_number, choose, plain_value
from .series import SeriesTable


class Windows(NamedTuple):
    """Windows cut from records.

    Attributes
    ----------
    table : SeriesTable
        The windows; ids are (id of the record, first point).
    y : ndarray or None
        Their classes, where intervals said them.
    groups : ndarray of int
        Number of the record that each came from: windows of one record belong on the same side of
        every split.
    firsts : ndarray of int
        Number of the first point of each in its record.
    left_out : int
        Windows that no interval holds as a whole.
    stretches : ndarray of int, or None
        Number of the interval that holds each, where intervals were given.
    """

    table: SeriesTable
    y: Array | None
    groups: NDArray[np.int64]
    firsts: NDArray[np.int64]
    left_out: int
    stretches: NDArray[np.int64] | None = None


class Interval(NamedTuple):
    """A stretch of a record and what it was; times are numbers or numpy's dates."""

    start: float
    end: float
    label: object


def labels_of(
    frame: IntoDataFrame,
    ids: Sequence[Hashable],
    *,
    id: str = "id",  # noqa: A002 (what people call it)
    label: str = "label",
) -> Array:
    """The label of every series, from a table of ids and labels.

    Parameters
    ----------
    frame : one row a series.
    ids : the series that want a label, in order.
    id, label : names of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesieve.indicators import labels_of
    >>> labels_of(pd.DataFrame({"id": [2, 1], "label": ["worn", "well"]}), [1, 2]).tolist()
    ['well', 'worn']
    """
    table = nw.from_native(frame, eager_only=True)
    choose("id", id, table.columns)
    choose("label", label, table.columns)
    found: dict[Hashable, object] = {}
    for name, said in zip(table[id].to_list(), table[label].to_list(), strict=True):
        if name in found and found[name] != said:
            raise ValueError(f"labels: series {name!r} has two, {found[name]!r} and {said!r}.")
        if said is None or said != said:
            raise ValueError(f"labels: series {name!r} has a row without a label.")
        found[name] = said
    known = [plain_value(name) for name in ids]
    _refuse("the labels name", "which is not among the series", set(found) - set(known))
    _refuse("the series have", "which has no label", set(known) - set(found))
    return np.array([found[name] for name in known])


def intervals_of(
    frame: IntoDataFrame,
    *,
    id: str = "id",  # noqa: A002 (what people call it)
    start: str = "start",
    end: str = "end",
    label: str = "label",
) -> dict[Hashable, list[Interval]]:
    """Labelled stretches by record, from a table with one row each.

    Parameters
    ----------
    frame : the table.
    id, start, end, label : names of its columns; a stretch holds both of its ends.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesieve.indicators import intervals_of
    >>> rows = [("a", 0, 99, "well"), ("a", 100, 149, "worn")]
    >>> found = intervals_of(pd.DataFrame(rows, columns=["id", "start", "end", "label"]))
    >>> [each.label for each in found["a"]]
    ['well', 'worn']
    """
    table = nw.from_native(frame, eager_only=True)
    columns = (id, start, end, label)
    for parameter, name in zip(("id", "start", "end", "label"), columns, strict=True):
        choose(parameter, name, table.columns)
        if table[name].null_count():
            raise ValueError(f"intervals: column {name!r} has missing values.")
    found: dict[Hashable, list[Interval]] = {}
    # As numpy has them, since the times of series are compared with them.
    cells = [table[name].to_numpy() for name in columns[1:3]]
    for name, low, high, said in zip(
        table[id].to_list(), *cells, table[label].to_list(), strict=True
    ):
        if low > high:
            raise ValueError(f"intervals: one of {name!r} starts at {low} and ends at {high}.")
        found.setdefault(name, []).append(Interval(low, high, said))
    for record, mine in found.items():
        mine.sort(key=lambda each: each.start)
        for one, other in pairwise(mine):
            if other.start <= one.end:
                raise ValueError(
                    f"intervals: two of {record!r} overlap, {one.start} to {one.end} and "
                    f"{other.start} to {other.end}. End one before the other starts."
                )
    return found


def cut_windows(
    table: SeriesTable,
    window: int,
    stride: int,
    intervals: dict[Hashable, list[Interval]] | None = None,
) -> Windows:
    """Windows of long records, each with the class of the interval that holds all of it.

    Parameters
    ----------
    table : the records; all channels of one have as many points.
    window, stride : points in a window, and from the start of one to the start of the next.
    intervals : what `intervals_of` gave, in the times of the records (points where they have
        none); windows that no interval holds as a whole are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators import SeriesTable, cut_windows
    >>> record = SeriesTable(([np.arange(7.0)],), ("",), ("a",))
    >>> found = cut_windows(record, 3, 2)
    >>> [x.tolist() for x in found.table.values[0]], found.groups.tolist()
    ([[0.0, 1.0, 2.0], [2.0, 3.0, 4.0], [4.0, 5.0, 6.0]], [0, 0, 0])
    """
    check_number("window", window, low=1, whole=True)
    check_number("stride", stride, low=1, whole=True)
    if intervals is not None:
        unknown = set(intervals) - {plain_value(name) for name in table.ids}
        _refuse("the intervals name", "which is not among the records", unknown)
    kept: list[tuple[int, int]] = []
    labels: list[object] = []
    stretches: list[int] = []
    left_out = n_before = 0
    for i, name in enumerate(table.ids):
        sizes = {values[i].size for values in table.values}
        if len(sizes) > 1:
            raise ValueError(f"record {name!r} has channels of {sorted(sizes)} points.")
        times = np.arange(max(sizes)) if table.times is None else table.times[i]
        mine = [] if intervals is None else intervals.get(plain_value(name), [])
        for first in range(0, times.size - window + 1, stride):
            if intervals is not None:
                at = _interval_at(times[first], times[first + window - 1], mine)
                if at is None:
                    left_out += 1
                    continue
                labels.append(mine[at].label)
                stretches.append(n_before + at)
            kept.append((i, first))
        n_before += len(mine)
    if not kept:
        raise ValueError(
            f"no window of {window} points fits into the records"
            + (" and their intervals." if intervals is not None else ".")
        )
    cuts = SeriesTable(
        tuple([values[i][first : first + window] for i, first in kept] for values in table.values),
        table.channels,
        tuple((table.ids[i], first) for i, first in kept),
        None
        if table.times is None
        else tuple(table.times[i][first : first + window] for i, first in kept),
    )
    groups, firsts = np.array(kept, np.int64).T
    if intervals is None:
        return Windows(cuts, None, groups, firsts, left_out)
    held_by = np.array(stretches, np.int64)
    return Windows(cuts, np.array(labels), groups, firsts, left_out, held_by)


def _interval_at(first: float, last: float, intervals: list[Interval]) -> int | None:
    """Which interval holds a window."""
    for i, each in enumerate(intervals):
        if each.start <= first and last <= each.end:
            return i
    return None


def _refuse(what: str, why: str, odd: set[Hashable]) -> None:
    """Say the first of some ids that should not be there, and how many more."""
    if odd:
        first = min(odd, key=str)
        more = f", and {len(odd) - 1} more like it" if len(odd) > 1 else ""
        raise ValueError(f"{what} {first!r}, {why}{more}.")
