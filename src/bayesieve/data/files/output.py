"""Atomic output of files and folders, with readable errors."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from . import atomic
from .base import BadUseError, OutputError


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file to write to; a failure leaves what was there before, and is said in words.

    A link is followed to the file that it names.
    """
    path = path.resolve()
    with _in_words(path), atomic.whole_file(path) as file:
        yield file


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder to write files to; they all move into `folder` in the end, or none does."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        with _in_words(folder), atomic.hidden_folder(folder) as part:
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
