"""The GPU: packing of cells, sources of kernels, the device and its memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...checks import Array, Bools, Foreign
from ...models.base import Ints
from ..threads import Threads

if TYPE_CHECKING:
    from .engine import Gpu, Kernels

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

    What kernels that scan know of the classes must fit the memory of a block.
    """
    defined: dict[str, object] = {"CLASSES": n_classes}
    for name, shape in shapes_of(n_classes).items():
        defined[f"SHAPE_{name}"] = ", ".join(map(str, shape))
    return _put_together((*_SELECTION, "scan") if scans else _SELECTION, defined)


def weights_source(n_classes: int, full: bool, weighted: bool) -> str:
    """The kernels of a ledger of weighted terms.

    Lines with weights need numbers of 64 bits; `full` asks for products of posteriors.
    """
    plane = "long long" if weighted else "int"
    return _put_together(_WEIGHTS, {"CLASSES": n_classes, "FULL": int(full), "PLANE": plane})


def _put_together(names: tuple[str, ...], defined: Mapping[str, object]) -> str:
    head = "".join(f"#define {name} {value}\n" for name, value in defined.items())
    return head + "\n".join(_read(name) for name in names)


@cache
def _read(name: str) -> str:
    return (files(__package__) / "cuda" / f"{name}.cu").read_text("utf-8")


# -- What a ledger asks of a GPU -------------------------------------------------------------------


#: Threads of a block, as in common.cu.
THREADS = 256

# A grid has no more blocks than this in its second direction.
_MOST_BLOCKS = 1 << 15


class Store:
    """Arrays of one ledger, by name; those that are written in every step keep their room."""

    def __init__(self, device: "Gpu"):
        self._device = device
        self._kept: dict[str, Foreign] = {}
        device.watch(self)

    def __getitem__(self, name: str) -> Foreign:
        return self._kept[name]

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def room(self, name: str, shape: Sequence[int], dtype: DTypeLike) -> Foreign:
        """Room of this shape; what was there under that name is lost."""
        size, kept = int(np.prod(shape)), self._kept.get(name)
        if kept is None or kept.size < size or kept.dtype != np.dtype(dtype):
            self._kept.pop(name, None)
            kept = None  # before there is new room, the old one is given back
            self._kept[name] = self._device.empty((max(size, 1),), dtype)
        return self._kept[name][:size].reshape(tuple(shape))

    def put(self, name: str, values: Array) -> Foreign:
        """Values on the device, under that name."""
        found = self.room(name, values.shape, values.dtype)
        if values.size:
            self._device.write(found, np.ascontiguousarray(values))
        return found

    def zeros(self, name: str, shape: Sequence[int], dtype: DTypeLike) -> Foreign:
        """Allocate a named array of zeros on the device."""
        return self.put(name, np.zeros(tuple(shape), dtype))

    def drop(self, name: str) -> None:
        """Give the room of one array back."""
        self._kept.pop(name, None)

    def clear(self) -> None:
        """Give all memory back."""
        self._kept.clear()


def blocks(n_items: int, size: int = THREADS) -> int:
    """How many blocks cover so many items."""
    return -(-n_items // size)


def batches(n_items: int) -> list[tuple[int, int]]:
    """Ranges of items for which a grid has blocks enough."""
    return [(lo, min(lo + _MOST_BLOCKS, n_items)) for lo in range(0, n_items, _MOST_BLOCKS)]


# -- Lines in words of 32 --------------------------------------------------------------------------


_WORD = 32

# Bit columns are packed and turned so many bytes at a time, on the host and on the device.
_PANEL_BYTES = 1 << 26

#: Words of a chunk, which a block of a scan walks through; of a piece, which a block settles.
CHUNK, PIECE = 128, 32


@dataclass(frozen=True)
class Words:
    """Lines in runs of one true class and one set of tables, each from a word of its own on.

    Examples
    --------
    >>> words = Words.of(np.array([0] * 40 + [1] * 2), np.zeros(42, int))
    >>> words.n_words, words.n_padded, words.first.tolist(), words.places[[0, 39, 40]].tolist()
    (3, 96, [0, 2], [0, 39, 64])
    """

    starts: Ints  #: first line of each run, and the number of lines at the end
    classes: Ints  #: of each run
    sets: Ints

    @classmethod
    def of(cls, labels: Ints, sets: Ints) -> "Words":
        """Runs of lines that are sorted by class and set."""
        change = (np.diff(labels) != 0) | (np.diff(sets) != 0)
        begin = np.append(0, np.flatnonzero(change) + 1)
        return cls(np.append(begin, labels.size), labels[begin], sets[begin])

    @property
    def sizes(self) -> Ints:
        """Lines of each run."""
        return np.diff(self.starts)

    @cached_property
    def counts(self) -> Ints:
        """Words of each run."""
        return -(-self.sizes // _WORD)

    @cached_property
    def first(self) -> Ints:
        """First word of each run."""
        return np.cumsum(self.counts) - self.counts

    @property
    def n_words(self) -> int:
        """How many words."""
        return int(self.counts.sum())

    @property
    def n_padded(self) -> int:
        """How many lines have room in them."""
        return self.n_words * _WORD

    @cached_property
    def places(self) -> Ints:
        """Where each line lies."""
        shift = self.first * _WORD - self.starts[:-1]
        return np.arange(self.starts[-1]) + np.repeat(shift, self.sizes)

    def spread(self, values: Array) -> Array:
        """Values of lines where they lie; 0 where no line is."""
        found = np.zeros((*values.shape[:-1], self.n_padded), values.dtype)
        found[..., self.places] = values
        return found

    def by_class(self, n_classes: int) -> Ints:
        """Lines that have room, by true class."""
        found = np.zeros(n_classes, np.int64)
        np.add.at(found, self.classes, self.counts * _WORD)
        return found

    def cuts(self, size: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """First word and number of words of parts of at most so many words of one run."""
        pairs = [
            (first + at, min(size, count - at))
            for first, count in zip(self.first.tolist(), self.counts.tolist(), strict=True)
            for at in range(0, count, size)
        ]
        first, count = np.array(pairs, np.int32).T
        return np.ascontiguousarray(first), np.ascontiguousarray(count)

    @cached_property
    def piece_classes(self) -> Ints:
        """True class of each piece."""
        first, _ = self.cuts(PIECE)
        return np.repeat(self.classes, self.counts)[first]

    def put(self, store: Store, weights: Ints) -> None:
        """What kernels read of the lines: classes, sets, valid, weights; chunks and pieces."""
        store.put("classes", np.repeat(self.classes, self.counts).astype(np.int32))
        store.put("sets", np.repeat(self.sets, self.counts).astype(np.int32))
        store.put("weights", self.spread(weights) if weights.size else weights)
        left = self.sizes - (self.counts - 1) * _WORD
        valid = np.full(self.n_words, 2**_WORD - 1, np.uint32)
        valid[self.first + self.counts - 1] = (2**left - 1).astype(np.uint32)
        store.put("valid", valid)
        for name, size in (("chunks", CHUNK), ("pieces", PIECE)):
            first, count = self.cuts(size)
            store.put(f"first {name}", first)
            store.put(f"count {name}", count)


def put_columns(
    words: Words,
    column: Callable[[int], Array],
    two: Bools,
    store: Store,
    how: "tuple[Gpu, Kernels, Threads]",
) -> NDArray[np.int32]:
    """Columns of codes on a device; where each is: a column of bits (>= 0), or -1 - one of bytes.

    Codes are below 256; columns that have `two` go to "bits" of the store, the others to "codes".
    """
    device, _, _ = how
    places = np.where(two, np.cumsum(two) - 1, -np.cumsum(1 - two)).astype(np.int32)
    n_bits, n_bytes = int(two.sum()), int((~two).sum())
    bits = store.room("bits", (words.n_words, n_bits), np.uint32)
    if n_bits:
        _put_bits(words, column, np.flatnonzero(two).tolist(), bits, store, how)
    codes = store.room("codes", (n_bytes, words.n_padded), np.uint8)
    for seat, j in enumerate(np.flatnonzero(~two).tolist()):
        device.write(codes[seat], words.spread(column(j).astype(np.uint8, copy=False)))
    return places


def _put_bits(
    words: Words,
    column: Callable[[int], Array],
    numbers: list[int],
    bits: Foreign,
    store: Store,
    how: "tuple[Gpu, Kernels, Threads]",
) -> None:
    from ..kernels.bits import pack_words

    _, program, threads = how
    size = max(1, min(len(numbers), _PANEL_BYTES // max(words.n_words * 4, 1)))
    ends = words.starts[:-1], words.starts[1:], words.first
    panel = np.empty((size, words.n_words), np.uint32)
    for lo in range(0, len(numbers), size):
        some = numbers[lo : lo + size]

        def task(begin: int, end: int, some: list[int] = some) -> None:
            for j in range(begin, end):
                pack_words(column(some[j])[None], *ends, 0, 1, panel[j : j + 1])

        threads.run(task, len(some), panel.size * _WORD)
        there = store.put("panel", panel[: len(some)])
        sizes = np.int32(lo), np.int32(len(some)), np.int32(len(numbers))
        grid = (blocks(words.n_words, _WORD), blocks(len(some), _WORD))
        program.launch("turn_words", grid, 256, (there, bits, *sizes, np.int64(words.n_words)))
    store.drop("panel")


# -- How much memory a ledger needs on a GPU, and what is said where there is less -----------------


# What a scan holds beside, as a share of the bits: a number for every column and 8192 lines.
_SCAN_SHARE = 1 / 64

_GIGA = 1e9


def check_fits(words: Words, n_classes: int, two: Bools, weighted: bool, free: int) -> None:
    """Refuse lines for which there is too little memory: cells, sums, and what scans read."""
    cells = words.n_padded * (int(two.sum()) / 8 + int((~two).sum()))
    lines = words.n_padded * (12 * n_classes + (8 if weighted else 0))
    needed = int(cells * (1 + _SCAN_SHARE)) + lines
    if needed > free:
        raise MemoryError(
            f"engine='gpu': {words.starts[-1]} rows of {two.size} columns need "
            f"{needed / _GIGA:.3g} GB on the GPU, of which {free / _GIGA:.3g} GB are free; use "
            "several GPUs (GpuEngine([0, 1])), fewer rows or columns, or engine=None."
        )
