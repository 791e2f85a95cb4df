"""The CUDA source of the kernels, put together for one number of classes."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

#: Every operation is rounded by itself: results are the host's to the bit.
OPTIONS = ("--std=c++17", "--fmad=false")

# Columns that one thread of a scan has; with many classes, what it knows of them fills registers.
_FEW_CLASSES, _TWO_COLUMNS = 6, 2

_SELECTION = ("common", "exact", "sums", "settle")

_WEIGHTS = ("common", "exact", "weighted")


def columns_a_thread(n_classes: int) -> int:
    """How many bit columns a thread of a scan has."""
    return _TWO_COLUMNS if n_classes <= _FEW_CLASSES else 1


def selection_source(n_classes: int, scans: bool = True) -> str:
    """The kernels of a ledger in which columns join and leave.

    Parameters
    ----------
    n_classes : how many classes.
    scans : with kernels that scan; what those know of the classes must fit the memory of a block.
    """
    defined = {"CLASSES": n_classes, "COLUMNS": columns_a_thread(n_classes)}
    return _put_together((*_SELECTION, "scan") if scans else _SELECTION, defined)


def weights_source(n_classes: int, full: bool, weighted: bool) -> str:
    """The kernels of a ledger of weighted terms.

    Parameters
    ----------
    n_classes : how many classes.
    full : products of posteriors, or posteriors alone.
    weighted : lines have weights, so that their numbers need 64 bits.
    """
    plane = "long long" if weighted else "int"
    return _put_together(_WEIGHTS, {"CLASSES": n_classes, "FULL": int(full), "PLANE": plane})


def _put_together(names: tuple[str, ...], defined: Mapping[str, object]) -> str:
    head = "".join(f"#define {name} {value}\n" for name, value in defined.items())
    return head + "\n".join(_read(name) for name in names)


@cache
def _read(name: str) -> str:
    return (files(__package__) / "cuda" / f"{name}.cu").read_text("utf-8")
