"""Clocks for `gpu.py`: of whole tasks, of calls within them, and of kernels."""

import contextlib
import statistics
import time


def median(task, repeats):
    """Median seconds of a warm task."""
    times = []
    task()
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@contextlib.contextmanager
def timed(ledger, *names):
    """Seconds of each call of some methods, while this lasts."""
    parts = {name: [] for name in names}

    def watched(name, method):
        def call(*args):
            start = time.perf_counter()
            found = method(*args)
            parts[name].append(time.perf_counter() - start)
            return found

        return call

    for name in names:
        setattr(ledger, name, watched(name, getattr(ledger, name)))
    yield parts
    for name in names:
        delattr(ledger, name)


def spoken(parts):
    """Medians of some times."""
    return ", ".join(
        f"{name} {1e3 * statistics.median(times):.2f}" for name, times in parts.items() if times
    )


class Watched:
    """A GPU that says how many milliseconds each kernel takes, one after the other."""

    def __init__(self, gpu):
        self._gpu, self.told = gpu, {}

    def __getattr__(self, name):
        return getattr(self._gpu, name)

    def compile(self, source):
        """Kernels that are watched."""
        self._program = self._gpu.compile(source)
        return self

    def launch(self, name, grid, block, args):
        """Start a kernel and wait for it."""
        import cupy

        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        self._program.launch(name, grid, block, args)
        end.record()
        end.synchronize()
        self.told.setdefault(name, []).append(cupy.cuda.get_elapsed_time(begin, end))
