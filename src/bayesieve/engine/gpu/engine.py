"""`GpuEngine`, and ledgers over the memory of one GPU or several."""

import contextlib
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import DTypeLike

from ...checks import Array, Foreign
from ..contract import Ints, Ledger, Partitioned
from ..dense import LedgerTables
from ..layout import DenseRows
from ..threads import Threads
from ..weighted import Cells, ScoredLines, TermTables
from .device import OPTIONS, Store
from .ledger import GpuLedger
from .weights import GpuWeightLedger

# CUDA's numbers of what can be wrong before anything has begun.
_OLD_DRIVER, _NO_DEVICE = 35, 100

# The process that has used a GPU: what was forked from it since cannot.
_used_by: int | None = None


class GpuEngine:
    """GPU engine: rows in GPU memory, the search in this process; results are identical.

    Parameters
    ----------
    device : int or list of int, default=0
        Which GPU; of several, each holds a part of the rows.

    Examples
    --------
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.engine import GpuEngine
    >>> NaiveBayesSelector(engine=GpuEngine(1)).engine
    GpuEngine(1)
    """

    def __init__(self, device: int | Sequence[int] = 0):
        self.device = device

    def __repr__(self) -> str:
        return f"GpuEngine({'' if self.device == 0 else repr(self.device)})"

    def numbers(self) -> list[int]:
        """Numbers of the GPUs, validated."""
        given = self.device
        numbers = list(given) if isinstance(given, Iterable) else [given]
        if not numbers or not all(
            isinstance(each, int | np.integer) and not isinstance(each, bool) and each >= 0
            for each in numbers
        ):
            raise TypeError(
                "GpuEngine: device must be the number of a GPU, from 0, or a list of such; got "
                f"{given!r}."
            )
        return [int(each) for each in numbers]

    def judged(self) -> tuple[Foreign, list[int]]:
        """CuPy and the GPUs, or a sentence that says what is missing."""
        numbers = self.numbers()
        if _used_by is not None and _used_by != os.getpid():
            raise RuntimeError(
                "engine='gpu': this process was forked from one that had used the GPU, which CUDA "
                "does not survive; start processes by 'spawn' or 'forkserver', or use the GPU in "
                "them alone."
            )
        cupy = import_cupy()
        check_devices(cupy, numbers)
        return cupy, numbers

    @contextlib.contextmanager
    def opened(self) -> Iterator["Gpus"]:
        """The GPUs as long as a fit lasts; nothing is left on them afterwards."""
        global _used_by
        cupy, numbers = self.judged()
        _used_by = os.getpid()
        devices = [Gpu(cupy, number) for number in numbers]
        try:
            yield Gpus(devices)
        finally:
            for device in devices:
                device.close()


def import_cupy() -> Foreign:
    """CuPy, or a sentence that says how to get it."""
    try:
        import cupy
    except ImportError as error:
        raise ImportError(
            "engine='gpu' needs CuPy, which is not installed or does not load; pip install "
            '"bayesieve[cuda12]" or "bayesieve[cuda13]", by the version of CUDA that the driver '
            "supports."
        ) from error
    return cupy


def check_devices(cupy: Foreign, numbers: Sequence[int]) -> None:
    """Are there GPUs of these numbers, and a driver that CuPy can use?"""
    runtime = cupy.cuda.runtime
    try:
        n_devices = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        version = runtime.driverGetVersion()
        if error.status == _OLD_DRIVER and version:
            needs = runtime.runtimeGetVersion()
            raise RuntimeError(
                f"engine='gpu': the driver supports CUDA {_spoken(version)}, but CuPy was built "
                f"for {_spoken(needs)}; update the driver, or install the CuPy of another extra "
                "(bayesieve[cuda12])."
            ) from error
        if error.status in (_OLD_DRIVER, _NO_DEVICE):
            raise RuntimeError(
                "engine='gpu': no GPU was found (is its driver installed, and is it visible to "
                "this process?); use engine=None."
            ) from error
        raise RuntimeError(f"engine='gpu': the GPU does not answer ({error}).") from error
    odd = [number for number in numbers if number >= n_devices]
    if odd:
        raise RuntimeError(
            f"engine='gpu': there is no GPU {odd[0]}; there are {n_devices}, numbered from 0."
        )


def _spoken(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


class Gpu:
    """One GPU by CuPy."""

    def __init__(self, cupy: Foreign, number: int):
        self._cupy, self.number = cupy, number
        self._device = cupy.cuda.Device(number)
        self._stores: weakref.WeakSet[Store] = weakref.WeakSet()

    def compile(self, source: str) -> "Kernels":
        """Kernels; a process keeps those of the models it has seen, CuPy a folder of all."""
        return _compiled(self._cupy, self.number, source)

    def empty(self, shape: Sequence[int], dtype: DTypeLike) -> Foreign:
        """Memory of its own, given back with the array: no pool keeps it."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        with self._device:
            memory = self._cupy.cuda.Memory(max(size, 1))
            pointer = self._cupy.cuda.MemoryPointer(memory, 0)
            return self._cupy.ndarray(tuple(shape), dtype, pointer)

    def write(self, array: Foreign, values: Array) -> None:
        """Copy to the device."""
        with self._device:
            array.set(values)

    def read(self, array: Foreign) -> Array:
        """Copy from the device, after all that was started on it."""
        with self._device:
            found: Array = array.get()
        return found

    def free_bytes(self) -> int:
        """Memory that nobody uses."""
        with self._device:
            free, _ = self._cupy.cuda.runtime.memGetInfo()
        return int(free)

    def watch(self, store: Store) -> None:
        """Cleared when the device is closed."""
        self._stores.add(store)

    def close(self) -> None:
        """Give back what anybody still holds."""
        for store in self._stores:
            store.clear()


@cache
def _compiled(cupy: Foreign, number: int, source: str) -> "Kernels":
    module = cupy.RawModule(code=source, options=OPTIONS, backend="nvrtc")
    return Kernels(module, cupy.cuda.Device(number))


class Kernels:
    """Compiled kernels of one device."""

    def __init__(self, module: Foreign, device: Foreign):
        self._device = device
        self._find = cache(module.get_function)

    def launch(self, name: str, grid: Sequence[int], block: int, args: Sequence[Foreign]) -> None:
        """Start a kernel; arguments are arrays of the device and numpy's numbers."""
        given = tuple(np.float64(each) if type(each) is float else each for each in args)
        with self._device:
            self._find(name)(tuple(grid), (block,), given)


# -- Ledgers of the rows that GPUs hold ------------------------------------------------------------


class Gpus:
    """GPUs that hold the rows of ledgers; of several, each every n-th line."""

    def __init__(self, devices: Sequence[Gpu]):
        self.devices = tuple(devices)

    def dense_ledger(
        self,
        tables: LedgerTables,
        rows: DenseRows,
        factors: tuple[int, ...],
        threads: Threads,
        names: Sequence[str],
    ) -> Ledger:
        """A ledger in which whole columns join and leave."""
        odd = np.flatnonzero(tables.slots < 0)
        if odd.size:
            raise ValueError(
                f"engine='gpu' holds columns of at most 255 values; column {names[odd[0]]!r} has "
                "more. Use engine=None, or join rare values."
            )

        def make(at: Ints | None, device: Gpu) -> Ledger:
            held = rows if at is None else rows.take(at)
            return GpuLedger(tables, held, factors, threads, device)

        return self._spread(rows.lines.rows.size, make)

    def weighted_ledger(
        self, tables: TermTables, lines: ScoredLines, cells: Cells, bits: int, threads: Threads
    ) -> Ledger:
        """A ledger of weighted terms; see `GpuWeightLedger`."""
        n_lines = lines.rows.size

        def make(at: Ints | None, device: Gpu) -> Ledger:
            held = (lines, cells) if at is None else (lines.take(at), cells.take(at, n_lines))
            return GpuWeightLedger(tables, *held, bits, threads, device)

        return self._spread(n_lines, make)

    def _spread(self, n_lines: int, make: Callable[[Ints | None, Gpu], Ledger]) -> Ledger:
        n_parts = len(self.devices)
        if n_parts == 1 or n_lines < n_parts:
            return make(None, self.devices[0])
        parts = [np.arange(part, n_lines, n_parts) for part in range(n_parts)]
        return Partitioned([make(at, gpu) for at, gpu in zip(parts, self.devices, strict=True)])
