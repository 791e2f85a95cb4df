"""The verb card: a page of whole points from a table."""

from pathlib import Path
from typing import Annotated, cast

from ..data.files.output import check_folder, check_new, output_folder
from ..estimators.card import Card, ScoreCard
from ..explain.modelfile.file import save_model
from .commands import open_model, tell_result
from .options import Data, Option, Settings, tell
from .tables import numbers_with_texts, read_class_weight, read_rows

#: The files of a card.
CARD_FILES = ("card.html", "card.txt", "card.json", "model.json")


def card(
    data: Data,
    settings: Settings,
    lines: Annotated[int, Option("Conditions with points, at most.", low=2)] = 25,
    points: Annotated[int, Option("Points of a line, at most; and minus so many.", low=1)] = 10,
    model: Annotated[
        Path | None, Option("A model file, as written by select: its columns only.", flag="--from")
    ] = None,
) -> None:
    """Make a card of whole points: a page of conditions to add up, and the model behind it."""
    out = cast(Path, settings.out)
    check_folder(out)
    check_new([out / name for name in CARD_FILES], settings.force)
    rows = read_rows(data, settings)
    problem = rows.problem
    if not settings.quiet:
        for name in rows.dropped:
            tell(f"column {name!r} names every row: left out (--identifiers keeps it)")
        for line in numbers_with_texts(problem):
            tell(line)
    forbid = list(settings.forbid or ())
    if model is not None:
        known = {each.name for each in open_model(model)[1]}
        forbid += [name for name in problem.names if name not in known and name not in forbid]
    found = ScoreCard(
        lines=lines,
        points=points,
        forbid=forbid,
        class_weight=read_class_weight(settings.class_weight, problem),
        n_jobs=settings.jobs,
        random_state=settings.seed,
    ).fit(rows.X, rows.y, groups=rows.groups)
    told, title = found.card_, settings.title or f"Card from {data.name}"
    with output_folder(out) as folder:
        for name in CARD_FILES:
            if name == "model.json":
                save_model(found, folder / name)
            else:
                told.save(folder / name, title)
    result = {**told.to_dict(), "folder": str(out), "files": list(CARD_FILES)}
    tell_result(settings, lambda: result, lambda: _in_words(told, out))


def _in_words(card: Card, out: Path) -> str:
    return f"{card.to_text()}\n\nwritten to {out}: {', '.join(CARD_FILES)}\n"
