"""How many threads a fit may use."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

if TYPE_CHECKING:
    from .gpu.engine import GpuEngine, Gpus

# joblib tells its worker processes by these how many threads each may use.
_LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")


def count_threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`, counted as joblib does: None is 1, -1 all cores.

    Within a worker of joblib the other workers have cores too: "all cores" then means the share
    that joblib allows each worker process, and 1 where it says nothing (workers that are threads).
    A positive number is taken at its word.

    Examples
    --------
    >>> count_threads(None), count_threads(3)
    (1, 3)
    """
    wanted = int(effective_n_jobs(n_jobs))
    backend = get_active_backend()[0]
    if n_jobs is None or n_jobs > 0 or not getattr(backend, "nesting_level", 0):
        return wanted
    limits = [os.environ.get(name, "") for name in _LIMITS]
    allowed = [int(number) for number in limits if number.isdigit() and int(number) > 0]
    return min(wanted, *allowed) if allowed else 1


# Below this many cells a hand-over to a thread costs more than the work.
_SMALL = 200_000

# Parts a thread gets, so that a slow part does not leave the others waiting.
_PARTS = 2


class Threads:
    """A pool of threads that lives as long as one fit, and what holds its rows, if not memory.

    Parameters
    ----------
    n_threads : how many.
    opens : has an accelerator, opened where the pool is entered; None: rows stay in memory.
    late : called, item by item of what is prepared, with the seconds that the others will take;
        raises an error where that is too long.

    Attributes
    ----------
    accelerator : holds the rows of ledgers; None: they are in memory.

    Examples
    --------
    >>> with Threads(2) as engine:
    ...     engine.run(lambda lo, hi: print(lo, hi), 3, 0)
    0 3
    """

    def __init__(
        self,
        n_threads: int = 1,
        opens: "GpuEngine | None" = None,
        late: Callable[[float], None] | None = None,
    ):
        self.n_threads, self.late = n_threads, late
        self.accelerator: Gpus | None = None
        self._opens, self._opened = opens, ExitStack()
        self._pool: ThreadPoolExecutor | None = None

    def run(self, task: Callable[[int, int], None], n_items: int, n_cells: int) -> None:
        """Cut the range into equal parts; small work stays on the calling thread."""
        n_parts = min(self.n_threads * _PARTS, n_items)
        if self.n_threads == 1 or n_parts < 2 or n_cells < _SMALL:
            if n_items:
                task(0, n_items)
            return
        cuts = [n_items * part // n_parts for part in range(n_parts + 1)]
        self.share([partial(task, lo, hi) for lo, hi in pairwise(cuts)])

    def prepare(self, task: Callable[[int, int], None], n_items: int, n_cells: int) -> None:
        """Cover a range of what no search can be without, and none can stop: made one by one."""
        late = self.late
        if late is None:
            self.run(task, n_items, n_cells)
            return
        ended: list[float] = []

        def one_by_one(lo: int, hi: int) -> None:
            for item in range(lo, hi):
                task(item, item + 1)
                ended.append(time.monotonic())
                # From the end of the first, which may have compiled what the others run.
                pace = (ended[-1] - ended[0]) / max(len(ended) - 1, 1)
                late(pace * (n_items - len(ended)))

        self.run(one_by_one, n_items, n_cells)

    def share(self, tasks: Sequence[Callable[[], None]]) -> None:
        """Run tasks on the next free thread; return when all are done."""
        n_helpers = min(self.n_threads, len(tasks)) - 1
        if n_helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads - 1, "bayesieve")
        # One iterator for all.  The caller works too, so that Ctrl-C finds a running Python thread.
        left = iter(tasks)

        def work() -> None:
            for task in left:
                task()

        waiting = [self._pool.submit(work) for _ in range(n_helpers)] if self._pool else []
        try:
            work()
        finally:
            for part in waiting:
                part.result()

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __enter__(self) -> "Threads":
        if self._opens is not None:
            self.accelerator = self._opened.enter_context(self._opens.opened())
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
        self.accelerator = None
        self._opened.close()


#: Runs `task(lo, hi)` over a range; the result must not depend on how it is cut.
Engine = Threads
