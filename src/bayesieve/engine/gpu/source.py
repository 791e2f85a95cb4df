"""The CUDA source of the kernels, put together for one number of classes."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

#: Every operation is rounded by itself: results are the host's to the bit.
OPTIONS = ("--std=c++17", "--fmad=false")

#: Threads of a block that scans bit columns.
SCAN_THREADS = 64

# With more classes, what a thread knows of two columns would not fit its registers.
_FEW_CLASSES = 6

_SELECTION = ("common", "exact", "sums", "settle")

_WEIGHTS = ("common", "exact", "weighted")


class Shape(NamedTuple):
    """How a scan of bit columns is cut."""

    columns: int  #: of each thread
    staged: int  #: words whose lines are staged together


def shapes_of(n_classes: int) -> Mapping[str, Shape]:
    """What was quickest for so many classes on an H200, by what is scanned for."""
    if n_classes == 2:
        shape = Shape(4, 32)
    else:
        shape = Shape(2 if n_classes <= _FEW_CLASSES else 1, 8)
    return {"PROBABILITY": shape, "SURPRISE": shape, "ERROR": Shape(1, 8)}


def selection_source(n_classes: int, scans: bool = True) -> str:
    """The kernels of a ledger in which columns join and leave.

    Parameters
    ----------
    n_classes : how many classes.
    scans : with kernels that scan; what those know of the classes must fit the memory of a block.
    """
    defined: dict[str, object] = {"CLASSES": n_classes}
    for name, shape in shapes_of(n_classes).items():
        defined[f"SHAPE_{name}"] = ", ".join(map(str, shape))
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
