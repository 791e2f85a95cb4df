"""The file behind a checkpoint: records that are there in full, or not at all.

A journal is a text file::

    bayesieve-checkpoint 1                                 name and version of the format
    00000000000000001234 9f0c2a11 5e6b7c80                 the mark: bytes that count, and checksums
    1b2c3d4e {"release": ..., "parts": {...}}              header: what the search depends on
    9f0c2a11 ["add", [7], [...]]                           one record a line

Every line's checksum covers the lines before it, so that none can be changed, moved or taken out.

A kill can hit in the middle of a write (Linux cuts a write of several pages short when the process
dies), and still everything must be as before.  So new records are written behind the bytes that
count and brought to the disk; only then the mark is set anew, by one write of 39 bytes within the
first page, which happens in full or not at all.  What lies behind the marked bytes was never
committed and is written over.  A file *shorter* than its mark, on the other hand, was cut by
something else than a kill; it is refused like any other damage, and no refusal changes the file.
"""

import json
import os
import time
import zlib
from collections.abc import Mapping
from fractions import Fraction
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from ...data.files.atomic import begin_file, remove_left_behind

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

    Attributes
    ----------
    records : the records found in the file.
    """

    #: What is written down, in the words of errors.
    work = "search"

    def __init__(self, path: Path, release: str, parts: Mapping[str, str]):
        self.path = path
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
    >>> from bayesieve.search.checkpoint.journal import pack, unpack
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
