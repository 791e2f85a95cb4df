"""Checkpoints: an interrupted search, or path of weighted terms, resumes where it stopped."""

import functools
import hashlib
import inspect
import json
import os
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from io import FileIO
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..criteria.base import Key
from ..data.files.output import begin_file, remove_left_behind
from .objective import Gain, Objective, Scorer, Toggle
from .path import WeightState

_PLAIN = (type(None), bool, int, float, complex, str, bytes, Fraction)


# Classes of these packages change with their versions only.
_KNOWN = ("bayesieve", "builtins", "numpy", "sklearn", "scipy")


def fingerprint(*values: object) -> str:
    """A digest of values; equal values give equal digests wherever they are made.

    Objects are told apart by their class and their attributes, functions by their code: an address
    in memory, or a hash that is salted, never counts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.search.checkpoint import fingerprint
    >>> fingerprint(np.arange(3), {"a": 1}) == fingerprint(np.arange(3), {"a": 1})
    True
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3.0))
    False
    """
    hasher = hashlib.blake2b(digest_size=16)
    _feed(hasher, values, ())
    return hasher.hexdigest()


def _feed(hasher: "hashlib.blake2b", value: object, above: tuple[int, ...]) -> None:
    """Take in one value; `above` are the objects that hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if id(value) in above:
        hasher.update(b"<itself>")
        return
    above = (*above, id(value))
    hasher.update(f"<{type(value).__module__}.{type(value).__qualname__}>".encode())
    if isinstance(value, _PLAIN):
        # The length tells where a value ends.
        text = repr(value).encode(errors="surrogatepass")
        hasher.update(f"{len(text)}:".encode() + text)
        return
    parts = _parts(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        hasher.update(f"{value.dtype.str}{value.shape}".encode())
        hasher.update(np.ascontiguousarray(value).view(np.uint8).data if value.size else b"")
    elif isinstance(value, set | frozenset | Mapping):
        # In an order of their own: that of sets changes from process to process.
        pairs = value.items() if isinstance(value, Mapping) else value
        hasher.update("".join(sorted(fingerprint(pair) for pair in pairs)).encode())
    elif parts is not None:
        hasher.update(f"{len(parts)}:".encode())
        for part in parts:
            _feed(hasher, part, above)
    else:
        _feed(hasher, repr(value), above)


def _parts(value: object) -> list[object] | None:
    """What an object is made of; None where it cannot be looked into."""
    if isinstance(value, np.ndarray):
        return [value.shape, *value.ravel().tolist()]
    if isinstance(value, list | tuple | range):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, FunctionType):
        kept = inspect.getclosurevars(value).nonlocals
        return [value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, kept]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_consts]
    if isinstance(value, type | BuiltinFunctionType):
        return [value.__module__, value.__qualname__]
    if isinstance(value, np.random.RandomState):
        return list(value.get_state(legacy=True))
    if isinstance(value, np.random.Generator):
        return [value.bit_generator.state]
    if hasattr(value, "get_params"):
        return [value.get_params(deep=False), *_methods(type(value))]
    if hasattr(value, "__dict__"):
        return [_told(value), *_methods(type(value))]
    return None


def _told(value: object) -> dict[str, object]:
    """The attributes of an object, but for what it has worked out of them and remembers."""
    kind = type(value)
    return {
        name: part
        for name, part in vars(value).items()
        if not isinstance(getattr(kind, name, None), functools.cached_property)
    }


def _methods(kind: type) -> list[tuple[str, FunctionType]]:
    """The functions of a user's own class: its name does not say what it does."""
    return [
        (name, member)
        for each in kind.__mro__
        if each.__module__.split(".")[0] not in _KNOWN
        for name, member in sorted(vars(each).items())
        if isinstance(member, FunctionType) and (name == "__call__" or not name.startswith("__"))
    ]


# -- The file behind a checkpoint ------------------------------------------------------------------


try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


_NAME = b"bayesieve-checkpoint "


_VERSION = 1


_TITLE = _NAME + b"%d\n" % _VERSION


_MARK_SIZE = 39


_HEAD = len(_TITLE) + _MARK_SIZE


_PAUSE = 1.0  # seconds between two writes


_PLAIN_INT = 2**53


_OTHERWISE = "Remove the file to start afresh, or give another path."


class Journal:
    """Records on disk, buffered for about a second.

    Parameters
    ----------
    path : the file; made with the first records if it is not there.
    release : version of the library, whose results it holds.
    parts : fingerprints of what the search depends on, by name.
    work : what is written down, in the words of errors.

    Attributes
    ----------
    records : the records found in the file.
    """

    work = "search"

    def __init__(self, path: Path, release: str, parts: Mapping[str, str], work: str | None = None):
        self.path = path
        if work is not None:
            self.work = work
        self._header: dict[str, Any] = {"release": release, "parts": dict(parts)}
        self._file: FileIO | None = None
        self.records: list[Any] = []
        self._buffer: list[bytes] = []
        self._end, self._chain = _HEAD, 0
        self._written = time.monotonic()
        if path.is_dir() or not path.parent.is_dir():
            raise ValueError(
                f"checkpoint must be a file in a folder that exists; got {str(path)!r}."
            )
        remove_left_behind(path.parent)
        if path.exists():
            self._file = path.open("r+b", buffering=0)
            try:
                self._lock(self._file)
                self._read(self._file.read())
            except BaseException:
                self._file.close()
                raise

    # -- reading -------------------------------------------------------------------------------

    def _refuse(self, reason: str, advice: str = _OTHERWISE) -> ValueError:
        return ValueError(f"checkpoint={str(self.path)!r} {reason}. {advice}")

    def _read(self, content: bytes) -> None:
        """Check every byte that counts; nothing is written."""
        title, _, _ = content.partition(b"\n")
        if not content.startswith(_NAME):
            raise self._refuse("is not a checkpoint of bayesieve")
        version = title.removeprefix(_NAME).decode("ascii", "replace")
        if len(content) < _HEAD and _TITLE.startswith(title):
            raise self._refuse("is cut short: not even its mark is whole")
        if not content.startswith(_TITLE):
            raise self._refuse(
                f"has the format version {version!r}; this bayesieve reads version {_VERSION}"
            )
        end, chain = self._read_mark(content[len(_TITLE) : _HEAD])
        if len(content) < end:
            raise self._refuse(f"is cut short: {end} bytes were written, {len(content)} are left")
        lines = content[_HEAD:end].split(b"\n")
        if lines.pop() or not lines:
            raise self._refuse("is damaged: its last record does not end")
        found = 0
        payloads = []
        for i, line in enumerate(lines):
            found = zlib.crc32(line[9:], found)
            if line[:9] != b"%08x " % found:
                raise self._refuse(f"is damaged in record {i}: its checksum is wrong")
            payloads.append(json.loads(line[9:]))
        if found != chain:
            raise self._refuse("is damaged: its mark and its records differ")
        self._compare(payloads[0])
        self.records = payloads[1:]
        self._end, self._chain = end, found

    def _read_mark(self, line: bytes) -> tuple[int, int]:
        try:
            end, chain = int(line[:20]), int(line[21:29], 16)
        except ValueError:
            end = chain = -1
        if end < _HEAD or line != _mark(end, chain):
            raise self._refuse("is damaged: its mark is wrong")
        return end, chain

    def _compare(self, header: Any) -> None:
        """Is this the same search on the same data?"""
        if header["release"] != self._header["release"]:
            raise self._refuse(
                f"was written by bayesieve {header['release']}; this is {self._header['release']}",
                "Finish it with that version, remove the file, or give another path.",
            )
        theirs, mine = header["parts"], self._header["parts"]
        other = [name for name in mine if mine[name] != theirs.get(name)]
        if other:
            raise self._refuse(
                f"belongs to another {self.work}: it differs in {', '.join(other)}",
                "Give the same data and parameters (and whole numbers as random_state, also to "
                "splitters), remove the file, or give another path.",
            )

    # -- writing -------------------------------------------------------------------------------

    def append(self, record: list[object], now: bool = False) -> None:
        """Take in a record; written about every second, or `now`."""
        self._buffer.append(json.dumps(record, separators=(",", ":")).encode())
        if now or time.monotonic() - self._written > _PAUSE:
            self.flush()

    def flush(self) -> None:
        """Bring all records to the disk.

        May be interrupted anywhere and called again: the same bytes go to the same place.
        """
        if not self._buffer:
            return
        n, chain, lines = len(self._buffer), self._chain, []
        fresh = [json.dumps(self._header).encode()] if self._file is None else []
        for payload in [*fresh, *self._buffer[:n]]:
            chain = zlib.crc32(payload, chain)
            lines.append(b"%08x " % chain + payload + b"\n")
        block = b"".join(lines)
        end = self._end + len(block)
        try:
            self._bring_to_disk(block, _mark(end, chain))
        except OSError as error:
            raise self._no_room(error) from error
        self._end, self._chain, self._buffer = end, chain, self._buffer[n:]
        self._written = time.monotonic()

    def _bring_to_disk(self, block: bytes, mark: bytes) -> None:
        if self._file is None:
            self._create(block, mark)
            return
        self._write(self._file, self._end, block)
        os.fsync(self._file.fileno())
        self._write(self._file, len(_TITLE), mark)
        os.fsync(self._file.fileno())

    def _no_room(self, error: OSError) -> OSError:
        """The search ends where it cannot be written down; what was written before still counts."""
        why = (error.strerror or str(error)).lower()
        begun = "go on from it" if self._end > _HEAD else "begin again"
        found = OSError(
            f"checkpoint={str(self.path)!r} cannot be written: {why}. Make room and {begun}, or "
            "give another path."
        )
        found.errno = error.errno
        return found

    def _create(self, block: bytes, mark: bytes) -> None:
        """A new file appears in full under its name, or not at all."""
        name, number = begin_file(self.path.parent, 0o600)
        file = os.fdopen(number, "r+b", buffering=0)  # locked, as any journal is
        try:
            self._write(file, 0, _TITLE + mark + block)
            os.fsync(file.fileno())
            try:
                os.link(name, self.path)
            except FileExistsError:
                raise self._refuse(f"appeared while the {self.work} was running") from None
            except OSError:  # a file system without links
                os.replace(name, self.path)
        except BaseException:
            file.close()
            raise
        finally:
            name.unlink(missing_ok=True)
        self._file = file

    @staticmethod
    def _write(file: FileIO, at: int, content: bytes) -> None:
        file.seek(at)
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]

    def _lock(self, file: FileIO) -> None:
        """One search a file: the lock goes with the process that holds it."""
        if fcntl is None:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._refuse(
                f"is in use by another {self.work}", "Wait for it, or give another path."
            ) from None
        except OSError:  # a file system without locks
            return

    def close(self) -> None:
        """Write what is left and let the file go."""
        try:
            self.flush()
        finally:
            if self._file is not None:
                self._file.close()


def _mark(end: int, chain: int) -> bytes:
    text = b"%020d %08x" % (end, chain)
    return b"%s %08x\n" % (text, zlib.crc32(text))


def pack(value: object) -> Any:
    """An answer (a number, a fraction, None, or a list or tuple of these) as JSON holds it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from bayesieve.search.checkpoint import pack, unpack
    >>> unpack(pack([Fraction(1, 3), (2**99, 0.1)])) == [Fraction(1, 3), (2**99, 0.1)]
    True
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not -_PLAIN_INT <= value <= _PLAIN_INT:
        return hex(value)  # of any length, unlike decimal digits
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Fraction):
        return {"over": [pack(value.numerator), pack(value.denominator)]}
    if isinstance(value, tuple):
        return {"tuple": [pack(each) for each in value]}
    if isinstance(value, list):
        return [pack(each) for each in value]
    raise TypeError(
        "checkpoint needs a criterion whose losses are numbers, fractions or tuples of these; got "
        f"{type(value).__name__}."
    )


def unpack(value: object) -> Any:
    """The answer that `pack` was given."""
    if isinstance(value, str):
        return int(value, 16)
    if isinstance(value, list):
        return [unpack(each) for each in value]
    if isinstance(value, dict):
        if "over" in value:
            return Fraction(*unpack(value["over"]))
        return tuple(unpack(value["tuple"]))
    return value


# -- Searches that go on where they were -----------------------------------------------------------


_PAUSED, _END = "pause", "end"


class Replay:
    """Gives answers back while the journal has any, then writes new ones down.

    Parameters
    ----------
    journal : the records.
    """

    def __init__(self, journal: Journal):
        self.journal = journal
        self._at = 0  # record being replayed
        self._used = 0  # of its answers
        self._answers: list[Any] = []  # since the last record
        self._asking = False
        self._direction: str | None = None

    @property
    def replaying(self) -> bool:
        """Are there records left?"""
        return self._at < len(self.journal.records)

    def answer(self, ask: Callable[[], Any]) -> Any:
        """The answer to the search's next question; `ask` finds it where it is not known."""
        if self._asking:
            # A question within a question: its answer is part of the other.
            return ask()
        if self.replaying:
            answers = self.journal.records[self._at][2]
            if self._used == len(answers):
                raise self._lost()
            self._used += 1
            return unpack(answers[self._used - 1])
        self._asking = True
        try:
            found = pack(ask())
        finally:
            self._asking = False
        self._answers.append(found)
        # What a resumed search will read, whatever type of number it was.
        return unpack(found)

    def committed(self, action: str, units: tuple[int, ...], objective: Objective) -> None:
        """Hear of a step: it ends a record."""
        # The end of a phase is written down at once.
        turned = objective.direction != self._direction
        self._direction = objective.direction
        self._close(action, list(units), turned)

    def paused(self) -> None:
        """The search may be stopped here: answers that led to no step end a record too."""
        if self._used if self.replaying else self._answers:
            self._close(_PAUSED, [])

    def ended(self) -> None:
        """The search has come to its end."""
        if self.replaying or not self.journal.records or self.journal.records[-1][0] != _END:
            self._close(_END, [], True)

    def _close(self, kind: str, units: list[int], now: bool = False) -> None:
        if self.replaying:
            known, moved, answers = self.journal.records[self._at]
            if (known, moved, len(answers)) != (kind, units, self._used):
                raise self._lost()
            self._at, self._used = self._at + 1, 0
            return
        self.journal.append([kind, units, self._answers], now)
        self._answers = []

    def _lost(self) -> ValueError:
        return ValueError(
            f"checkpoint={str(self.journal.path)!r}: record {self._at} does not follow from those "
            "before it. Is the search, or a function given to it, one that draws without a seed? "
            "Remove the file to start afresh, or give another path."
        )


class Replayed:
    """Scorer that replays the journal first, then computes and records.

    Moves wait until something is asked: integer sums do not mind the order.

    Parameters
    ----------
    verdicts : who knows the answers.
    replay : the journal's answers.
    """

    def __init__(self, verdicts: Scorer, replay: Replay):
        self._verdicts, self._replay = verdicts, replay
        self._moves: Counter[int] = Counter()
        self.value = verdicts.value

    def apply(self, columns: Sequence[int], sign: int) -> None:
        """Add (1) or remove (-1) columns."""
        if not self._replay.replaying and not self._moves:
            self._verdicts.apply(columns, sign)
            return
        for column in columns:
            self._moves[column] += sign

    def now(self) -> Key:
        """Key of the subset."""
        return self._ask(self._verdicts.now)

    def keys(self, units: Sequence[int], sign: int) -> list[Key]:
        """Exact key after each unit alone joins (1) or leaves (-1)."""
        return self._ask(lambda: self._verdicts.keys(units, sign))

    def best(self, units: Sequence[int], sign: int) -> tuple[int, Key]:
        """The unit with the lowest key, and that key."""
        unit, key = self._ask(lambda: self._verdicts.best(units, sign))
        return unit, key

    def first_gain(self, units: Sequence[int], sign: int, now: Key, block: int) -> Gain:
        """The first unit whose move is a gain: one short answer, whatever was asked for it."""
        return Gain(*self._ask(lambda: list(self._verdicts.first_gain(units, sign, now, block))))

    def walk(self, steps: Sequence[Toggle]) -> list[Key | None]:
        """Take steps, from the journal while it lasts; the score after each."""
        replaying = self._replay.replaying
        keys: list[Key | None] = self._ask(lambda: self._verdicts.walk(steps))
        for step in steps[: len(keys)] if replaying else ():
            self.apply(step.columns, step.sign)
        return keys

    def _ask(self, question: Callable[[], Any]) -> Any:
        def ask() -> Any:
            self._catch_up()
            return question()

        return self._replay.answer(ask)

    def _catch_up(self) -> None:
        """The sums are about to be read."""
        moves, self._moves = self._moves, Counter()
        for sign in (-1, 1):
            columns = sorted(column for column, net in moves.items() if net == sign)
            if columns:
                self._verdicts.apply(columns, sign)


# -- Paths of weighted terms that go on where they were --------------------------------------------


_DECIDED, _STATE = "decided", "state"


class TermRecords:
    """Records of one path of weighted terms: what inner folds decided, then its states.

    Parameters
    ----------
    journal : where they are; paths of several labels share it.
    part : which path.
    """

    def __init__(self, journal: Journal, part: int):
        self._journal, self._part = journal, part
        mine = [record for record in journal.records if record[1] == [part]]
        self.states = [_state(*unpack(each)) for kind, _, each in mine if kind == _STATE]
        #: are there pairs, the price of a term, freedom and slope; None: nothing is decided yet
        self.decision: tuple[bool, float | None, float, float] | None = None
        for kind, _, each in mine:
            if kind == _DECIDED:
                self.decision = each[0], each[1], each[2], each[3]

    def decide(self, pairs: bool, price: float | None, freedom: float, slope: float) -> None:
        """Write down at once what the folds decided."""
        self.decision = pairs, price, freedom, slope
        self._journal.append([_DECIDED, [self._part], pack([*self.decision])], now=True)

    def take(self, state: WeightState) -> None:
        """Write down another state, sooner or later; none before the folds have decided."""
        if self.decision is None:
            return
        arrays = [[each.tolist() for each in part] for part in (state.weights, state.constants)]
        said = [state.unit, state.gain, state.loss, list(state.terms), *arrays]
        self._journal.append([_STATE, [self._part], pack(said)])


def _state(
    unit: int, gain: float, loss: float, terms: list[int], weights: list[Any], constants: list[Any]
) -> WeightState:
    lines = tuple(np.array(each, np.int64) for each in constants)
    tables = zip(weights, lines, strict=True)
    shaped = tuple(np.array(each, np.int64).reshape(-1, line.size) for each, line in tables)
    return WeightState(unit, gain, loss, tuple(terms), shaped, lines)
