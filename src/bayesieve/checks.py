"""Validation of parameters, and the wording of errors."""

import difflib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

#: An array whose kind of numbers (or texts) does not matter to whoever takes it.
Array: TypeAlias = NDArray[Any]

#: Arrays of the types that most of the package computes with.
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]

#: An object of a library that may not be installed.
Foreign: TypeAlias = Any

#: Sizes of a model by name; what they mean is each estimator's.
PRESETS = ("few", "balanced", "accurate")

# So many names that differ in a number only are told by the first and the last.
_MANY = 4


class BadUseError(ValueError):
    """Something that the user can put right: said in one sentence, exit code 2."""


def choose(
    name: str,
    value: object,
    allowed: Iterable[str],
    meant: Mapping[str, str] | None = None,
    beside: str = "",
) -> str:
    """A name among the allowed ones, or an error that names the nearest.

    Parameters
    ----------
    name, value : the parameter and what came.
    allowed : names that are known.
    meant : what names of other libraries are called here.
    beside : what else may be given, which is not for this function to accept.
    """
    allowed = list(allowed)
    if isinstance(value, str) and value in allowed:
        return value
    listed = listed_names(allowed)
    near = difflib.get_close_matches(value, allowed, 1, 0.4) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if isinstance(value, str) and value.lower() in (meant or {}):
        hint = f" Did you mean {(meant or {})[value.lower()]}?"
    error = ValueError if isinstance(value, str) else TypeError
    expected = listed if beside and len(allowed) == 1 else f"one of {listed}"
    if beside:
        expected += f", {beside}" if " or " in beside else f" or {beside}"
    raise error(f"{name} must be {expected}; got {value!r}.{hint}")


def listed_names(names: Iterable[str]) -> str:
    """Names in a row; of four or more that differ in a number only, the first and the last.

    Examples
    --------
    >>> from bayesieve.checks import listed_names
    >>> listed_names(["auto", "mixture-1", "mixture-2", "mixture-3", "mixture-4"])
    "'auto', 'mixture-1' ... 'mixture-4'"
    """
    found = []
    for _, group in groupby(names, key=lambda name: re.sub(r"\d+", "#", name)):
        alike = list(group)
        if len(alike) < _MANY:
            found += [repr(name) for name in alike]
        else:
            found.append(f"{alike[0]!r} ... {alike[-1]!r}")
    return ", ".join(found)


@overload
def check_number(
    name: str, value: object, *, low: float, high: float = ..., whole: Literal[True]
) -> int: ...
@overload
def check_number(name: str, value: object, *, low: float, high: float = ...) -> float: ...
def check_number(
    name: str, value: Any, *, low: float, high: float = math.inf, whole: bool = False
) -> Any:
    """A number within bounds."""
    kind = Integral if whole else Real
    what = f"a{' whole' if whole else ''} number"
    span = f"from {low:g}" + ("" if high == math.inf else f" to {high:g}")
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} must be {what} {span}; got {value!r}.")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.nan
    if not low <= number <= high:
        raise ValueError(f"{name} must be {what} {span}; got {_short(value)}.")
    return value


def _short(value: object) -> str:
    """A value as it is shown in a sentence."""
    try:
        shown = repr(value)
    except ValueError:  # too many digits for Python itself
        return "a number of thousands of digits"
    return shown if len(shown) <= 60 else f"{shown[:20]}... ({len(shown)} letters)"


def plain_value(value: Any) -> Any:
    """Python's own value behind a numpy scalar, for messages and files."""
    scalar = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if scalar else value


def check_callable(name: str, value: object) -> None:
    """A function, or an object that can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be callable; got {value!r}.")


def check_jobs(n_jobs: object) -> None:
    """None, or a whole number that is not 0."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs must be None or a whole number; got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use a number of threads, or -1 for all cores.")


def check_flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(plain_value(value), bool):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_file(name: str, value: object) -> Path:
    """The path of a file, there or not."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise TypeError(f"{name} must be the path of a file; got {value!r}.")
    return Path(value)


# Denominators up to this make a float a fraction: 0.1, 1/3, or n / (classes x rows of a class).
_MOST_DENOMINATOR = 2**20


def as_fraction(number: float) -> Fraction | None:
    """The fraction with a small denominator that this float stands for, or None.

    Examples
    --------
    >>> from bayesieve.checks import as_fraction
    >>> as_fraction(0.1), as_fraction(1e-10)
    (Fraction(1, 10), None)
    """
    found = Fraction(number).limit_denominator(_MOST_DENOMINATOR)
    return found if float(found) == number else None


def some(names: Sequence[str], most: int = 8) -> str:
    """The first of many names, and how many more there are.

    Examples
    --------
    >>> from bayesieve.checks import some
    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def column_indices(parameter: str, keys: object, names: list[str]) -> list[int]:
    """Column numbers from names or numbers."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise TypeError(
            f"{parameter} must be a list of column names or numbers; got {keys!r}. "
            "Wrap a single one in a list."
        )
    found = []
    for key in keys:
        if isinstance(key, str):
            if key not in names:
                near = difflib.get_close_matches(key, names, 1, 0.4)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise ValueError(
                    f"{parameter}: {key!r} is not among the columns of X; allowed are "
                    f"{some(names)}.{hint}"
                )
            found.append(names.index(key))
        elif isinstance(key, Integral) and not isinstance(key, bool):
            if not 0 <= int(key) < len(names):
                raise ValueError(
                    f"{parameter}: column {int(key)} is not among the columns of X; allowed are 0 "
                    f"to {len(names) - 1}."
                )
            found.append(int(key))
        else:
            raise TypeError(f"{parameter} must hold column names or numbers; got {key!r}.")
    return found


# Less memory than this is asked for without a look at how much there is.
_LITTLE = 2**28


def check_memory(what: str, needed: float, instead: str) -> None:
    """Refuse what would not fit into memory, before it is asked for.

    Parameters
    ----------
    what : whose memory it is; the subject of a sentence, of several.
    needed : bytes.
    instead : what to do about it.
    """
    free = None if needed < _LITTLE else free_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} need {needed / 1e9:.3g} GB of memory, of which {free / 1e9:.3g} GB are free; "
            f"{instead}."
        )


def free_memory() -> int | None:
    """Bytes that this process may still take, or None where nobody tells.

    The least of what the machine has, what its control group allows (a container's limit) and what
    the limit of its address space leaves.

    Examples
    --------
    >>> from bayesieve.checks import free_memory
    >>> free = free_memory()
    >>> free is None or free > 0
    True
    """
    found = [*_free_on_machine(), *_free_in_group(), *_free_by_limit()]
    return max(min(found), 0) if found else None


def _free_on_machine() -> Iterator[int]:
    """What the system could give without swapping."""
    for line in _lines_of("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
            return
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names:  # pragma: no cover
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _free_in_group() -> Iterator[int]:
    """What the control groups of the process leave; files that could be dropped count as free."""
    for line in _lines_of("/proc/self/cgroup"):
        _, kinds, name = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        most, used = ("max", "current") if not kinds else ("limit_in_bytes", "usage_in_bytes")
        top = Path("/sys/fs/cgroup") / kinds
        group = top / name.lstrip("/")
        # A container sees its own group at the top, whatever its name outside.
        for folder in {top, group, *(each for each in group.parents if top in each.parents)}:
            limits = [_lines_of(folder / f"memory.{part}") for part in (most, used)]
            if not all(limits) or not all(lines[0].isdigit() for lines in limits):
                continue
            cached = [each for each in _lines_of(folder / "memory.stat") if "inactive_file" in each]
            dropped = max([0, *(int(each.split()[1]) for each in cached)])
            yield int(limits[0][0]) - int(limits[1][0]) + dropped


def _free_by_limit() -> Iterator[int]:
    """What is left of the address space, where it has a limit."""
    try:
        import resource
    except ImportError:  # pragma: no cover
        return
    limit, pages = resource.getrlimit(resource.RLIMIT_AS)[0], _lines_of("/proc/self/statm")
    if limit != resource.RLIM_INFINITY and pages:
        yield limit - int(pages[0].split()[0]) * resource.getpagesize()


def _lines_of(path: str | Path) -> list[str]:
    """The lines of a file of the system; none where it has no such file."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def check_there(path: Path, what: str = "the file") -> None:
    """Refuse a file to read that is not there."""
    if not path.is_file():
        why = "is not a file" if path.exists() else "does not exist"
        raise BadUseError(f"{what} {str(path)!r} {why}.")
