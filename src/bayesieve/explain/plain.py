"""Results as data that JSON can hold."""

import math
from typing import Any

import numpy as np


def jsonable(value: Any) -> Any:
    """The same in dicts, lists, text, numbers and None; what is not finite becomes None."""
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
    return value
