"""`bayesieve studio`: the page from the command line."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ...data.files.base import BadUseError
from ..options import say, tell
from ..signals import series_form

# Where a password may come from, for machines without a keyboard.
_PASSWORD = "BAYESIEVE_STUDIO_PASSWORD"


def studio(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A table, series (--id, --wide, or a folder), or a project (.bayesieve).",
            metavar="[FILE]",
        ),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column with the classes.")] = None,
    port: Annotated[int, typer.Option(help="0: one that is free.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="Where to listen; other machines may connect where it is not this.")
    ] = "127.0.0.1",
    project: Annotated[
        Path | None, typer.Option(help="Save the work here, after every change.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    idle: Annotated[float, typer.Option(help="Minutes without a page until it ends.", min=0)] = 10,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    series_id: Annotated[
        str | None, typer.Option("--id", help="Column that says which series a row belongs to.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="Of series: the column that says when.")] = None,
    value: Annotated[
        list[str] | None, typer.Option(help="Of series: a column of values; repeatable.")
    ] = None,
    channel: Annotated[
        str | None, typer.Option(help="Of series: the column that names the channel of a row.")
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="One row is a whole series.")] = False,
    labels: Annotated[
        Path | None, typer.Option(help="Table of the classes of series, as in signals.")
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="Cut records into windows of so many points.", min=2)
    ] = None,
    stride: Annotated[
        int | None, typer.Option(help="Points from one window to the next.", min=1)
    ] = None,
) -> None:
    """Open a page on this machine: search, pin, strike and swap columns, live."""
    import webbrowser

    from .notebook import MISSING

    try:
        from .bench import Bench
        from .launch import RunningStudio, listen, open_bench
        from .server import Keys
    except ImportError as error:
        raise ImportError(MISSING) from error

    form = None
    of_series = (series_id, time, value, channel, wide, labels, window, stride)
    if file is not None and (any(of_series) or file.is_dir()):
        form = series_form(file, series_id, time, channel, value, wide, (window, stride))
    password = None
    if host not in ("127.0.0.1", "localhost", "::1"):
        tell(
            f"bayesieve: at {host} other machines can reach the studio and all that it shows, over "
            "a line that is not encrypted: they must know a password."
        )
        password = os.environ.get(_PASSWORD) or typer.prompt("password", hide_input=True)
    bench = Bench(jobs)
    file = _beginning(file, project)
    open_bench(bench, file, target, form, labels)
    bench.unsaved = False
    place = listen(host, port)
    keys = Keys(place.getsockname()[1], host, password)
    running = RunningStudio(bench, keys, place, idle=60 * idle, project=project, say=tell).start()
    address = keys.address if password is None else keys.address.split("?")[0]
    say(f"bayesieve studio: {address}\n(Ctrl-C ends it)\n")
    if browser:
        found = False
        with contextlib.suppress(webbrowser.Error):
            found = webbrowser.open(address)
        if not found:
            tell("no browser was found: open the address above in one.")
    try:
        with _asked_to_end():
            running.watch()
    except KeyboardInterrupt:
        running.close()


def _beginning(file: Path | None, project: Path | None) -> Path | None:
    """What to open first; a project that is there is gone on with, and never written over."""
    if project is None:
        return file
    if not project.parent.is_dir():
        raise BadUseError(f"--project {project}: the folder {project.parent} does not exist.")
    if not project.exists():
        return file
    if file is not None and not (file.exists() and file.samefile(project)):
        raise BadUseError(
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
