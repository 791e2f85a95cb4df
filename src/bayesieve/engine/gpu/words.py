"""Lines in words of 32: where each line lies on a GPU, and how columns get there."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...checks import Array, Foreign
from ...models.base import Ints
from ..threads import Threads
from .device import Device, Program, Store, blocks

_WORD = 32

# Bit columns are packed and turned so many bytes at a time, on the host and on the device.
_PANEL_BYTES = 1 << 26

#: Words of a chunk, which a block of a scan walks through; of a piece, which a block settles.
CHUNK, PIECE = 128, 32


@dataclass(frozen=True)
class Words:
    """Lines in runs of one true class and one set of tables, each from a word of its own on.

    Parameters
    ----------
    starts : first line of each run, and the number of lines at the end.
    classes, sets : of each run.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.gpu.words import Words
    >>> words = Words.of(np.array([0] * 40 + [1] * 2), np.zeros(42, int))
    >>> words.n_words, words.n_padded, words.first.tolist(), words.places[[0, 39, 40]].tolist()
    (3, 96, [0, 2], [0, 39, 64])
    """

    starts: Ints
    classes: Ints
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
    two: NDArray[np.bool_],
    store: Store,
    how: tuple[Device, Program, Threads],
) -> NDArray[np.int32]:
    """Columns of codes on a device; where each is: a column of bits (>= 0), or -1 - one of bytes.

    Parameters
    ----------
    words : where lines lie.
    column : codes below 256 of each line, by the number of the column.
    two : which have the codes 0 and 1 only.
    store : gets "bits" and "codes".
    how : where, by which kernels, and who packs.
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
    how: tuple[Device, Program, Threads],
) -> None:
    from ..kernels.words import pack_words

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
