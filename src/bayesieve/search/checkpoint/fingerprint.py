"""Fingerprints of values that decide a result, the same in every process."""

import functools
import hashlib
import inspect
from collections.abc import Mapping
from fractions import Fraction
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes, Fraction)


# Classes of these packages change with their versions only.
_KNOWN = ("bayesieve", "builtins", "numpy", "sklearn", "scipy")


def fingerprint(*values: object) -> str:
    """A digest of values; equal values give equal digests wherever they are made.

    Objects are told apart by their class and their attributes, functions by their code: an address
    in memory, or a hash that is salted, never counts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.checkpoint.fingerprint import fingerprint
    >>> fingerprint(np.arange(3), {"a": 1}) == fingerprint(np.arange(3), {"a": 1})
    True
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3.0))
    False
    """
    hasher = hashlib.blake2b(digest_size=16)
    _feed(hasher, values, ())
    return hasher.hexdigest()


def _feed(hasher: "hashlib.blake2b", value: object, above: tuple[int, ...]) -> None:
    """Take in one value; `above` are the objects that hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if id(value) in above:
        hasher.update(b"<itself>")
        return
    above = (*above, id(value))
    hasher.update(f"<{type(value).__module__}.{type(value).__qualname__}>".encode())
    if isinstance(value, _PLAIN):
        # The length tells where a value ends.
        text = repr(value).encode(errors="surrogatepass")
        hasher.update(f"{len(text)}:".encode() + text)
        return
    parts = _parts(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        hasher.update(f"{value.dtype.str}{value.shape}".encode())
        hasher.update(np.ascontiguousarray(value).view(np.uint8).data if value.size else b"")
    elif isinstance(value, set | frozenset | Mapping):
        # In an order of their own: that of sets changes from process to process.
        pairs = value.items() if isinstance(value, Mapping) else value
        hasher.update("".join(sorted(fingerprint(pair) for pair in pairs)).encode())
    elif parts is not None:
        hasher.update(f"{len(parts)}:".encode())
        for part in parts:
            _feed(hasher, part, above)
    else:
        _feed(hasher, repr(value), above)


def _parts(value: object) -> list[object] | None:
    """What an object is made of; None where it cannot be looked into."""
    if isinstance(value, np.ndarray):
        return [value.shape, *value.ravel().tolist()]
    if isinstance(value, list | tuple | range):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, FunctionType):
        kept = inspect.getclosurevars(value).nonlocals
        return [value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, kept]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_consts]
    if isinstance(value, type | BuiltinFunctionType):
        return [value.__module__, value.__qualname__]
    if isinstance(value, np.random.RandomState):
        return list(value.get_state(legacy=True))
    if isinstance(value, np.random.Generator):
        return [value.bit_generator.state]
    if hasattr(value, "get_params"):
        return [value.get_params(deep=False), *_methods(type(value))]
    if hasattr(value, "__dict__"):
        return [_told(value), *_methods(type(value))]
    return None


def _told(value: object) -> dict[str, object]:
    """The attributes of an object, but for what it has worked out of them and remembers."""
    kind = type(value)
    return {
        name: part
        for name, part in vars(value).items()
        if not isinstance(getattr(kind, name, None), functools.cached_property)
    }


def _methods(kind: type) -> list[tuple[str, FunctionType]]:
    """The functions of a user's own class: its name does not say what it does."""
    return [
        (name, member)
        for each in kind.__mro__
        if each.__module__.split(".")[0] not in _KNOWN
        for name, member in sorted(vars(each).items())
        if isinstance(member, FunctionType) and (name == "__call__" or not name.startswith("__"))
    ]
