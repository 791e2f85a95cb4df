"""Files that appear under their name when all is written, or not at all: the one writer."""

import contextlib
import secrets
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import IO


def hidden_name() -> str:
    """The name of a file (or folder) in the making: nobody can guess it and put a link there."""
    return f".bayesieve-{secrets.token_hex(8)}.part"


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
    part = path.with_name(hidden_name())
    with part.open("xb") as file:
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
