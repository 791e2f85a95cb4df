"""Output of files and folders: complete or not at all, judged beforehand, refused in words.

What is in the making has a name of its own and is locked; the lock goes with the process.  So what
a killed process has left behind is told from what a living one writes, and removed by the next one
that writes to the same folder.
"""

import contextlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO

from ...checks import BadUseError

try:
    import fcntl
except ModuleNotFoundError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

_HIDDEN = re.compile(r"\.bayesieve-[0-9a-f]{16}\.part")


@contextlib.contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write to: a failure leaves no half file, and what was there stays.

    It is written beside its place under a random name, and made by exclusive creation, which
    follows no link and opens nothing that is there.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        # A device or a pipe cannot be replaced.
        with path.open("wb") as file:
            yield file
        return
    remove_left_behind(path.parent)
    while True:
        part = path.with_name(_hidden_name())
        file = part.open("xb")
        held = _hold(part)
        if held is not None:
            break
        file.close()
    # The lock outlives the file.
    with file, _let_go(held):
        try:
            yield file
            file.close()  # the last bytes may find no room
            part.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                file.close()
            part.unlink(missing_ok=True)
            raise


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())


def begin_file(folder: Path, mode: int = 0o666) -> tuple[Path, int]:
    """An empty file in the making, and its descriptor, which holds the lock."""
    remove_left_behind(folder)
    while True:
        part = folder / _hidden_name()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        number = os.open(part, flags, mode)
        if _is_mine(part, number):
            return part, number
        os.close(number)


@contextlib.contextmanager
def hidden_folder(folder: Path) -> Iterator[Path]:
    """A folder in the making, for this user only; what is left in it is removed in the end."""
    remove_left_behind(folder)
    while True:
        part = folder / _hidden_name()
        part.mkdir(mode=0o700, parents=True)
        held = _hold(part)
        if held is not None:
            break
    with _let_go(held):
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)


def remove_left_behind(folder: Path) -> None:
    """Remove what processes that are no more were writing there."""
    if fcntl is None:  # pragma: no cover
        return  # nobody can tell
    with contextlib.suppress(OSError):
        for part in [each for each in folder.iterdir() if _HIDDEN.fullmatch(each.name)]:
            with contextlib.suppress(OSError):
                _remove_if_left(part)


def _remove_if_left(part: Path) -> None:
    number = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        mode = os.fstat(number).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or not _locked(number):
            return
        # Locked until it is gone: whoever has just made it takes another name.
        if stat.S_ISDIR(mode):
            shutil.rmtree(part)
        else:
            part.unlink()
    finally:
        os.close(number)


def _hold(part: Path) -> int | None:
    """A descriptor that locks what was just made (-1: none can); None where it is lost."""
    if fcntl is None:  # pragma: no cover
        return -1
    try:
        number = os.open(part, os.O_RDONLY)
    except FileNotFoundError:
        return None
    if _is_mine(part, number):
        return number
    os.close(number)
    return None


@contextlib.contextmanager
def _let_go(held: int) -> Iterator[None]:
    """Let a lock go in the end."""
    try:
        yield
    finally:
        if held >= 0:
            os.close(held)


def _is_mine(part: Path, number: int) -> bool:
    """Lock what was just made; somebody may have taken it for left behind before that."""
    if _locked(number) is False:
        return False
    try:
        return os.path.samestat(os.fstat(number), part.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _locked(number: int) -> bool | None:
    """Lock a file: False where somebody else has, None where the file system knows no locks."""
    if fcntl is None:  # pragma: no cover
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _hidden_name() -> str:
    """The name of a file (or folder) in the making: nobody can guess it and put a link there."""
    return f".bayesieve-{secrets.token_hex(8)}.part"


# -- Output that a user names: judged before any work, and what fails is said in words -------------


class OutputError(OSError):
    """Something that could not be written: said in one sentence, exit code 1."""


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file to write to; a failure leaves what was there before, and is said in words.

    A link is followed to the file that it names.
    """
    path = path.resolve()
    with _in_words(path), whole_file(path) as file:
        yield file


def output_text(path: Path, text: str) -> None:
    """A text file in UTF-8; a failure leaves what was there before, and is said in words."""
    with output_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def output_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder to write files to; they all move into `folder` in the end, or none does."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        with _in_words(folder), hidden_folder(folder) as part:
            yield part
            for each in sorted(part.iterdir()):
                each.replace(folder / each.name)
    except BaseException:
        with contextlib.suppress(OSError):
            for each in new:
                each.rmdir()
        raise


def check_folder(folder: Path) -> None:
    """Can files be written there?  Asked before any work."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise BadUseError(f"--out: {str(there)!r} is a file; name a folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadUseError(f"--out: you may not write to the folder {str(there)!r}.")


def check_file(path: Path, inputs: tuple[Path, ...] = (), option: str = "--out") -> None:
    """Can this file be written?  Asked before any work."""
    if path.is_dir():
        raise BadUseError(f"{option}: {str(path)!r} is a folder; name a file.")
    if not path.parent.is_dir():
        raise BadUseError(f"{option}: the folder {str(path.parent)!r} does not exist.")
    if any(each.exists() and path.exists() and each.samefile(path) for each in inputs):
        raise BadUseError(f"{option}: {str(path)!r} is read here; name another file.")
    place = path if path.exists() and not path.is_file() else path.parent
    if not os.access(place, os.W_OK):
        raise BadUseError(f"{option}: you may not write to {str(place)!r}.")


def check_new(paths: Iterable[Path], force: bool) -> None:
    """Nothing that is there is written over unasked.  Asked before any work."""
    old = next((path for path in paths if path.exists()), None)
    if old is not None and not force:
        raise BadUseError(
            f"--out: {str(old)!r} exists; add --force to write over it, or name another place."
        )


@contextlib.contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Say what could not be written, and why."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        why = (error.strerror or str(error)).lower()
        raise OutputError(f"{path} cannot be written: {why}; name another place.") from error
