"""Messages between whoever searches and whoever holds rows: plain data and arrays, nothing else.

A frame is its two lengths, a head in JSON and the bytes of the arrays.  Nothing that arrives is
ever run: no pickle, no names of classes.
"""

import json
import math
import socket
import struct
import time
from collections.abc import Callable, Mapping
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
    """What is asked or answered.

    Examples
    --------
    >>> import numpy as np, socket
    >>> from bayesieve.engine.far.wire import Message, receive, send
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


#: What is done for a message by this name, with its plain data and arrays.
Answers = Mapping[str, Callable[[dict[str, Foreign], tuple[Array, ...]], Foreign]]


def answered(message: Message, answers: Answers, forget: Callable[[int], object]) -> Message:
    """The answer to a message, and how long it took; what went wrong is an answer too.

    Parameters
    ----------
    message : what is asked.
    answers : what can be done.
    forget : lets a ledger go, by its number.
    """
    start = time.perf_counter()
    try:
        for number in message.plain.get("forget", ()):
            forget(number)
        found = answers[message.op](message.plain, message.arrays)
        return Message("ok", {"seconds": time.perf_counter() - start}, tuple(found))
    except Exception as error:
        return Message("error", {"text": f"{type(error).__name__}: {error}"})


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
    n_head, size = _LENGTHS.unpack(_exactly(line, _LENGTHS.size))
    if n_head > _MOST_HEAD:
        raise BrokenFrameError(f"a head of {n_head} bytes came; at most {_MOST_HEAD} are allowed.")
    try:
        op, plain, shapes = json.loads(_exactly(line, n_head))
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


def exactly(line: socket.socket, n_bytes: int) -> bytes:
    """So many bytes, no more and no fewer."""
    return _exactly(line, n_bytes)


def narrow(numbers: Array) -> Array:
    """Whole numbers in a small type that holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.engine.far.wire import narrow
    >>> narrow(np.array([0, 300])).dtype, narrow(np.array([-1, 3])).dtype
    (dtype('uint16'), dtype('int16'))
    """
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    return numbers.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def _exactly(line: socket.socket, n_bytes: int) -> bytes:
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
