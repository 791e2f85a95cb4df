"""Rounds: one question to everyone who holds rows, and their answers; who is lost is replaced.

Holders dial in and show a key first.  The channel knows nothing of clusters: it is told how to see
that a lost holder will never come back.
"""

import contextlib
import hmac
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from .wire import TOKEN_BYTES, Message, exactly, receive, send

#: Makes the message for one holder.
Make = Callable[[int], Message]

# Seconds in which whoever dials must show the key, and between two looks at who is lost.
_HELLO, _LOOK = 10.0, 0.25

# Seconds of silence, twice, after which a holder that was asked is taken for frozen.
_SILENCE = 10.0

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

    Parameters
    ----------
    host : the interface on which to listen.
    n_holders : how many will dial.
    watch : called with a holder's number while it is waited for; raises where that is hopeless.
    context : of TLS, or None.

    Attributes
    ----------
    setups : what a new holder is told first, by whoever wants it told.
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
        self._tally = Tally(0, 0, 0, 0.0, 0.0)
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

    @property
    def tally(self) -> Tally:
        """Rounds and bytes so far."""
        return self._tally

    def ask(self, make: Make) -> list[Message]:
        """One round: a message to each holder, their answers in order.

        A holder that is lost is waited for, told what it must know, and asked again.
        """
        return self._asking.submit(self._round, make).result()

    def close(self) -> None:
        """Tell everyone that it is over, and hang up."""
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
        start, asked, lost = time.perf_counter(), [], []
        for i, line in enumerate(self._lines):
            try:
                self._say(line, make(i))
                asked.append(i)
            except OSError:
                lost.append(i)
        for i in asked:
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
        known = self._tally._asdict()
        self._tally = self._tally._replace(**{name: known[name] + n for name, n in more.items()})

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
                self._news.wait(_LOOK)
            self._watch(i)

    # -- whoever dials -------------------------------------------------------------------------

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
            line.settimeout(_SILENCE)
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
