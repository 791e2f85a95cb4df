"""Engines: ledgers hold the running log-scores of rows; threads, a GPU or Dask run them."""

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
