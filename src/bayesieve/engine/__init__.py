"""Where the sums live: ledgers, and who runs their kernels."""

from ..data.pack import pack
from .contract import Bounds, Ledger, Measure, Outline, Partitioned, Scores, Units
from .dask.engine import DaskEngine
from .gpu.engine import GpuEngine
from .threads import Threads, count_threads

__all__ = [
    "Bounds",
    "DaskEngine",
    "GpuEngine",
    "Ledger",
    "Measure",
    "Outline",
    "Partitioned",
    "Scores",
    "Threads",
    "Units",
    "count_threads",
    "pack",
]
