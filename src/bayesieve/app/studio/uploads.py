"""Files that are dropped on the page: where they land, and how large they may be."""

import secrets
import shutil
from pathlib import Path

from starlette.requests import Request

from ...data.files.base import BadUseError, unzipped


class Uploads:
    """A temporary folder for what comes from the browser.

    Parameters
    ----------
    folder : it is there, and is removed by whoever made it.
    most_bytes : of a file, or of a folder of series.
    """

    def __init__(self, folder: Path, most_bytes: int):
        self.folder, self.most_bytes = folder, most_bytes
        self._series: Path | None = None

    def place(self, name: str, use: str) -> Path:
        """Where a file may land: a name of our own, unless it is one of a folder of series."""
        if use in ("first", "part"):
            if use == "first" or self._series is None:
                if self._series is not None:  # nobody came back for it
                    shutil.rmtree(self._series, ignore_errors=True)
                self._series = self.folder / secrets.token_hex(8)
                self._series.mkdir()
            found = self._series / safe_name(name)
            if found.exists():
                raise BadUseError(f"two files are called {found.name!r}; series need other names.")
            return found
        ending, zipped = unzipped(Path("x" + "".join(Path(name).suffixes[-2:])))
        ending = "".join(each for each in ending if each.isascii() and each.isalnum())[:20]
        return self.folder / f"{secrets.token_hex(8)}.{ending}{'.gz' * zipped}"

    def room(self, size: int) -> int:
        """May a file of this many bytes come?"""
        if size > self.most_bytes:
            most = f"{self.most_bytes / 2**20:,.0f} MB"
            raise BadUseError(
                f"the file is larger than {most}; start bayesieve studio FILE instead."
            )
        return self.most_bytes

    async def receive(self, request: Request, place: Path) -> None:
        """A file, whole or not at all: it may be too large, or whoever sends it goes."""
        size = 0
        try:
            with place.open("xb") as file:
                async for part in request.stream():
                    size += len(part)
                    self.room(size + self._held(place))
                    file.write(part)
        except BaseException:
            place.unlink(missing_ok=True)
            raise

    def _held(self, place: Path) -> int:
        """Bytes of the other files of a folder of series."""
        if place.parent == self.folder:
            return 0
        return sum(each.stat().st_size for each in place.parent.iterdir() if each != place)

    def take_series(self) -> Path:
        """The folder of series that was sent file by file."""
        found, self._series = self._series, None
        if found is None:
            raise BadUseError("choose a folder first.")
        return found

    def tidy(self, before: Path | None, now: Path | None) -> None:
        """A file that was dropped on the page before another one is not needed any more."""
        if before is None or before == now or before.parent != self.folder:
            return
        if before.is_dir():
            shutil.rmtree(before, ignore_errors=True)
        else:
            before.unlink(missing_ok=True)


def safe_name(name: str) -> str:
    """The last part of a name, where it holds nothing that a path could be made of."""
    found = name.replace("\\", "/").rsplit("/", 1)[-1]
    odd = [each for each in found if not (each.isalnum() or each in "-_ .+()=@,")]
    if not found or found.startswith(".") or odd:
        raise BadUseError(f"a file of a series must have a plain name; got {name!r}.")
    return found
