"""Request/response over TCP to every worker; lost workers are reconnected and re-initialised."""

import asyncio
import contextlib
import hmac
import itertools
import json
import math
import secrets
import socket
import ssl
import struct
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ...checks import Array, Foreign

#: A key of this many bytes comes first on every connection.
TOKEN_BYTES = 32

_LENGTHS = struct.Struct(">QQ")

# No head is longer: names, counts and shapes.
_MOST_HEAD = 2**26

_KINDS = "biuf"

# Bytes sent at a time: the line may be waited for anew after each.
_PIECE = 1 << 20

# A line that says nothing for its timeout is asked once more: we may have slept ourselves.
_TRIES = 2


class Message(NamedTuple):
    """A request or an answer.

    Examples
    --------
    >>> import numpy as np, socket
    >>> here, there = socket.socketpair()
    >>> n_bytes = send(here, Message("add", {"sign": 1}, (np.arange(3),)))
    >>> receive(there)
    Message(op='add', plain={'sign': 1}, arrays=(array([0, 1, 2]),))
    >>> here.close(), there.close()
    (None, None)
    """

    op: str
    plain: dict[str, Foreign] = {}  # noqa: RUF012
    arrays: tuple[Array, ...] = ()


#: The arrays of a message.
Arrays = tuple[Array, ...]

#: What is done for a message by this name, with its plain data and arrays.
Answers = dict[str, Callable[[dict[str, Foreign], Arrays], Foreign]]


class BrokenFrameError(ConnectionError):
    """What came is no frame of ours."""


def send(line: socket.socket, message: Message) -> int:
    """Send a message whole; how many bytes it took."""
    arrays = [np.ascontiguousarray(array) for array in message.arrays]
    shapes = [[array.dtype.str, list(array.shape)] for array in arrays]
    head = json.dumps([message.op, message.plain, shapes]).encode()
    size = sum(array.nbytes for array in arrays)
    line.sendall(_LENGTHS.pack(len(head), size) + head)
    for array in arrays:
        if array.nbytes:
            room = array.reshape(-1).view(np.uint8).data
            for at in range(0, len(room), _PIECE):
                line.sendall(room[at : at + _PIECE])
    return _LENGTHS.size + len(head) + size


def receive(line: socket.socket) -> Message:
    """The next message; a `ConnectionError` where the other side is gone or speaks otherwise."""
    n_head, size = _LENGTHS.unpack(exactly(line, _LENGTHS.size))
    if n_head > _MOST_HEAD:
        raise BrokenFrameError(f"a head of {n_head} bytes came; at most {_MOST_HEAD} are allowed.")
    try:
        op, plain, shapes = json.loads(exactly(line, n_head))
        kinds = [(np.dtype(kind), tuple(map(int, shape))) for kind, shape in shapes]
    except (ValueError, TypeError) as error:
        raise BrokenFrameError(f"a head came that cannot be read: {error}") from error
    wrong = any(kind.kind not in _KINDS or min(shape, default=0) < 0 for kind, shape in kinds)
    if wrong or sum(kind.itemsize * math.prod(shape) for kind, shape in kinds) != size:
        raise BrokenFrameError("a frame came whose arrays are not as long as its head says.")
    found = []
    for kind, shape in kinds:
        array = np.empty(shape, kind)
        if array.nbytes:
            _fill(line, array.reshape(-1).view(np.uint8).data)
        found.append(array)
    return Message(op, plain, tuple(found))


def narrow(numbers: Array) -> Array:
    """Whole numbers in a small type that holds them.

    Examples
    --------
    >>> narrow(np.array([0, 300])).dtype, narrow(np.array([-1, 3])).dtype
    (dtype('uint16'), dtype('int16'))
    """
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    return numbers.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def exactly(line: socket.socket, n_bytes: int) -> bytes:
    """Receive so many bytes, no more and no fewer."""
    found = bytearray(n_bytes)
    _fill(line, memoryview(found))
    return bytes(found)


def _fill(line: socket.socket, room: memoryview) -> None:
    at, tries = 0, 0
    while at < len(room):
        try:
            n_bytes = line.recv_into(room[at:])
        except TimeoutError:
            tries += 1
            if tries == _TRIES:
                raise
            continue
        tries = 0
        if not n_bytes:
            raise ConnectionResetError("the other side has closed the line.")
        at += n_bytes


# -- Rounds ----------------------------------------------------------------------------------------


#: Makes the message for one holder.
Make = Callable[[int], Message]

# Seconds in which whoever dials must show the key, and between two looks at who is lost.
_HELLO, _LINE_LOOK = 10.0, 0.25

# Seconds of silence, twice, after which a holder that was asked is taken for frozen.
_LINE_SILENCE = 10.0

# Seconds of silence after which a line is probed, between probes, and probes without an answer.
_PROBES = (5, 5, 4)


class Tally(NamedTuple):
    """What went over a channel so far."""

    rounds: int
    sent: int  #: bytes
    received: int
    seconds: float  #: from question to last answer
    beyond: float  #: of these, what the slowest holder of each round did not work


def tend(line: socket.socket) -> None:
    """Small messages leave at once; a peer that vanishes without a word is found out."""
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in zip(("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT"), _PROBES, strict=True):
        if hasattr(socket, name):
            line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Channel:
    """Lines to a fixed number of holders, each with a number of its own.

    `watch` is called with a holder's number while it is waited for, and raises where that is
    hopeless.  `setups` are messages that a new worker gets first, by number.
    """

    def __init__(
        self,
        host: str,
        n_holders: int,
        watch: Callable[[int], None],
        context: ssl.SSLContext | None = None,
    ):
        self.token = secrets.token_bytes(TOKEN_BYTES)
        self.setups: dict[int, Callable[[int], list[Message]]] = {}
        self._watch, self._context = watch, context
        self._lines: list[socket.socket | None] = [None] * n_holders
        self._arrived: dict[int, socket.socket] = {}
        self._news = threading.Condition()
        self._closed = False
        self.tally = Tally(0, 0, 0, 0.0, 0.0)  #: rounds and bytes so far
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._door = socket.create_server((host, 0), family=family, backlog=n_holders + 16)
        self.address = (host, int(self._door.getsockname()[1]))
        # One thread asks, so that Ctrl-C never cuts a message in two.
        self._asking = ThreadPoolExecutor(1, "bayesieve-rounds")
        self._welcoming = threading.Thread(target=self._welcome, daemon=True)
        self._welcoming.start()

    @property
    def n_holders(self) -> int:
        """How many hold rows."""
        return len(self._lines)

    def ask(self, make: Make) -> list[Message]:
        """One round: a message to each holder, their answers in order.

        A worker that is lost is waited for, gets its setups, and then the request again.
        """
        return self._asking.submit(self._round, make).result()

    def close(self) -> None:
        """Close the connections to all workers."""
        with self._news:
            if self._closed:
                return
            self._closed = True
            self._news.notify_all()
        self._asking.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for line in [*self._lines, *self._arrived.values()]:
            if line is not None:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
                line.close()
        self._asking.shutdown(wait=True)
        self._welcoming.join(_HELLO)

    # -- rounds --------------------------------------------------------------------------------

    def _round(self, make: Make) -> list[Message]:
        found: dict[int, Message] = {}
        start, sent, lost = time.perf_counter(), [], []
        for i, line in enumerate(self._lines):
            try:
                self._say(line, make(i))
                sent.append(i)
            except OSError:
                lost.append(i)
        for i in sent:
            try:
                found[i] = self._hear(self._lines[i])
            except OSError:
                lost.append(i)
        for i in lost:
            found[i] = self._again(i, make)
        spent = time.perf_counter() - start
        slowest = max(float(answer.plain.get("seconds", 0.0)) for answer in found.values())
        self._count(rounds=1, seconds=spent, beyond=spent - slowest)
        for i, answer in found.items():
            if answer.op == "error":
                raise RuntimeError(f"the holder of part {i} of the rows: {answer.plain['text']}")
        return [found[i] for i in range(self.n_holders)]

    def _again(self, i: int, make: Make) -> Message:
        """Ask one holder that is lost, or not there yet."""
        while True:
            line = self._lines[i] = self._replace(i)
            try:
                for setup in list(self.setups.values()):
                    for message in setup(i):
                        self._say(line, message)
                        answer = self._hear(line)
                        if answer.op == "error":
                            return answer
                self._say(line, make(i))
                return self._hear(line)
            except OSError:
                continue

    def _count(self, **more: float) -> None:
        known = self.tally._asdict()
        self.tally = self.tally._replace(**{name: known[name] + n for name, n in more.items()})

    def _say(self, line: socket.socket | None, message: Message) -> None:
        if line is None:
            raise ConnectionError("nobody has dialled yet.")
        self._count(sent=send(line, message))

    def _hear(self, line: socket.socket | None) -> Message:
        if line is None:
            raise ConnectionError("nobody has dialled yet.")
        while True:
            # Whoever works says so now and then: silence is no long answer.
            found = receive(line)
            self._count(received=sum(array.nbytes for array in found.arrays))
            if found.op != "busy":
                return found

    def _replace(self, i: int) -> socket.socket:
        old = self._lines[i]
        if old is not None:
            old.close()
        while True:
            with self._news:
                if self._closed:
                    raise RuntimeError("the channel is closed.")
                if i in self._arrived:
                    return self._arrived.pop(i)
                self._news.wait(_LINE_LOOK)
            self._watch(i)

    # -- new lines -----------------------------------------------------------------------------

    def _welcome(self) -> None:
        while True:
            try:
                line, _ = self._door.accept()
            except OSError:  # closed
                return
            # A stranger who dials and says nothing must not keep the others waiting.
            threading.Thread(target=self._meet, args=(line,), daemon=True).start()

    def _meet(self, line: socket.socket) -> None:
        """Nothing is read beyond the key until it has been compared."""
        try:
            line.settimeout(_HELLO)
            if self._context is not None:
                line = self._context.wrap_socket(line, server_side=True)
            if not hmac.compare_digest(exactly(line, TOKEN_BYTES), self.token):
                line.close()
                return
            number = int(receive(line).plain["holder"])
            line.settimeout(_LINE_SILENCE)
            tend(line)
        except (OSError, ValueError, KeyError, TypeError):
            line.close()
            return
        with self._news:
            if self._closed or not 0 <= number < self.n_holders:
                line.close()
                return
            older = self._arrived.pop(number, None)
            if older is not None:
                older.close()
            self._arrived[number] = line
            self._news.notify_all()


def dial(
    address: Sequence[object], token: bytes, number: int, context: ssl.SSLContext | None = None
) -> socket.socket:
    """A line to the channel, from a holder with this number."""
    host, port = str(address[0]), int(str(address[1]))
    line: socket.socket = socket.create_connection((host, port), timeout=30.0)
    if context is not None:
        line = context.wrap_socket(line)
    line.sendall(token)
    send(line, Message("hello", {"holder": number, "at": time.time()}))
    line.settimeout(None)
    tend(line)
    return line


# -- Is the cluster still there?  Workers that are frozen are replaced, and hopeless waits ---------


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


async def find_silent(seconds: float, restart: bool, dask_scheduler: Foreign = None) -> list[str]:
    """Runs on the scheduler: workers that seem frozen, restarted if so wished.

    Dask does the same itself, but after five minutes.

    Parameters
    ----------
    seconds : since a worker was heard of last.
    restart : restart them.
    dask_scheduler : given by Dask.
    """
    now = time.time()
    known = dask_scheduler.workers.values()
    silent = [each.address for each in known if now - each.last_seen > seconds]
    if silent and restart:
        name = f"bayesieve-silent-{now}"
        coming = asyncio.ensure_future(
            dask_scheduler.restart_workers(silent, wait_for_workers=False, stimulus_id=name)
        )
        # Its errors are nobody's: a nanny may be as frozen as its worker.
        coming.add_done_callback(lambda done: done.cancelled() or done.exception())
        # Nannies know of it by then; what the worker had is not waited for until it is killed.
        await asyncio.sleep(1)
        for address in silent:
            await dask_scheduler.remove_worker(address, stimulus_id=name)
    return silent


class Health:
    """Watches over a cluster while something is waited for; tells, or restarts, frozen workers."""

    def __init__(self, client: Foreign, restart: bool = False):
        self._client, self._restart = client, restart
        self._warned: set[str] = set()
        self._well = self._checked = self._looked = time.monotonic()

    def check(self) -> None:
        """Raise where scheduler or workers have been gone for too long; look for frozen ones."""
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
            self._look_for_silent()
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

    def _look_for_silent(self) -> None:
        if time.monotonic() - self._looked <= _LOOK:
            return
        silent: list[str] = []
        with contextlib.suppress(Exception):
            silent = self._client.run_on_scheduler(find_silent, _SILENCE, self._restart)
        self._looked = time.monotonic()
        if not self._restart and not self._warned.issuperset(silent):
            self._warned.update(silent)
            warnings.warn(
                f"the Dask worker {', '.join(silent)} has said nothing for {_SILENCE:.0f} seconds; "
                "the fit waits until it answers, or Dask replaces it. "
                "engine=DaskEngine(restart=True) would restart it.",
                UserWarning,
                stacklevel=2,
            )

    @property
    def _address(self) -> str:
        scheduler = getattr(self._client, "scheduler", None)
        return str(getattr(scheduler, "address", "?"))

    async def _workers(self) -> int:
        return len(await self._client.scheduler.ncores())


# -- Requests to all workers, and what these must know before --------------------------------------


class Requests:
    """Requests to all workers of one channel, about what they hold and ledgers of it."""

    def __init__(self, channel: Channel):
        self.channel = channel  #: to those who hold
        self._numbers = itertools.count()
        self._forgotten: list[int] = []
        self.ask(Message("nothing"))

    @property
    def n_holders(self) -> int:
        """How many hold."""
        return self.channel.n_holders

    def next_number(self) -> int:
        """A number for a ledger, which no other has."""
        return next(self._numbers)

    def tell(self, number: int, messages: Callable[[int], list[Message]]) -> None:
        """Open a ledger on every worker, now and whenever one is replaced.

        The first of the messages opens the ledger, the others tell what requests name.
        """
        self.ask_each(lambda holder: messages(holder)[0])
        self.channel.setups[number] = messages

    def forget(self, number: int) -> None:
        """Drop a ledger; workers learn of it with the next request."""
        self.channel.setups.pop(number, None)
        self._forgotten.append(number)

    def ask(self, message: Message) -> list[Message]:
        """Send one request to all workers; their answers."""
        return self.ask_each(lambda holder: message)

    def ask_each(self, make: Make) -> list[Message]:
        """Send each worker a request of its own; their answers."""
        gone = [self._forgotten.pop() for _ in range(len(self._forgotten))]
        if not gone:
            return self.channel.ask(make)

        def with_news(holder: int) -> Message:
            message = make(holder)
            return message._replace(plain={**message.plain, "forget": gone})

        return self.channel.ask(with_news)
