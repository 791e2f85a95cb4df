"""Values of one kind among levels of another: numbers, texts, and names of categories."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Array


class NumberName(str):
    """The name of a category that is a number: equal numbers match, however they are written.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data.kinds import NumberName, in_kind_of
    >>> in_kind_of(np.array(["1", "2"], object), np.array([NumberName("2.0"), "2.0"], object))
    array(['2', '2.0'], dtype=object)
    """

    __slots__ = ()


def in_kind_of(levels: Array, raw: Array) -> Array:
    """The values in the kind of the levels: floats, or texts as the levels write them.

    A text and a number match where the text is how Python writes that number (``"1"`` or ``"1.0"``
    for 1, ``"True"`` for a truth value), and where no other level writes the same number: ``"01"``
    is a name, and so is ``"1.50"``.  Texts match texts letter by letter.  What matches nothing is
    missing (None or NaN), but for names of categories, which stay what they are.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data.kinds import in_kind_of
    >>> in_kind_of(np.array(["1", "02"], object), np.array([1.0, 2.0]))
    array(['1', None], dtype=object)
    >>> in_kind_of(np.array([1.0, 2.0]), np.array(["2", "02", "b"], object))
    array([ 2., nan, nan])
    """
    if not len(levels):
        return raw
    if levels.dtype != object:
        return _floats(raw) if raw.dtype == object else raw
    if raw.dtype != object:
        written = _written(levels)
        texts = np.empty(raw.shape, object)
        texts[:] = [written.get(value) for value in raw.tolist()]
        return texts
    first = next((value for value in raw if value is not None and value != ""), None)
    if not isinstance(first, NumberName):
        return raw
    known, written = set(levels.tolist()), _written(levels)
    texts = np.empty(raw.shape, object)
    texts[:] = [_renamed(value, known, written) for value in raw]
    return texts


def _renamed(value: Any, known: set[str], written: dict[float, str | None]) -> Any:
    """A category's name as the levels write it."""
    if value in known or not isinstance(value, NumberName):
        return value
    number = _number(value)
    same = None if number is None else written.get(number)
    return value if same is None else same


def _floats(raw: Array) -> NDArray[np.float64]:
    """The numbers that texts write; NaN for all others."""
    numbers = (None if value is None else _number(value) for value in raw)
    return np.array([np.nan if number is None else number for number in numbers], np.float64)


def _written(levels: Array) -> dict[float, str | None]:
    """How the levels write each number; None where two of them write the same."""
    found: dict[float, str | None] = {}
    for level in levels.tolist():
        number = _number(level)
        if number is not None:
            found[number] = None if number in found else level
    return found


def _number(text: str) -> float | None:
    """The number that a text is the plain writing of; whole numbers stay exact."""
    if text in ("True", "False"):
        return int(text == "True")
    try:
        number = int(text) if text.lstrip("-").isdecimal() else float(text)
        finite = math.isfinite(number)
    except (ValueError, OverflowError):  # no number, or a whole one beyond all floats
        return None
    return number if finite and str(number) == text else None


def only_texts(raw: Array) -> bool:
    """Are all values plain texts or missing?  What is neither may have rules of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data.kinds import only_texts
    >>> only_texts(np.array(["a", None], dtype=object)), only_texts(np.array([1], dtype=object))
    (True, False)
    """
    return set(map(type, raw.tolist())) <= {str, type(None)}
