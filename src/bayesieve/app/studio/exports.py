"""What comes out of a session, by name: each gives what the screen shows, to the bit."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

from ...checks import Foreign
from ...estimators.resident.session import Session
from ...explain.code import to_sql
from ...explain.function import to_python
from ...explain.modelfile.file import save_model
from ...explain.report import make_report
from .table import Chosen


class Export(NamedTuple):
    """A file to hand over."""

    name: str
    kind: str
    content: bytes


def _written(write: Callable[[Path], object], name: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="bayesieve-") as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _report(session: Session, table: Chosen) -> bytes:
    given: Foreign = session.params
    page = make_report(
        session.model(),
        session.X,
        cast(Foreign, session.y),
        title=f"Selection from {table.name}",
        n_resamples=0,
        left_out=dict(table.left_out),
        **given,
    )
    return page.encode()


def code(session: Session, table: Chosen, target: str | None) -> str:
    """The whole program."""
    return f"{table.code(target)}\n\n{session.to_code()}\n"


def command(session: Session, table: Chosen, target: str | None) -> str:
    """The command line, or why there is none."""
    if table.path is None:
        return "# The table came from a notebook: the command line reads files."
    if table.rows_out:
        return "# The command line cannot leave out rows: use the code."
    odd = [name for name, why in table.left_out.items() if "moments" in why]
    if odd:
        return f"# The command line refuses tables with moments, such as {odd[0]!r}: use the code."
    try:
        return session.to_command(table.name, target or "")
    except ValueError as error:
        return "# " + " ".join(str(error).split())


def export(kind: str, session: Session, table: Chosen, target: str | None) -> Export:
    """One of the things that come out."""
    if kind == "report":
        return Export("report.html", "text/html", _report(session, table))
    if kind == "model":
        content = _written(lambda path: save_model(session.model(), path), "model.json")
        return Export("model.json", "application/json", content)
    if kind == "sql":
        return Export("model.sql", "text/plain", to_sql(session.model()).encode())
    if kind == "python":
        return Export("model.py", "text/plain", to_python(session.model()).encode())
    if kind == "code":
        return Export("select.py", "text/plain", code(session, table, target).encode())
    if kind == "project":
        content = _written(session.save, "project")
        return Export("project.bayesieve", "application/zip", content)
    raise ValueError(
        f"export must be one of report, model, sql, python, code or project; got {kind!r}."
    )
