"""How many threads a fit may use."""

import os

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

# joblib tells its worker processes by these how many threads each may use.
_LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")


def count_threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`, counted as joblib does: None is 1, -1 all cores.

    Within a worker of joblib the other workers have cores too: "all cores" then means the share
    that joblib allows each worker process, and 1 where it says nothing (workers that are threads).
    A positive number is taken at its word.

    Examples
    --------
    >>> from bayesieve.engines import count_threads
    >>> count_threads(None), count_threads(3)
    (1, 3)
    """
    wanted = int(effective_n_jobs(n_jobs))
    backend = get_active_backend()[0]
    if n_jobs is None or n_jobs > 0 or not getattr(backend, "nesting_level", 0):
        return wanted
    told = [os.environ.get(name, "") for name in _LIMITS]
    allowed = [int(number) for number in told if number.isdigit() and int(number) > 0]
    return min(wanted, *allowed) if allowed else 1
