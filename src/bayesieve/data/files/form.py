"""How time series lie in files, as a value."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

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
