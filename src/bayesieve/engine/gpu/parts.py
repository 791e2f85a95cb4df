"""Ledgers of the rows that GPUs hold: one GPU, or a part of the rows on each of several."""

from collections.abc import Sequence

import numpy as np

from ..cells import Cells, ScoredLines, TermTables
from ..contract import Ledger, WeightLedger
from ..lines import DenseRows
from ..partitioned import Partitioned, PartitionedWeights
from ..tables import LedgerTables
from ..threads import Threads
from .ledger import GpuLedger
from .weights import GpuWeightLedger


def gpu_ledger(
    tables: LedgerTables,
    rows: DenseRows,
    factors: tuple[int, ...],
    threads: Threads,
    names: Sequence[str],
) -> Ledger:
    """A ledger on the GPUs that the threads come with.

    Parameters
    ----------
    tables, rows, factors, threads : see `GpuLedger`.
    names : of the columns.
    """
    odd = np.flatnonzero(tables.slots < 0)
    if odd.size:
        raise ValueError(
            f"engine='gpu' holds columns of at most 255 values; column {names[odd[0]]!r} has more. "
            "Use engine=None, or join rare values."
        )
    n_lines = rows.lines.rows.size
    made: list[Ledger] = [
        GpuLedger(tables, rows if at is None else rows.take(at), factors, threads, gpu)
        for gpu, at in zip(threads.gpus, _parts(n_lines, len(threads.gpus)), strict=False)
    ]
    return made[0] if len(made) == 1 else Partitioned(made)


def gpu_weight_ledger(
    tables: TermTables, lines: ScoredLines, cells: Cells, grain: float, threads: Threads
) -> WeightLedger:
    """The same of weighted terms; see `GpuWeightLedger`."""
    n_lines = lines.rows.size
    made: list[WeightLedger] = []
    for gpu, at in zip(threads.gpus, _parts(n_lines, len(threads.gpus)), strict=False):
        held = (lines, cells) if at is None else (lines.take(at), cells.take(at, n_lines))
        made.append(GpuWeightLedger(tables, *held, grain, threads, gpu))
    return made[0] if len(made) == 1 else PartitionedWeights(made)


def _parts(n_lines: int, n_parts: int) -> list["np.ndarray[tuple[int], np.dtype[np.int64]] | None"]:
    """Every n-th line; None where all are in one part."""
    if n_parts == 1 or n_lines < n_parts:
        return [None]
    return [np.arange(part, n_lines, n_parts) for part in range(n_parts)]
