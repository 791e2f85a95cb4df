"""Registry of engines by name, and the interface of remote rows."""

from .dask.engine import DaskEngine, RemoteTable, check_address, check_mergeable, remote_sample
from .dask.ledgers import DealtLedger, Meanings, RemoteDifferences, RemoteProblem, RemoteRows
from .dask.terms import Reads, RemoteCells
from .gpu.engine import GpuEngine

__all__ = [
    "ENGINES",
    "AcceleratorEngine",
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
    "check_address",
    "check_mergeable",
    "remote_engine",
    "remote_sample",
]

#: What users may give as `engine`, by name.
ENGINES = ("threads", "dask", "gpu")

#: Rows stay with workers, and are read from collections.
RemoteEngine = DaskEngine

#: Rows are in the memory of a device.
AcceleratorEngine = GpuEngine

#: Rows are elsewhere than in the memory of this process.
AnyEngine = DaskEngine | GpuEngine


def remote_engine(engine: object = None) -> DaskEngine:
    """The engine itself where it reads collections, else one by default."""
    return engine if isinstance(engine, DaskEngine) else DaskEngine()
