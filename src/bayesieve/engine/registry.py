"""Engines by the names that users give them, and what the other rooms see of remote rows."""

from .dask.engine import DaskEngine, RemoteTable, check_address, check_mergeable, remote_sample
from .dask.ledgers import DealtLedger, Meanings, RemoteDifferences, RemoteProblem, RemoteRows
from .dask.terms import Reads, RemoteCells
from .gpu.engine import GpuEngine

__all__ = [
    "ENGINES",
    "AnyEngine",
    "DealtLedger",
    "Meanings",
    "Reads",
    "RemoteCells",
    "RemoteDifferences",
    "RemoteEngine",
    "RemoteProblem",
    "RemoteRows",
    "RemoteTable",
    "accelerator",
    "check_address",
    "check_mergeable",
    "gpu_of",
    "remote_engine",
    "remote_sample",
]

#: What users may give as `engine`, by name.
ENGINES = ("threads", "dask", "gpu")

#: Rows stay with workers, and are read from collections.
RemoteEngine = DaskEngine

#: Rows are elsewhere than in the memory of this process.
AnyEngine = DaskEngine | GpuEngine


def accelerator() -> GpuEngine:
    """The engine that holds dense tables in the memory of a device."""
    return GpuEngine()


def remote_engine(engine: object = None) -> DaskEngine:
    """The engine itself where it reads collections, else one by default."""
    return engine if isinstance(engine, DaskEngine) else DaskEngine()


def gpu_of(engine: object) -> GpuEngine | None:
    """The engine, where it is a GPU.

    Parameters
    ----------
    engine : as users give it.
    """
    if isinstance(engine, str) and engine == "gpu":
        return GpuEngine()
    return engine if isinstance(engine, GpuEngine) else None
