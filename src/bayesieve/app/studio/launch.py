"""Start the studio: a server on this machine, and the benches that it opens."""

import errno
import shlex
import socket
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import TYPE_CHECKING

from ...data.files.base import BadUseError
from ...data.series import SeriesForm
from ...session.session import Session
from .bench import Bench

if TYPE_CHECKING:
    from .server import Keys

# Seconds without a page after which the server ends; seconds between two looks.
_IDLE, _LOOK = 600.0, 0.25

Say = Callable[[str], None]


def listen(host: str, port: int) -> socket.socket:
    """A socket of the port asked for, or of a free one (0); a taken one is named."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            raise BadUseError(
                f"--port {port} is taken by another program; name another one, or leave it out."
            ) from error
        raise BadUseError(f"--host {host!r} cannot be listened at: {error.strerror}.") from error
    return found


class RunningStudio:
    """A studio that runs in a thread of its own.

    Parameters
    ----------
    bench : what its pages look at.
    keys : who may come in.
    place : the socket that it listens at.
    idle : seconds without a page after which it ends.
    project : where the work is saved; None: in a temporary folder, when it ends.
    say : told what happens.
    """

    def __init__(
        self,
        bench: Bench,
        keys: "Keys",
        place: socket.socket,
        *,
        idle: float = _IDLE,
        project: Path | None = None,
        say: Say = lambda line: None,
    ):
        import uvicorn

        from .server import Studio

        self.studio, self.bench, self.keys = Studio(bench, keys), bench, keys
        self._idle, self._project, self._say = idle, project, say
        config = uvicorn.Config(
            self.studio.app, log_level="critical", access_log=False, timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([place],), daemon=True)
        self._saved = -1

    def start(self) -> "RunningStudio":
        """Begin to listen."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)
        self.studio.left = time.monotonic()
        return self

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self.keys.address

    def watch(self) -> None:
        """Stay until nobody has looked for a while; the work is saved as it goes."""
        studio = self.studio
        while self._thread.is_alive():
            time.sleep(_LOOK)
            self._save_along()
            if not studio.n_pages and time.monotonic() - studio.left > self._idle:
                self._say("no page was open for a while: the studio ends.")
                break
        self.close()

    def _save_along(self) -> None:
        running = None if self.bench.session is None else self.bench.session.running
        busy = running is not None and running.active
        if self._project is not None and self._saved != self.bench.version and not busy:
            self._saved = self.bench.version
            if self.bench.session is not None:
                self._save(self.bench.session, self._project)

    def _save(self, session: Session, place: Path) -> bool:
        """Write the work; what cannot be written now may be later, and the studio goes on."""
        try:
            session.save(place)
        except (OSError, ValueError) as error:
            self._say(f"your work cannot be saved at {place}: {error}")
            return False
        self.bench.unsaved = False
        return True

    def close(self, save: bool = True) -> None:
        """End it; what is not saved yet is saved, unless nobody wants it."""
        self.bench.close()
        self._server.should_exit = True
        self._thread.join(5)
        session = self.bench.session
        if not save or session is None or not session.log or not self.bench.unsaved:
            return
        place = self._project
        if place is None or not self._save(session, place):
            # No folder of the user's is written that nobody named.
            place = Path(mkdtemp(prefix="bayesieve-work-")) / "work.bayesieve"
            self._save(session, place)
        told = shlex.quote(str(place))
        self._say(f"your work is in {told}: bayesieve studio {told} opens it again.")


def open_saved(bench: Bench, path: Path, name: str) -> None:
    """A session that was saved; its file is not needed any more."""
    session = Session.load(path)
    session.about.setdefault("name", name)
    bench.hold_saved(session)


def open_bench(
    bench: Bench,
    file: Path | None,
    target: str | None,
    form: SeriesForm | None = None,
    labels: Path | None = None,
) -> None:
    """Begin with a file, or a project.

    Parameters
    ----------
    bench : who takes it.
    file, target : the table, or the project, and its column with the classes.
    form, labels : how series lie in it, and the table that has their classes.
    """
    if file is None:
        return
    if file.suffix == ".bayesieve":
        open_saved(bench, file, file.name)
        return
    bench.open_file(file, str(file))
    if form is not None:
        bench.read_as(form)
    if labels is not None:
        bench.add_labels(labels, str(labels))
    if target is not None or labels is not None:
        bench.open_target(target)
