"""Results as data that JSON can hold."""

import math
from typing import TypeAlias, cast

import numpy as np

from ..data.result import Fields

#: A model, or a part of a report, as plain data: what each name holds.
Section: TypeAlias = Fields

#: What JSON can hold.
Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"


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
