"""What a ledger asks of a GPU: memory, copies and kernels.  Tests put the host in its place."""

import weakref
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike

from ...checks import Array, Foreign

#: Threads of a block, as in common.cu.
THREADS = 256

# A grid has no more blocks than this in its second direction.
_MOST_BLOCKS = 1 << 15


class Program(Protocol):
    """Compiled kernels."""

    def launch(self, name: str, grid: Sequence[int], block: int, args: Sequence[Foreign]) -> None:
        """Start a kernel; arguments are arrays of the device and numpy's numbers."""


class Device(Protocol):
    """A GPU, as long as one fit lasts."""

    def compile(self, source: str) -> Program:
        """Kernels; those compiled before are not compiled again."""

    def empty(self, shape: Sequence[int], dtype: DTypeLike) -> Foreign:
        """An array on the device."""

    def write(self, array: Foreign, values: Array) -> None:
        """Copy to the device."""

    def read(self, array: Foreign) -> Array:
        """Copy from the device."""

    def free_bytes(self) -> int:
        """Memory that nobody uses."""

    def watch(self, store: "Store") -> None:
        """Let go of what a store holds when the device is closed."""


class Store:
    """Arrays of one ledger, by name; those that are written in every step keep their room.

    Parameters
    ----------
    device : where they lie.
    """

    def __init__(self, device: Device):
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
        """The same, all 0."""
        return self.put(name, np.zeros(tuple(shape), dtype))

    def drop(self, name: str) -> None:
        """Give the room of one array back."""
        self._kept.pop(name, None)

    def clear(self) -> None:
        """Give all memory back."""
        self._kept.clear()


class Stores:
    """Stores to be cleared when a device is closed."""

    def __init__(self) -> None:
        self._known: weakref.WeakSet[Store] = weakref.WeakSet()

    def add(self, store: Store) -> None:
        """One more."""
        self._known.add(store)

    def clear(self) -> None:
        """Whoever is still there holds nothing any more."""
        for store in self._known:
            store.clear()


def blocks(n_items: int, size: int = THREADS) -> int:
    """How many blocks cover so many items."""
    return -(-n_items // size)


def batches(n_items: int) -> list[tuple[int, int]]:
    """Ranges of items for which a grid has blocks enough."""
    return [(lo, min(lo + _MOST_BLOCKS, n_items)) for lo in range(0, n_items, _MOST_BLOCKS)]
