"""Dask as the keeper of rows: it places them, starts who answers for them and replaces the dead."""

import asyncio
import concurrent.futures
import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ...checks import Foreign
from ...data.collection import Collection, as_values
from ...data.columns import ColumnSpec
from ...data.looks import Kind, merge_kinds
from ...data.tables import is_collection
from ..contract import Ints
from .channel import Channel
from .health import ENDED, GONE, Health
from .moves import DealtColumns
from .part import deal
from .rows import FarRows, Spans
from .tasks import (
    BLOCK,
    Seen,
    Told,
    Wanted,
    block_of,
    comparable_block,
    count_classes,
    cut_block,
    encode_part,
    hold_pieces,
    hold_rows,
    item_of,
    learn_block,
    look_at,
    rows_in,
    told_of,
)


class DaskEngine:
    """Rows stay with the workers of a Dask cluster; the search runs here.

    Parameters
    ----------
    client : distributed.Client or str, optional
        A client, or the address of a scheduler; by default the current client.

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.engine import DaskEngine
    >>> engine = DaskEngine("tcp://scheduler:8786")
    >>> clone(NaiveBayesSelector(engine=engine)).engine is engine
    True
    """

    def __init__(self, client: Foreign = None):
        self.client = client

    def __repr__(self) -> str:
        return f"DaskEngine({'' if self.client is None else repr(self.client)})"

    def __deepcopy__(self, memo: object) -> "DaskEngine":
        # A client is a connection: copies of an estimator share it.
        return self

    def __getstate__(self) -> dict[str, object]:
        # A connection does not travel; an address does.
        return {"client": self.client if isinstance(self.client, str) else None}

    @contextlib.contextmanager
    def cluster(self) -> Iterator["Cluster"]:
        """The cluster, as long as something is asked of it."""
        distributed = _distributed()
        client, mine = self.client, None
        if client is None:
            try:
                client = distributed.default_client()
            except ValueError as error:
                raise ValueError(
                    "X is a Dask collection, but there is no client; make one first, such as "
                    "client = distributed.Client(), or give engine=DaskEngine(address)."
                ) from error
        elif isinstance(client, str):
            client = mine = _dialled(distributed, client)
        elif not isinstance(client, distributed.Client):
            raise TypeError(
                "DaskEngine: client must be a distributed.Client, the address of a scheduler, or "
                f"None; got {type(client).__name__}."
            )
        if client.status in GONE:
            raise ValueError("the Dask client is closed; make a new one.")
        if client.asynchronous:
            raise TypeError(
                "the Dask client must not be asynchronous: a fit would wait for the event loop "
                "that it blocks. Use Client(...) without asynchronous=True, in a thread "
                "(asyncio.to_thread) where a loop must go on."
            )
        cluster = Cluster(client)
        try:
            yield cluster
        finally:
            cluster.close()
            if mine is not None:
                mine.close()


def _dialled(distributed: Foreign, address: str) -> Foreign:
    """A client of the scheduler at an address."""
    check_address("DaskEngine: client", address)
    try:
        return distributed.Client(address, set_as_default=False)
    except OSError as error:
        raise type(error)(
            f"DaskEngine: client must be the address of a scheduler that answers; got {address!r}, "
            f"where nobody does ({error})."
        ) from error


def check_address(name: str, address: str) -> None:
    """Refuse what is no address of a scheduler; a client of it would not even end by itself."""
    from distributed.comm import get_address_host_port

    if address.startswith("inproc://"):
        return
    try:
        get_address_host_port(address)
    except ValueError as error:
        raise ValueError(
            f"{name} must be the address of a scheduler, such as 'tcp://host:8786'; got "
            f"{address!r} ({error})."
        ) from error


def _distributed() -> Foreign:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "engine='dask' needs Dask's scheduler, which is not installed; "
            'pip install "bayesieve[dask]".'
        ) from error
    return distributed


class Cluster:
    """Workers that are asked to read, learn, encode and hold.

    Parameters
    ----------
    client : a distributed.Client.
    """

    def __init__(self, client: Foreign):
        self._client = client
        self._kept: list[Foreign] = []  # futures, as long as rows are held
        # All others: an error that somebody keeps must not keep them on the cluster.
        self._made: weakref.WeakSet[Foreign] = weakref.WeakSet()
        self._channels: list[Channel] = []
        self._health = Health(client)

    def close(self) -> None:
        """Let go of everything."""
        for channel in self._channels:
            channel.close()
        if self._client.status not in GONE and self._kept:
            with contextlib.suppress(Exception):  # a cluster that is gone has let go itself
                self._client.cancel(self._kept, force=True)
        self._kept.clear()
        for future in list(self._made):
            future.release()

    # -- values and columns --------------------------------------------------------------------

    def gather(self, values: Foreign) -> Foreign:
        """Values of all rows, here; anything but a collection as it is."""
        if not is_collection(values):
            return values
        return as_values(self._results(self._computed([values]))[0])

    def count_rows(self, collection: Collection) -> list[int]:
        """How many rows each part has."""
        from dask import delayed

        # The parts themselves: of fewer columns Dask would make fewer parts.
        counts = [delayed(rows_in, pure=False)(part) for part in collection.parts]
        return [int(n) for n in self._results(self._computed(counts))]

    def look(
        self, collection: Collection, wanted: Sequence[Wanted], valued: Sequence[int] = ()
    ) -> tuple[list[Told], list[Kind], Foreign]:
        """What each part tells, the kind of each column, and what stays with the workers.

        Parameters
        ----------
        collection, wanted : the parts, and which of their rows.
        valued : of sparse parts, the columns whose values count, rather than their presence.
        """
        from dask import delayed

        names, box = collection.told, delayed(tuple(valued), traverse=False)
        looked = self._computed(
            [
                delayed(look_at, pure=False)(part, collection.columns, each, box)
                for part, each in zip(collection.parts, wanted, strict=True)
            ]
        )
        told = self._results([self._submit(told_of, each) for each in looked])
        by_column = zip(*(each.kinds for each in told), strict=True)
        merged = [merge_kinds(n, kinds) for n, kinds in zip(names, by_column, strict=True)]
        return told, merged, looked

    def learn(
        self, looked: Foreign, names: Sequence[str], models: Sequence[str], sparse: bool = False
    ) -> list[ColumnSpec]:
        """What each column is like."""
        found = []
        for block, at in enumerate(range(0, len(names), BLOCK)):
            parts = [self._submit(block_of, each, block) for each in looked]
            mine = slice(at, at + BLOCK)
            args = (list(names[mine]), list(models[mine]), parts, sparse)
            found.append(self._submit(learn_block, *args))
        return [spec for block in self._results(found) for spec in block]

    def comparable(
        self, collection: Collection, wanted: Sequence[Wanted], n_whole: int, n_parts: int
    ) -> list[ColumnSpec]:
        """What each column is like where columns are compared with each other."""
        n_columns, found = len(collection.names), []
        _, _, looked = self.look(collection, wanted, range(n_columns))
        for block, at in enumerate(range(0, n_columns, BLOCK)):
            parts = [self._submit(block_of, each, block) for each in looked]
            names = collection.told[at : at + BLOCK]
            found.append(self._submit(comparable_block, names, parts, n_whole, n_parts))
        return [spec for block in self._results(found) for spec in block]

    def cut(
        self,
        collection: Collection,
        wanted: Sequence[Wanted],
        which: Sequence[int],
        seen: Sequence[Seen],
    ) -> list[NDArray[np.float64]]:
        """Where numbers are cut by minimum description length.

        Parameters
        ----------
        collection, wanted : the parts.
        which : columns of numbers.
        seen : rows of each part that count, with their classes.
        """
        from dask import delayed

        counted = self._computed(
            [
                delayed(count_classes, pure=False)(part, collection.columns, each, which, mine)
                for part, each, mine in zip(collection.parts, wanted, seen, strict=True)
            ]
        )
        found = []
        for block in range(-(-len(which) // BLOCK)):
            parts = [self._submit(item_of, each, block) for each in counted]
            found.append(self._submit(cut_block, parts))
        return [cuts for block in self._results(found) for cuts in block]

    # -- rows ----------------------------------------------------------------------------------

    def hold(
        self,
        collection: Collection,
        wanted: Sequence[Wanted],
        specs: Sequence[ColumnSpec],
        sizes: Sequence[int],
    ) -> FarRows:
        """Rows as codes, held by the workers that have read them.

        Parameters
        ----------
        collection, wanted : the parts, and which of their rows.
        specs : what each column is like.
        sizes : how many rows each part has.
        """
        from dask import delayed

        box = delayed(tuple(specs), traverse=False)
        coded = self._computed(
            [
                delayed(encode_part, pure=False)(part, collection.columns, each, box)
                for part, each in zip(collection.parts, wanted, strict=True)
            ]
        )
        self._kept += coded
        self._wait(coded)
        kept = [n if w.rows is None else w.rows.size for n, w in zip(sizes, wanted, strict=True)]
        ends = np.cumsum([0, *kept])
        groups = self._placed(coded)
        spans = Spans(
            tuple(tuple((int(ends[k]), int(ends[k + 1])) for k in parts) for _, parts in groups),
            int(ends[-1]),
        )
        groups_of = [(worker, [coded[k] for k in parts]) for worker, parts in groups]
        return FarRows(self._held(hold_rows, groups_of), spans, specs, coded)

    def hold_columns(
        self, rows: FarRows, columns: Callable[[int], Sequence[Sequence[int]]], usual: Ints
    ) -> DealtColumns:
        """Columns of rows that are held already, dealt out over the workers with all their rows.

        Parameters
        ----------
        rows : whoever holds them.
        columns : given the number of workers, the columns of each.
        usual : the code of each column that most rows have.
        """
        workers = sorted(self._client.nthreads()) or [""]
        dealt = columns(len(workers))
        groups = []
        for worker, mine in zip(workers, dealt, strict=False):
            slots, codes = rows.slots[list(mine)].tolist(), usual[list(mine)].tolist()
            pieces = [self._submit(deal, part, slots, codes, pure=False) for part in rows.parts]
            groups.append((worker, pieces))
        return DealtColumns(self._held(hold_pieces, groups), dealt)

    def _held(self, task: Foreign, groups: Sequence[tuple[str, list[Foreign]]]) -> Channel:
        """A channel to long tasks, one a worker, each of which answers for what it is given.

        Parameters
        ----------
        task : what workers run.
        groups : where, and what it is given.
        """
        holds: list[Foreign] = []

        def start(number: int) -> Foreign:
            worker, given = groups[number]
            where = {"workers": [worker], "allow_other_workers": True, "pure": False}
            known = (number, channel.address, channel.token, secure)
            made = self._submit(task, *known, *given, **where)
            self._kept.append(made)
            return made

        def watch(number: int) -> None:
            if number < len(holds) and holds[number].status in ENDED:
                raise self._health.failure(holds[number])
            if number < len(holds) and holds[number].status == "finished":
                holds[number] = start(number)  # its line broke, and it let go
            self._health.check()

        channel = self._listen(len(groups), watch)
        self._channels.append(channel)
        secure = self._client.scheduler.address.startswith("tls://")
        holds += map(start, range(len(groups)))
        return channel

    def _placed(self, futures: Sequence[Foreign]) -> list[tuple[str, list[int]]]:
        """Workers, and the parts that each has."""
        held = self._client.who_has(futures)
        groups: dict[str, list[int]] = {}
        for k, future in enumerate(futures):
            workers = sorted(held.get(future.key) or ())
            # One that died since: Dask reads its parts again, wherever that may be.
            groups.setdefault(workers[0] if workers else "", []).append(k)
        lost = groups.pop("", [])
        if lost:
            some = min(groups, default=next(iter(self._client.nthreads()), ""))
            groups[some] = sorted(groups.get(some, []) + lost)
        return sorted(groups.items())

    def _listen(self, n_holders: int, watch: Callable[[int], None]) -> Channel:
        """A channel on the interface by which this process speaks to the scheduler."""
        comm = self._client.scheduler_comm.comm
        host = urlsplit(comm.local_address).hostname if "://" in comm.local_address else None
        if comm.local_address.startswith("inproc") or host is None:
            host = "127.0.0.1"
        context = None
        if comm.local_address.startswith("tls://"):
            context = self._client.security.get_listen_args("client")["ssl_context"]
        return Channel(host, n_holders, watch, context)

    # -- waiting -------------------------------------------------------------------------------

    def _submit(self, *args: Foreign, **settings: Foreign) -> Foreign:
        made = self._client.submit(*args, **settings)
        self._made.add(made)
        return made

    def _computed(self, asked: list[Foreign]) -> list[Foreign]:
        made = list(self._client.compute(asked))
        self._made.update(made)
        return made

    def _results(self, futures: Sequence[Foreign]) -> list[Foreign]:
        self._wait(futures)
        # What is lost on its way here is computed again, which may be hopeless as well.
        asked = self._client.gather(list(futures), asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(asked, self._client.loop.asyncio_loop)
        try:
            while not concurrent.futures.wait([coming], 1.0).done:
                self._health.check()
        finally:
            coming.cancel()
        return list(coming.result())

    def _wait(self, futures: Sequence[Foreign]) -> None:
        """Wait until all are done; a clear error where one never will be."""
        distributed = _distributed()
        while True:
            try:
                with self._client.as_current():
                    distributed.wait(list(futures), timeout=1.0)
            except concurrent.futures.CancelledError:
                pass  # told below
            except (TimeoutError, distributed.TimeoutError):
                self._health.check()
            for future in futures:
                if future.status in ENDED:
                    raise self._health.failure(future)
            if all(future.status == "finished" for future in futures):
                return
