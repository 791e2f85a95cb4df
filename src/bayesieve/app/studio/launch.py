"""Start the studio from the command line or a notebook."""

import contextlib
import errno
import os
import shlex
import signal
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import TYPE_CHECKING

from ...checks import Foreign
from ...estimators.selector import NaiveBayesSelector
from ...session.session import Session
from ..options import SeriesSettings, Settings, say, tell

# What the studio needs beyond the package is imported when it starts.
if TYPE_CHECKING:
    from ...data.series import SeriesForm
    from .bench import Bench
    from .server import Keys

MISSING = (
    "the studio needs starlette and uvicorn, and what the command line needs: pip install "
    "'bayesieve[studio]'."
)

# Where a password may come from, for machines without a keyboard.
_PASSWORD = "BAYESIEVE_STUDIO_PASSWORD"

# Seconds without a page after which the server ends; seconds between two looks.
_IDLE, _LOOK = 600.0, 0.25

Say = Callable[[str], None]


def studio(
    X: Foreign, y: Foreign, *, port: int = 0, open_browser: bool = True, n_jobs: int | None = None
) -> "RunningStudio":
    """Open the studio: an interactive local page to select columns.

    The server runs on this machine, in a thread of this process, and answers this machine's own
    browser alone.  From a notebook on another machine, use its proxy, or a tunnel to the port.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    port : int, default=0
        0: one that is free.
    open_browser : bool, default=True
        Otherwise open ``address`` yourself.
    n_jobs : int, optional
        Threads of the kernels.

    Returns
    -------
    running : object with ``address``, ``bench.session`` (a `Session`) and ``close()``

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import studio
    >>> running = studio(*load_iris(return_X_y=True, as_frame=True), open_browser=False)
    >>> running.address.startswith("http://127.0.0.1:")
    True
    >>> running.bench.session.add("petal width (cm)").columns
    ['petal width (cm)']
    >>> running.close(save=False)
    """
    try:
        from .bench import Bench
        from .data import given_table
        from .server import Keys
    except ImportError as error:
        raise ImportError(MISSING) from error

    bench = Bench(n_jobs)
    table = given_table(X, y)
    bench.hold(Session(X, y, NaiveBayesSelector(preset="balanced", n_jobs=n_jobs)), table, None)
    place = listen("127.0.0.1", port)
    found = RunningStudio(bench, Keys(place.getsockname()[1]), place).start()
    bench.unsaved = False
    if open_browser:
        _browse(found.address)
    return found


def _browse(address: str) -> bool:
    """Open a page in a browser, if there is one."""
    with contextlib.suppress(webbrowser.Error):
        return webbrowser.open(address)
    return False


def serve(
    settings: Settings,
    series: SeriesSettings,
    file: Path | None,
    port: int,
    host: str,
    project: Path | None,
    browser: bool,
    idle: float,
) -> None:
    """Serve the studio until nobody looks at it: the verb."""
    import typer

    try:
        from .bench import Bench
        from .server import Keys
    except ImportError as error:
        raise ImportError(MISSING) from error

    form = None
    if file is not None and (series.given or file.is_dir()):
        from ..signals import series_form

        form = series_form(file, series)
    password = None
    if host not in ("127.0.0.1", "localhost", "::1"):
        tell(
            f"bayesieve: at {host} other machines can reach the studio and all that it shows, over "
            "a line that is not encrypted: they must know a password."
        )
        password = os.environ.get(_PASSWORD) or typer.prompt("password", hide_input=True)
    bench = Bench(settings.jobs)
    file = _beginning(file, project)
    open_bench(bench, file, settings.target, form, series.labels)
    bench.unsaved = False
    place = listen(host, port)
    keys = Keys(place.getsockname()[1], host, password)
    running = RunningStudio(bench, keys, place, idle=60 * idle, project=project, say=tell).start()
    address = keys.address if password is None else keys.address.split("?")[0]
    say(f"bayesieve studio: {address}\n(Ctrl-C ends it)\n")
    if browser and not _browse(address):
        tell("no browser was found: open the address above in one.")
    try:
        with _asked_to_end():
            running.watch()
    except KeyboardInterrupt:
        running.close()


def _beginning(file: Path | None, project: Path | None) -> Path | None:
    """The file to open first: an existing project is continued, and never written over."""
    if project is None:
        return file
    if not project.parent.is_dir():
        raise ValueError(f"--project {project}: the folder {project.parent} does not exist.")
    if not project.exists():
        return file
    if file is not None and not (file.exists() and file.samefile(project)):
        raise ValueError(
            f"--project {project} holds other work: leave {file} out to go on with it, or name "
            "another project."
        )
    return project


@contextlib.contextmanager
def _asked_to_end() -> Iterator[None]:
    """A terminal that is closed, or a kill, ends the studio as Ctrl-C does: the work is saved.

    What whoever started it has told it to ignore, as `nohup` does, it ignores.
    """

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    names = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    known = [each for each in names if each and signal.getsignal(each) is not signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        known = []
    before = {each: signal.signal(each, end) for each in known}
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)


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
            raise ValueError(
                f"--port {port} is taken by another program; name another one, or leave it out."
            ) from error
        raise ValueError(f"--host {host!r} cannot be listened at: {error.strerror}.") from error
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
        bench: "Bench",
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
        """Address of the page, for a browser."""
        return self.keys.address

    def watch(self) -> None:
        """Stay until nobody has looked for a while; the work is saved as it goes."""
        studio = self.studio
        while self._thread.is_alive():
            time.sleep(_LOOK)
            session, version = self.bench.session, self.bench.version
            busy = session is not None and session.running is not None and session.running.active
            new = self._saved != version and not busy
            if new and session is not None and self._project is not None:
                self._saved = version
                self._save(session, self._project)
            if not studio.n_pages and time.monotonic() - studio.left > self._idle:
                self._say("no page was open for a while: the studio ends.")
                break
        self.close()

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


def open_saved(bench: "Bench", path: Path, name: str) -> None:
    """A session that was saved; its file is not needed any more."""
    session = Session.load(path)
    session.about.setdefault("name", name)
    bench.hold_saved(session)


def open_bench(
    bench: "Bench",
    file: Path | None,
    target: str | None,
    form: "SeriesForm | None" = None,
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
