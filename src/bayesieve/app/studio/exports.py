"""What comes out of a session, by name: each gives what the screen shows, to the bit."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

from ...checks import Foreign, choose
from ...data.files.atomic import hidden_folder
from ...estimators.resident.session import Session
from ...estimators.selector import NaiveBayesSelector
from ...explain.code import to_sql
from ...explain.function import to_python
from ...explain.modelfile.file import save_model
from ...explain.report import make_report
from .ruling import Wish, classes_of
from .table import Chosen


class Ruling(NamedTuple):
    """The model of the screen."""

    model: Callable[[], NaiveBayesSelector]
    wish: Wish | None


class Export(NamedTuple):
    """A file to hand over."""

    name: str
    kind: str
    content: bytes


def _written(write: Callable[[Path], object], name: str) -> bytes:
    with hidden_folder(Path(tempfile.gettempdir())) as folder:
        path = folder / name
        write(path)
        return path.read_bytes()


def _report(session: Session, table: Chosen, model: NaiveBayesSelector) -> bytes:
    given: Foreign = session.params
    page = make_report(
        model,
        session.X,
        cast(Foreign, session.y),
        title=f"Selection from {table.name}",
        n_resamples=0,
        left_out=dict(table.left_out),
        signals=table.signals,
        indicators=table.indicators,
        **given,
    )
    return page.encode()


def code(session: Session, table: Chosen, target: str | None, wish: Wish | None) -> str:
    """The whole program."""
    parts = [table.code(target), session.to_code()]
    if wish is not None:
        parts.append(wish.code(classes_of(session)))
    return "\n\n".join([*parts, *table.code_after]) + "\n"


def command(session: Session, table: Chosen, target: str | None) -> str:
    """The command line, or why there is none."""
    if table.path is None:
        return "# The table came from a notebook: the command line reads files."
    if table.signals is not None:
        return "# bayesieve signals chooses among indicators itself: use the code."
    if table.rows_out or table.aside:
        return "# The command line cannot leave out rows: use the code."
    odd = [name for name, why in table.left_out.items() if "moments" in why]
    if odd:
        return f"# The command line refuses tables with moments, such as {odd[0]!r}: use the code."
    try:
        return session.to_command(table.name, target or "")
    except ValueError as error:
        return "# " + " ".join(str(error).split())


def export(
    kind: str, session: Session, table: Chosen, target: str | None, ruling: Ruling
) -> Export:
    """One of the things that come out.

    Parameters
    ----------
    kind : which.
    session, table, target : of what.
    ruling : the model as the screen shows it, and the wish behind its rule.
    """
    if kind == "code":
        content = code(session, table, target, ruling.wish).encode()
        return Export("select.py", "text/plain", content)
    if kind == "project":
        content = _written(session.save, "project")
        return Export("project.bayesieve", "application/zip", content)
    choose("export", kind, ("report", "model", "sql", "python", "code", "project"))
    model = ruling.model()
    if kind == "report":
        return Export("report.html", "text/html", _report(session, table, model))
    if kind == "model":
        content = _written(lambda path: save_model(table.whole(model), path), "model.json")
        return Export("model.json", "application/json", content)
    if kind == "sql":
        return Export("model.sql", "text/plain", to_sql(model).encode())
    return Export("model.py", "text/plain", to_python(model).encode())
