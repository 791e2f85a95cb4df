"""How the benchmarks time a warm task."""

import statistics
import time


def median_time(task, repeats=7):
    """Median seconds of a warm task."""
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
