"""Time series: records, windows, tables of them, and how they lie in files."""

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias, cast

import narwhals as nw
import numpy as np
from narwhals.typing import IntoDataFrame
from numpy.typing import ArrayLike

from ..checks import Array, Floats, Ints, check_number, choose, listed_names, plain_value
from .tables import is_frame, read_series

#: Of each channel, one array a series.
Channels = tuple[list[Floats], ...]


@dataclass(frozen=True)
class SeriesTable:
    """Validated time series of one channel or several.

    Parameters
    ----------
    values : tuple of lists of 1-D arrays
        Of each channel, one array a series; NaN is missing.
    channels : tuple of str
        Their names; ``("",)`` for one channel without a name.
    ids : tuple
        What the series are called.
    times : tuple of arrays, optional
        When the points of each series were taken, where that is known of all channels together.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesieve.indicators import SeriesTable
    >>> rows = [("a", 1, 0.25), ("a", 2, 0.5), ("b", 1, 3.0)]
    >>> table = SeriesTable.from_long(pd.DataFrame(rows, columns=["id", "time", "pressure"]))
    >>> table.ids, table.channels, table.values[0][0].tolist()
    (('a', 'b'), ('pressure',), [0.25, 0.5])
    """

    values: Channels
    channels: tuple[str, ...]
    ids: tuple[Hashable, ...]
    times: tuple[Array, ...] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shape(self) -> tuple[int, int]:
        """Series x channels."""
        return len(self.ids), len(self.channels)

    def __getitem__(self, key: int | slice | Array | tuple[Array, ...]) -> "SeriesTable":
        """Some of the series, as scikit-learn asks for them: numbers, a mask or a slice."""
        rows = key[0] if isinstance(key, tuple) else key
        at = np.atleast_1d(np.arange(len(self))[rows]).tolist()
        return SeriesTable(
            tuple([mine[i] for i in at] for mine in self.values),
            self.channels,
            tuple(self.ids[i] for i in at),
            None if self.times is None else tuple(self.times[i] for i in at),
        )

    def __iter__(self) -> Iterator["SeriesTable"]:
        return (self[i] for i in range(len(self)))

    def irregular(self) -> list[Hashable]:
        """Ids of the series whose points are not the same time apart.

        Scores see the order of the points only.
        """
        found: list[Hashable] = []
        for name, times in zip(self.ids, self.times or (), strict=False):
            steps = np.diff(times).astype(np.float64)
            if steps.size and np.ptp(steps) > 1e-6 * np.abs(steps).max():
                found.append(name)
        return found

    @classmethod
    def from_long(
        cls,
        frame: IntoDataFrame,
        *,
        id: str = "id",  # noqa: A002 (what people call it)
        time: str | None = "time",
        values: Sequence[str] | str | None = None,
        channel: str | None = None,
    ) -> "SeriesTable":
        """Series from a table with one row a point.

        Parameters
        ----------
        frame : pandas, polars or Arrow table
            The points.
        id : str, default="id"
            Column that says which series a point belongs to.
        time : str or None, default="time"
            Column that says when; points are put in this order.  None: they are in order.
        values : str or list of str, optional
            Columns of values, one a channel; all other columns by default.
        channel : str, optional
            Column that names the channel of each row, where one column holds the values of all.

        Returns
        -------
        table : SeriesTable
            Series in the order in which their ids come first.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayesieve.indicators import SeriesTable
        >>> frame = pd.DataFrame({"engine": [7, 7, 8], "n1": [0.5, 0.6, 0.4], "n2": [1, 2, 3]})
        >>> SeriesTable.from_long(frame, id="engine", time=None).shape
        (2, 2)
        """
        table = nw.from_native(frame, eager_only=True)
        for parameter, name in zip(("id", "time", "channel"), (id, time, channel), strict=True):
            if name is not None:
                choose(parameter, name, table.columns)
        named = [values] if isinstance(values, str) else values
        keys = (id, time, channel)
        columns = [c for c in table.columns if c not in keys] if named is None else list(named)
        for name in columns:
            choose("values", name, table.columns)
        if not columns or (channel is not None and len(columns) != 1):
            raise ValueError(
                f"values must name {'one column' if channel else 'the columns'} of values; got "
                f"{listed_names(columns) or 'none'}. Columns of the table: "
                f"{listed_names(table.columns)}."
            )
        if table.shape[0] == 0:
            raise ValueError("series is empty; give at least one time series.")
        series, ids = _codes(table[id], "id")
        kinds, names = np.zeros(series.size, np.int64), columns
        if channel is not None:
            kinds, found = _codes(table[channel], "channel")
            names = [str(name) for name in found]
        n_kinds = 1 if channel is None else len(names)
        order = _in_order(series, kinds, None if time is None else table[time], ids)
        cells = [_numbers(table[name]) for name in columns]
        parts_of = np.arange(1, len(ids) * n_kinds)
        cuts = np.searchsorted((series * n_kinds + kinds)[order], parts_of)
        parts = [np.split(mine[order], cuts) for mine in cells]
        times = None
        if time is not None:
            when = np.split(table[time].to_numpy()[order], cuts)
            times = _common_times(when, n_kinds, ids)
        # Of one column the channels in turn; else each column is a channel.
        channels = (_frozen(part[k::n_kinds]) for part in parts for k in range(n_kinds))
        return cls(tuple(channels), tuple(names), tuple(ids), times)


#: Series of any lengths, the rows of a matrix, matrices of channels, or a table of them.
SeriesLike: TypeAlias = Sequence[ArrayLike] | Array | IntoDataFrame | SeriesTable


def read_series_table(series: SeriesLike, channels: Sequence[str] | None = None) -> SeriesTable:
    """Series in any form: lists of arrays, 2-D and 3-D arrays, wide and long frames.

    `channels` name those of a form that has no names.
    """
    if isinstance(series, SeriesTable):
        found = series
    elif is_frame(series):
        found = _read_frame(cast("IntoDataFrame", series))
    else:
        found = _read_arrays(cast("Sequence[Array]", series))
    if len(found) == 0:
        raise ValueError("series is empty; give at least one time series.")
    if channels is None or isinstance(series, SeriesTable) or found.channels == tuple(channels):
        return found
    if isinstance(channels, str) or len(channels) != len(found.channels):
        raise ValueError(
            f"channels must name the {len(found.channels)} channel(s) of the series; got "
            f"{channels!r}."
        )
    if len(set(channels)) != len(channels):
        raise ValueError(f"channels must differ from each other; got {channels!r}.")
    return replace(found, channels=tuple(str(name) for name in channels))


def _read_frame(frame: IntoDataFrame) -> SeriesTable:
    """A long table where it has the columns id and time; else a series a row."""
    table = nw.from_native(frame, eager_only=True)
    if {"id", "time"} <= set(table.columns):
        by_channel = {"channel", "value"} <= set(table.columns)
        options = {"channel": "channel", "values": "value"} if by_channel else {}
        return SeriesTable.from_long(frame, **options)
    odd = [
        str(name)
        for name, kind in table.schema.items()
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object))
    ]
    if odd:
        raise TypeError(
            f"series: column {odd[0]!r} holds no numbers. A wide table has one series a row and "
            "numbers only; a long one has the columns 'id' and 'time', or is read by "
            "SeriesTable.from_long(frame, id=..., time=...)."
        )
    return _single(read_series(table.to_numpy()))


def _read_arrays(series: Sequence[Array]) -> SeriesTable:
    """A list of 1-D arrays; or 2-D ones, channels x points, which a 3-D array is a pile of."""
    known = hasattr(series, "__len__") and not isinstance(series, str | bytes)
    first = np.ndim(series[0]) if known and len(series) and np.ndim(series[0]) == 2 else 1
    if first == 1:
        return _single(read_series(series))
    each = []
    for i, x in enumerate(series):
        if np.ndim(x) != 2 or len(x) != len(series[0]):
            raise ValueError(
                f"series[{i}] must have the {len(series[0])} channels that series[0] has, as a "
                f"two-dimensional array, channels x points; got shape {np.shape(x)}."
            )
        try:
            each.append(read_series(x))
        except (TypeError, ValueError) as error:
            raise type(error)(f"series[{i}]: {error}") from error
    n_channels = len(series[0])
    names = tuple(f"channel {k}" for k in range(n_channels)) if n_channels > 1 else ("",)
    values = tuple([mine[k] for mine in each] for k in range(n_channels))
    return SeriesTable(values, names, tuple(range(len(each))))


def _single(values: list[Floats]) -> SeriesTable:
    return SeriesTable((values,), ("",), tuple(range(len(values))))


def _common_times(
    times: list[Array], n_channels: int, ids: list[Hashable]
) -> tuple[Array, ...] | None:
    """Times of the series, where all channels of each were taken at the same ones."""
    each = [times[i : i + n_channels] for i in range(0, len(times), n_channels)]
    odd = [
        name
        for name, mine in zip(ids, each, strict=True)
        if any(not np.array_equal(mine[0], other) for other in mine[1:])
    ]
    if odd:
        warnings.warn(
            f"{len(odd)} series, such as {plain_value(odd[0])!r}, have channels that were not "
            "taken at the same times: scores of several channels compare points in their order.",
            stacklevel=3,
        )
        return None
    return tuple(mine[0] for mine in each)


def _codes(column: nw.Series, what: str) -> tuple[Ints, list[Hashable]]:
    """Numbers of the distinct values in order of appearance, and the values."""
    if column.null_count():
        raise ValueError(f"{what}: column {column.name!r} has missing values; fill or drop them.")
    cells = column.to_list()
    numbers = {value: i for i, value in enumerate(dict.fromkeys(cells))}
    return np.array([numbers[value] for value in cells], np.int64), list(numbers)


def _in_order(series: Ints, kinds: Ints, time: nw.Series | None, ids: list[Hashable]) -> Ints:
    """Rows by series, channel and time; a time that comes twice is refused."""
    if time is None:
        return np.lexsort((kinds, series))
    when: Array = time.to_numpy()
    if when.dtype.kind not in "fiubMm":
        raise TypeError(
            f"time: column {time.name!r} must hold numbers or dates; got {time.dtype}. Turn texts "
            "into dates first, or give time=None where the rows are in order."
        )
    if time.null_count() or (when.dtype.kind in "fMm" and (when != when).any()):
        raise ValueError(f"time: column {time.name!r} has missing values; fill or drop them.")
    order = np.lexsort((when, kinds, series))
    same = (np.diff(series[order]) == 0) & (np.diff(kinds[order]) == 0)
    twice = np.flatnonzero(same & (when[order][1:] == when[order][:-1]))
    if twice.size:
        at = order[twice[0]]
        raise ValueError(
            f"time: series {plain_value(ids[series[at]])!r} has {when[at]} twice. Keep one of the "
            "rows, or name the column of the channel."
        )
    given = np.lexsort((kinds, series))
    moved = np.unique(series[order[order != given]])
    if moved.size:
        warnings.warn(
            f"{moved.size} series, the first {plain_value(ids[moved[0]])!r}, did not come in the "
            f"order of {time.name!r} and were sorted.",
            stacklevel=5,
        )
    return order


def _numbers(column: nw.Series) -> Floats:
    """A column of values; what is missing is NaN."""
    if not (column.dtype.is_numeric() or column.dtype in (nw.Boolean, nw.Object)):
        raise TypeError(
            f"values: column {column.name!r} must hold numbers; got {column.dtype}. Name the "
            "columns of values."
        )
    try:
        return np.asarray(column.cast(nw.Float64).to_numpy(), np.float64)
    except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
        raise TypeError(f"values: column {column.name!r} must hold numbers.") from error


def _frozen(parts: list[Floats]) -> list[Floats]:
    """Arrays of their own that nobody can change."""
    found = []
    for part in parts:
        mine = np.ascontiguousarray(part)
        mine.flags.writeable = False
        found.append(mine)
    return found


# -- Labels of series, and long records cut into labelled windows ----------------------------------


class Windows(NamedTuple):
    """Windows cut from records.

    Attributes
    ----------
    table : SeriesTable
        The windows; ids are (id of the record, first point).
    y : ndarray or None
        Their classes, where intervals gave them.
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
    groups: Ints
    firsts: Ints
    left_out: int
    stretches: Ints | None = None


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
    for name, value in zip(table[id].to_list(), table[label].to_list(), strict=True):
        if name in found and found[name] != value:
            raise ValueError(f"labels: series {name!r} has two, {found[name]!r} and {value!r}.")
        if value is None or value != value:
            raise ValueError(f"labels: series {name!r} has a row without a label.")
        found[name] = value
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
    for name, low, high, value in zip(
        table[id].to_list(), *cells, table[label].to_list(), strict=True
    ):
        if low > high:
            raise ValueError(f"intervals: one of {name!r} starts at {low} and ends at {high}.")
        found.setdefault(name, []).append(Interval(low, high, value))
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
                low, high = times[first], times[first + window - 1]
                holds = (each.start <= low and high <= each.end for each in mine)
                at = next((i for i, held in enumerate(holds) if held), None)
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
    windows = Windows(cuts, None, groups, firsts, left_out)
    if intervals is None:
        return windows
    return windows._replace(y=np.array(labels), stretches=np.array(stretches, np.int64))


def _refuse(what: str, why: str, odd: set[Hashable]) -> None:
    """Say the first of some ids that should not be there, and how many more."""
    if odd:
        first = min(odd, key=str)
        more = f", and {len(odd) - 1} more like it" if len(odd) > 1 else ""
        raise ValueError(f"{what} {first!r}, {why}{more}.")


# -- How series lie in files -----------------------------------------------------------------------


#: `SeriesForm` as plain data.
FormData: TypeAlias = dict[str, str | int | list[str] | None]


@dataclass(frozen=True)
class SeriesForm:
    """How series lie in files.

    Parameters
    ----------
    kind : {"long", "wide", "folder"}
        One row a point, one row a series, or one file a series.
    id, time, channel : str, optional
        Columns that say which series, when, and of which channel.
    values : tuple of str, optional
        Columns of values: of a long table one a channel, of a wide one one a point; all others by
        default.
    window, stride : int, optional
        Long records are cut into windows of so many points, so many apart.
    """

    kind: str
    id: str | None = None
    time: str | None = None
    channel: str | None = None
    values: tuple[str, ...] | None = None
    window: int | None = None
    stride: int | None = None

    def to_dict(self) -> FormData:
        """Plain data."""
        return asdict(self) | {"values": None if self.values is None else list(self.values)}

    @classmethod
    def from_dict(cls, data: Mapping[str, str | int | list[str] | None]) -> "SeriesForm":
        """The form that `to_dict` wrote."""
        found = cls(**data)  # type: ignore[arg-type]
        return found if found.values is None else replace(found, values=tuple(found.values))
