"""Scores that files name: TOML, which is data, and Python, which is run."""

import json
import runpy
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from ..checks import check_number, choose
from .contract import ScoreFamily
from .indicator import Plain
from .own import Score
from .recipe import score_from_plain
from .scores import SCORES

_KEYS = ("scores", "quantiles", "drop")


class ScoresAsked(NamedTuple):
    """What files of scores ask for; None is the default of `Indicators`."""

    scores: list[ScoreFamily] | None = None
    quantiles: tuple[float, ...] | None = None
    drop: str | None = None


def read_scores(paths: Sequence[str | PathLike[str]]) -> ScoresAsked:
    """Scores of TOML files, and of Python files that register some.

    Parameters
    ----------
    paths : list of paths
        A file that ends in ``.toml`` is data: tables ``[[scores]]`` with the key ``score``, a name
        of the library, or ``own``, a score that a Python file registered; the values of its
        parameters, ``thresholds`` (``"learnt"``: from quantiles), ``rule``, ``levels``,
        ``successive``, ``title`` and ``unit``; and at its top ``quantiles`` and ``drop``, as in
        `Indicators`.  A file that ends in ``.py`` is **run**, with all that a program may do, and
        calls `register_score`.

    Returns
    -------
    asked : ScoresAsked
        ``scores``, ``quantiles``, ``drop``.  Scores of a Python file that no TOML file names come
        last.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bayesieve.indicators import read_scores
    >>> lines = ["[[scores]]", "score = 'slope'", "window = [25]", "unit = 'bar a point'"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.toml")
    ...     _ = path.write_text(chr(10).join(lines))
    ...     asked = read_scores([path])
    >>> asked.scores[0].grid, asked.scores[0].unit
    ({'window': (25,)}, 'bar a point')
    """
    files = [Path(path) for path in paths]
    for path in files:
        if path.suffix not in (".toml", ".py"):
            raise ValueError(
                f"scores: {path.name!r} must end in .toml (which scores, over which grid) or .py "
                "(functions with register_score)."
            )
        if not path.is_file():
            raise ValueError(f"scores: the file {str(path)!r} does not exist (or is no file).")
    # First what is registered, so that the others can name it.
    own = [score for path in files if path.suffix == ".py" for score in run_scores(path)]
    found, named = ScoresAsked(), []
    for path in files:
        if path.suffix == ".toml":
            try:
                mine = _read_toml(path)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path.name}: {error}") from error
            named += mine.scores or []
            found = ScoresAsked(None, mine.quantiles or found.quantiles, mine.drop or found.drop)
    asked = named + [score for score in own if not any(score is each for each in named)]
    return found._replace(scores=asked or None)


def run_scores(path: Path) -> list[ScoreFamily]:
    """Run a Python file; gives the scores that it registered.

    Parameters
    ----------
    path : the file.
    """
    before = dict(SCORES)
    try:
        runpy.run_path(str(path))
    except (Exception, SystemExit) as error:  # a file that leaves would end the command silently
        SCORES.clear()
        SCORES.update(before)
        told = f"{type(error).__name__}: {error}".rstrip(".")
        raise ValueError(f"{path.name} failed: {told}.") from error
    new = {name: score for name, score in SCORES.items() if before.get(name) is not score}
    taken = [name for name in new if name in before and not isinstance(before[name], Score)]
    if taken:
        SCORES.clear()
        SCORES.update(before)
        raise ValueError(
            f"{path.name} registers {taken[0]!r}, which is a score of the library; call the "
            "function otherwise."
        )
    if not new:
        raise ValueError(f"{path.name} registers no score; put @register_score before a function.")
    return list(new.values())


def _read_toml(path: Path) -> ScoresAsked:
    import tomllib

    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"this is no TOML: {error}.") from error
    for key in data:
        choose("a key at the top", key, _KEYS)
    tables = data.get("scores", [])
    if not isinstance(tables, list) or not tables:
        raise ValueError("there is no table [[scores]]; it has one for each score.")
    scores = []
    for i, each in enumerate(tables):
        try:
            json.dumps(each, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"[[scores]] number {i + 1} holds a date or a number that is not finite."
            ) from error
        scores.append(_one(each, i))
    quantiles: Plain = data.get("quantiles")
    if quantiles is not None:
        if not isinstance(quantiles, list) or not quantiles:
            raise TypeError(f"quantiles must be a list of numbers; got {quantiles!r}.")
        for each in quantiles:
            check_number("quantiles", each, low=0.0, high=1.0)
    drop = data.get("drop")
    if drop is not None:
        choose("drop", drop, ["constant", "redundant"])
    return ScoresAsked(scores, None if quantiles is None else tuple(quantiles), drop)


def _one(table: dict[str, Plain], number: int) -> ScoreFamily:
    try:
        return score_from_plain(table)
    except (TypeError, ValueError) as error:
        raise ValueError(f"[[scores]] number {number + 1}: {error}") from error
