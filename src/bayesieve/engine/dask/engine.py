"""`DaskEngine`: fit on a Dask collection; only classes and weights come to the client."""

import asyncio
import concurrent.futures
import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
import scipy.sparse

from ...checks import Array, Floats, Foreign
from ...data.collection import Collection, as_values
from ...data.columns import ColumnSpec
from ...data.sample import Sample, judge_target, read_weights
from ...data.storage import Moves, moves_of
from ...data.tables import (
    Kind,
    RawTable,
    SparseTable,
    Table,
    hardly_repeat,
    is_collection,
    keep_names,
    merge_kinds,
    sample_of,
)
from ...models.columns import Known, SharedTable
from ...models.registry import MODELS
from ..contract import Ints
from .ledgers import DealtColumns, RemoteRows, Spans, deal, deal_out
from .transport import ENDED, GONE, Channel, Health
from .worker import (
    BLOCK,
    ColumnHolder,
    Holder,
    PartitionRequest,
    PartitionSummary,
    Seen,
    block_of,
    comparable_block,
    count_classes,
    cut_block,
    encode_part,
    hold,
    learn_block,
    look_at,
    rows_in,
    summary_of,
)


class DaskEngine:
    """Dask engine: rows stay on the workers of a cluster; the search runs in this process.

    Parameters
    ----------
    client : distributed.Client or str, optional
        A client, or the address of a scheduler; by default the current client.
    restart : bool, default=False
        Restart workers that say nothing for 25 seconds, as Dask itself does after five minutes;
        other work on the cluster may be waiting for them.  By default a warning names them.

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from bayesieve import NaiveBayesSelector
    >>> from bayesieve.engine import DaskEngine
    >>> engine = DaskEngine("tcp://scheduler:8786")
    >>> clone(NaiveBayesSelector(engine=engine)).engine is engine
    True
    """

    def __init__(self, client: Foreign = None, restart: bool = False):
        self.client, self.restart = client, restart

    def __repr__(self) -> str:
        given = [] if self.client is None else [repr(self.client)]
        return f"DaskEngine({', '.join([*given, *['restart=True'] * self.restart])})"

    def __deepcopy__(self, memo: object) -> "DaskEngine":
        # A client is a connection: copies of an estimator share it.
        return self

    def __getstate__(self) -> dict[str, object]:
        # A connection does not travel; an address does.
        client = self.client if isinstance(self.client, str) else None
        return {"client": client, "restart": self.restart}

    @contextlib.contextmanager
    def cluster(self) -> Iterator["Cluster"]:
        """The cluster, as long as requests are sent to it."""
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
            check_address("DaskEngine: client", client)
            try:
                client = mine = distributed.Client(client, set_as_default=False)
            except OSError as error:
                raise type(error)(
                    f"DaskEngine: client must be the address of a scheduler that answers; got "
                    f"{client!r}, where nobody does ({error})."
                ) from error
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
        cluster = Cluster(client, self.restart)
        try:
            yield cluster
        finally:
            cluster.close()
            if mine is not None:
                mine.close()


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
    """Workers that read, learn, encode and hold."""

    def __init__(self, client: Foreign, restart: bool = False):
        self._client = client
        self._kept: list[Foreign] = []  # futures, as long as rows are held
        # All others: an error that somebody keeps must not keep them on the cluster.
        self._made: weakref.WeakSet[Foreign] = weakref.WeakSet()
        self._channels: list[Channel] = []
        self._health = Health(client, restart)

    def close(self) -> None:
        """Release the cluster: close channels and drop what workers hold."""
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
        self, collection: Collection, wanted: Sequence[PartitionRequest], valued: Sequence[int] = ()
    ) -> tuple[list[PartitionSummary], list[Kind], Foreign]:
        """What each part tells, the kind of each column, and what stays with the workers.

        Of sparse parts, the values of the columns `valued` count, rather than their presence.
        """
        from dask import delayed

        names, box = collection.column_names, delayed(tuple(valued), traverse=False)
        looked = self.of_parts(look_at, collection, ((each, box) for each in wanted))
        parts = self._results([self._submit(summary_of, each) for each in looked])
        by_column = zip(*(each.kinds for each in parts), strict=True)
        merged = [merge_kinds(n, kinds) for n, kinds in zip(names, by_column, strict=True)]
        return parts, merged, looked

    def learn(
        self, looked: Foreign, names: Sequence[str], models: Sequence[str], sparse: bool = False
    ) -> list[ColumnSpec]:
        """What each column is like."""
        return self.by_blocks(
            learn_block, looked, len(names), lambda at: (list(names[at]), list(models[at]), sparse)
        )

    def of_parts(
        self, task: Foreign, collection: Collection, given: Iterable[tuple[Foreign, ...]]
    ) -> list[Foreign]:
        """What a task makes of each part, with what it is given for it."""
        from dask import delayed

        made = delayed(task, pure=False)
        parts = zip(collection.parts, given, strict=True)
        return self._computed([made(part, collection.columns, *each) for part, each in parts])

    def by_blocks(
        self,
        task: Foreign,
        parts: Foreign,
        n_columns: int,
        given: Callable[[slice], tuple[Foreign, ...]] = lambda mine: (),
    ) -> list[Foreign]:
        """What a task makes of each column, from one block of columns of all parts at a time."""
        found = []
        for number, at in enumerate(range(0, n_columns, BLOCK)):
            mine = [self._submit(block_of, each, number) for each in parts]
            found.append(self._submit(task, mine, *given(slice(at, at + BLOCK))))
        return [each for several in self._results(found) for each in several]

    # -- rows ----------------------------------------------------------------------------------

    def hold(
        self,
        collection: Collection,
        wanted: Sequence[PartitionRequest],
        specs: Sequence[ColumnSpec],
        sizes: Sequence[int],
    ) -> RemoteRows:
        """Rows as codes, held by the workers that have read them."""
        from dask import delayed

        box = delayed(tuple(specs), traverse=False)
        coded = self.of_parts(encode_part, collection, ((each, box) for each in wanted))
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
        return RemoteRows(self._held(Holder, groups_of), spans, specs, coded)

    def hold_columns(
        self, rows: RemoteRows, columns: Callable[[int], Sequence[Sequence[int]]], usual: Ints
    ) -> DealtColumns:
        """Columns of rows that are held already, dealt out over the workers with all their rows.

        `columns` tells those of each worker, given how many there are; `usual` is the code that
        most rows have.
        """
        workers = sorted(self._client.nthreads()) or [""]
        dealt = columns(len(workers))
        groups = []
        for worker, mine in zip(workers, dealt, strict=False):
            slots, codes = rows.slots[list(mine)].tolist(), usual[list(mine)].tolist()
            pieces = [self._submit(deal, part, slots, codes, pure=False) for part in rows.parts]
            groups.append((worker, pieces))
        return DealtColumns(self._held(ColumnHolder, groups), dealt)

    def _held(self, kind: Foreign, groups: Sequence[tuple[str, list[Foreign]]]) -> Channel:
        """A channel to long tasks, one a worker, each of which answers for what it is given."""
        holds: list[Foreign] = []

        def start(number: int) -> Foreign:
            worker, given = groups[number]
            where = {"workers": [worker], "allow_other_workers": True, "pure": False}
            known = (kind, number, channel.address, channel.token, secure)
            made = self._submit(hold, *known, *given, **where)
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

    def _computed(self, lazy: list[Foreign]) -> list[Foreign]:
        made = list(self._client.compute(lazy))
        self._made.update(made)
        return made

    def _results(self, futures: Sequence[Foreign]) -> list[Foreign]:
        self._wait(futures)
        # What is lost on its way here is computed again, which may be hopeless as well.
        gathering = self._client.gather(list(futures), asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(gathering, self._client.loop.asyncio_loop)
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
                pass  # raised below
            except (TimeoutError, distributed.TimeoutError):
                self._health.check()
            for future in futures:
                if future.status in ENDED:
                    raise self._health.failure(future)
            if all(future.status == "finished" for future in futures):
                return


# -- A collection as it was given to a fit, and what is made of it while the fit lasts -------------


class Dealt(NamedTuple):
    """Columns that were dealt out, and how they are numbered."""

    columns: DealtColumns
    moves: Moves  #: without entries


@dataclass(frozen=True)
class Given:
    """A collection as it was given to a fit: what it takes to read its rows once more."""

    cluster: Cluster  #: where, and what
    collection: Collection
    wanted: tuple[PartitionRequest, ...]  #: which rows of each part count, and how many each has
    sizes: tuple[int, ...]
    _dealt: list[Dealt] = field(default_factory=list, init=False)

    def hold(self, specs: Sequence[ColumnSpec]) -> RemoteRows:
        """Rows as codes."""
        return self.cluster.hold(self.collection, self.wanted, specs, self.sizes)

    def comparable(self, n_whole: int, n_parts: int) -> list[ColumnSpec]:
        """Columns as they are compared with each other, however often rows count.

        Whole numbers below `n_whole` are what they are, others the part of their column, of
        `n_parts`, that they are in.
        """
        once = [PartitionRequest(each.number, each.rows) for each in self.wanted]
        names = self.collection.column_names
        _, _, looked = self.cluster.look(self.collection, once, range(len(names)))
        return self.cluster.by_blocks(
            comparable_block, looked, len(names), lambda at: (names[at], n_whole, n_parts)
        )

    def deal(self, rows: RemoteRows, units: Sequence[Sequence[int]]) -> Dealt:
        """Columns of rows, each with all of them; dealt out once, however often they are asked for.

        Columns of a unit stay together.
        """
        if not self._dealt:
            n_rows, counts = rows.n_rows, rows.totals
            moves = moves_of(counts)
            others = n_rows - np.array([each.max() for each in counts]).astype(np.int64)
            columns = self.cluster.hold_columns(
                rows, lambda n_holders: deal_out(others, units, n_holders), moves.usual
            )
            self._dealt.append(Dealt(columns, moves))
        return self._dealt[0]

    def cut(
        self, which: Sequence[int], rows: Ints, labels: Ints, weights: Floats, n_classes: int
    ) -> list[Floats]:
        """Where numbers are cut by minimum description length.

        As some rows (numbered among those that count) have it.
        """
        given, first = [], 0
        for wanted, size in zip(self.wanted, self.sizes, strict=True):
            mine = np.arange(size) if wanted.rows is None else wanted.rows
            at = slice(*np.searchsorted(rows, [first, first + mine.size]))
            seen = Seen(mine[rows[at] - first], labels[at], weights[at], n_classes)
            given.append((wanted, which, seen))
            first += mine.size
        counted = self.cluster.of_parts(count_classes, self.collection, given)
        return self.cluster.by_blocks(cut_block, counted, len(which))


# -- A table whose rows are held elsewhere ---------------------------------------------------------


@dataclass(frozen=True)
class RemoteTable(SharedTable):
    """Columns of codes that others hold.

    Beside the fields of a shared table, whose `columns` are one row that tells their kinds:
    """

    rows: RemoteRows | None = None  #: where the rows are held
    face: Foreign = None  #: a table of no rows, with names and types as the user has them
    n_given: int = 0  #: rows that were given, those without weight included
    given: Given | None = None
    chunks_sparse: bool = False  #: are its parts sparse?

    @property
    def is_sparse(self) -> bool:
        """Are columns kept by the rows in which they are not 0?"""
        return self.chunks_sparse

    @property
    def shape(self) -> tuple[int, int]:
        """Rows given, and columns."""
        return self.n_given, len(self.names)

    @property
    def held(self) -> RemoteRows:
        """Where the rows are held."""
        assert self.rows is not None
        return self.rows

    def is_constant(self, j: int) -> bool:
        """Is one value at most known in a column?"""
        return int(self._seen[j][0]) < 2

    @cached_property
    def _seen(self) -> list[tuple[int, int]]:
        """Of each column the codes that any row has, missing values left out, and those rows."""
        known = [each[:-1] for each in self.held.totals]
        return [(int(np.count_nonzero(each)), int(each.sum())) for each in known]

    def is_identifier(self, j: int) -> bool:
        """Does a column hold texts that hardly repeat?"""
        levels = self.held.specs[j].levels
        return levels is not None and levels.dtype == object and hardly_repeat(*self._seen[j])

    def codes(self, j: int) -> Array:
        """Codes of one column: they come here, a byte a row."""
        return self.held.codes(j)

    def column(self, j: int) -> Array:
        """Refused: values stay where they are."""
        raise TypeError(
            f"column {self.names[j]!r}: its values are in a Dask collection, of which codes can be "
            "had and not the values. Call compute() and fit on the table."
        )

    def pick(self, columns: Ints) -> RawTable:
        """Some columns, whose codes come here; refused where codes are intervals of values."""
        found = []
        for j in columns.tolist():
            spec = self.held.specs[j]
            if spec.cuts is not None or spec.levels is None:
                self.column(j)
            levels = np.asarray(spec.levels)
            missing: Foreign = None if levels.dtype == object else np.nan
            found.append(np.append(levels, missing)[self.codes(j)])
        return RawTable(found, [self.names[j] for j in columns], self.n_rows)


# -- A Dask collection read as a sample ------------------------------------------------------------


def check_mergeable(models: list[str]) -> None:
    """Refuse models whose statistics are not counts."""
    odd = [model for model in models if not MODELS[model].discrete]
    if odd:
        raise ValueError(
            f"feature model {odd[0]!r} is not offered on a Dask collection: its sums depend on the "
            "order of the rows. Use 'density', which makes tables of numbers, or 'intervals'."
        )


def remote_sample(
    cluster: Cluster,
    collection: Collection,
    estimator: Foreign,
    choose_models: Callable[[Table], list[str]],
    y: object,
    sample_weight: object = None,
) -> Sample:
    """Read a collection: one value a row comes here (classes, weights); columns stay.

    `choose_models` gives the feature models, from a row that tells the kinds of the columns.
    """
    keep_names(estimator, collection.face, reset=True)
    y = cluster.gather(y if collection.target is None else collection.target)
    names = collection.column_names
    weights, wanted = None, [PartitionRequest(number) for number in range(len(collection.parts))]
    if sample_weight is not None:
        sizes = cluster.count_rows(collection)
        shape = RawTable([np.empty(0)] * len(names), names, sum(sizes))
        weights = read_weights(sample_weight, shape, whole=True)
        once = bool((weights[weights > 0] == 1).all())
        wanted = []
        for number, part in enumerate(np.split(weights, np.cumsum(sizes)[:-1])):
            rows = np.flatnonzero(part > 0)
            wanted.append(PartitionRequest(number, rows, None if once else part[rows]))
    # Should the columns turn out to be sparse, no value tells their models.
    nothing = SparseTable(scipy.sparse.csc_array((1, len(names))), names, 1)
    if_sparse = choose_models(nothing)
    valued = [j for j, model in enumerate(if_sparse) if model != "bernoulli"]
    parts, kinds, looked = cluster.look(collection, wanted, valued)
    sizes = [part.n_rows for part in parts]
    n_rows = sum(sizes)
    if not n_rows:
        raise ValueError("X is empty: no partition has a row.")
    weights = np.ones(n_rows) if weights is None else weights
    rows = np.flatnonzero(weights > 0)
    targets, labels, classes = judge_target(y, n_rows, rows)
    chunks = {part.sparse for part in parts} - {None}  # all are sparse, or none
    if len(chunks) > 1:
        odd = next(k for k, part in enumerate(parts) if part.sparse)
        raise TypeError(
            f"X: chunk {odd} is sparse and others are dense; all chunks of a dask.array must be of "
            "one kind."
        )
    sparse, example = chunks == {True}, sample_of(kinds, names)
    models = if_sparse if sparse else choose_models(example)
    check_mergeable(models)
    specs = cluster.learn(looked, names, models, sparse)
    del looked
    given = Given(cluster, collection, tuple(wanted), tuple(sizes))
    held = given.hold(specs)
    known = Known(tuple(models), {(j, False): spec for j, spec in enumerate(specs)})
    at = {"rows": held, "face": collection.face, "n_given": n_rows, "given": given}
    table = RemoteTable(example.columns, names, rows.size, known, **at, chunks_sparse=sparse)
    return Sample(table, targets, labels, weights[rows], classes, rows)
