"""Is the cluster still there?  Workers that are frozen are replaced, and hopeless waits end."""

import asyncio
import contextlib
import time

from ...checks import Foreign

# Seconds without a scheduler, or without any worker, after which nothing is waited for any more.
_PATIENCE = 30.0

# Seconds without a sign of life after which a worker is taken for frozen, and between two looks.
# Less would take whoever sorts many texts, which lets nothing else run, for frozen.
_SILENCE, _LOOK = 25.0, 4.0

#: States of a client, and of a task, after which nothing comes.  A task that Dask calls "lost" is
#: none: its worker died with the result, and the scheduler has it computed again; where it cannot,
#: because some value was only there, it says "cancelled".
GONE = {"closed", "closing", "failed"}
ENDED = {"error", "cancelled"}


async def restart_silent(seconds: float, dask_scheduler: Foreign = None) -> list[str]:
    """Runs on the scheduler: what it does itself with frozen workers, but after five minutes.

    Parameters
    ----------
    seconds : since a worker was heard of last.
    dask_scheduler : given by Dask.
    """
    now = time.time()
    known = dask_scheduler.workers.values()
    silent = [each.address for each in known if now - each.last_seen > seconds]
    if silent:
        name = f"bayesieve-silent-{now}"
        restart = dask_scheduler.restart_workers(silent, wait_for_workers=False, stimulus_id=name)
        told = asyncio.ensure_future(restart)
        # Its errors are nobody's: a nanny may be as frozen as its worker.
        told.add_done_callback(lambda done: done.cancelled() or done.exception())
        # Nannies know of it by then; what the worker had is not waited for until it is killed.
        await asyncio.sleep(1)
        for address in silent:
            await dask_scheduler.remove_worker(address, stimulus_id=name)
    return silent


class Health:
    """Watches over a cluster while something is waited for.

    Parameters
    ----------
    client : a distributed.Client.
    """

    def __init__(self, client: Foreign):
        self._client = client
        self._well = self._checked = self._looked = time.monotonic()

    def check(self) -> None:
        """Raise where scheduler or workers have been gone for too long; wake who is frozen."""
        what, before, self._checked = None, self._checked, time.monotonic()
        if self._checked - before > _PATIENCE:
            self._well = self._checked  # nothing was waited for meanwhile
        if self._client.status != "running":
            what = f"the scheduler of the Dask cluster at {self._address} is gone"
        else:
            with contextlib.suppress(Exception):
                if not self._client.sync(self._workers, callback_timeout=5):
                    what = f"the Dask cluster at {self._address} has no worker"
        if what is None:
            self._well = time.monotonic()
            self._restart_silent()
        elif time.monotonic() - self._well > _PATIENCE or self._client.status in GONE:
            raise RuntimeError(
                f"{what}, and the rows with it. Fit again when it is back; with checkpoint=... the "
                "search goes on where it was."
            )

    def failure(self, future: Foreign) -> BaseException:
        """Why a task did not end well: the user's own error where there is one."""
        if future.status != "error":
            return RuntimeError(
                f"the Dask cluster at {self._address} has let go of the rows ({future.status}): "
                "its scheduler is gone or was restarted, or a worker died with values that only it "
                "had, such as scattered ones. Fit again when it is back, on rows that workers can "
                "read again, such as files."
            )
        error = future.exception(timeout=10)
        if type(error).__name__ == "KilledWorker":
            return RuntimeError(
                "the workers that held some of the rows died again and again, and Dask gave up "
                f"({error}). Give them more memory, or cut the rows into smaller partitions."
            )
        if isinstance(error, KeyError) and "not in index" in str(error):  # as Parquet is read
            return ValueError(
                f"partitions of X must all have the same columns; in one of them some are missing: "
                f"{error.args[0]}. Write its file again with them, or leave them out of all."
            )
        assert isinstance(error, BaseException)
        return error

    def _restart_silent(self) -> None:
        if time.monotonic() - self._looked > _LOOK:
            with contextlib.suppress(Exception):
                self._client.run_on_scheduler(restart_silent, _SILENCE)
            self._looked = time.monotonic()

    @property
    def _address(self) -> str:
        scheduler = getattr(self._client, "scheduler", None)
        return str(getattr(scheduler, "address", "?"))

    async def _workers(self) -> int:
        return len(await self._client.scheduler.ncores())
