"""Scores as plain data, for files: what they are and over which grid, never code."""

from collections.abc import Mapping
from dataclasses import fields

from ..checks import choose
from .contract import ScoreFamily
from .indicator import Plain
from .library import LIBRARY
from .scores import SCORES
from .traces import TraceScore
from .window_scores import WindowScores

#: What files write for thresholds that come from quantiles.
LEARNT = "learnt"

_TRACE_KEYS = ("thresholds", "rule", "levels", "successive", "title", "unit")


def score_to_plain(score: ScoreFamily) -> dict[str, Plain]:
    """A score as texts, numbers, lists and dicts; one that a user wrote only by its name.

    Examples
    --------
    >>> from bayesieve.indicators import SCORES, score_to_plain
    >>> score_to_plain(SCORES["spikes"].over(thresholds=[4.0]))["thresholds"]
    [4.0]
    """
    if isinstance(score, WindowScores):
        told = {each.name: getattr(score, each.name) for each in fields(score)}
        return {"score": "windows", **{key: _plain(value) for key, value in told.items()}}
    if isinstance(score, TraceScore) and score.name in LIBRARY:
        told = {key: _plain(getattr(score, key)) for key in _TRACE_KEYS}
        return {"score": score.name, **{k: list(v) for k, v in score.grid.items()}, **told}
    for name, known in SCORES.items():
        if known is score:
            return {"own": name}
    raise ValueError(
        f"scores: {score!r} cannot be written down, since it has no name. Put register_score "
        "before the function, or an entry in SCORES."
    )


def score_from_plain(data: Mapping[str, Plain]) -> ScoreFamily:
    """The score that plain data names, over its grid; what is left out stays as in the library.

    Thresholds that are None, or ``"learnt"``, come from quantiles.

    Examples
    --------
    >>> from bayesieve.indicators import score_from_plain
    >>> score_from_plain({"score": "slope", "window": [25], "unit": "bar a point"}).grid
    {'window': (25,)}
    """
    if not isinstance(data, Mapping) or ("own" in data) == ("score" in data):
        raise ValueError(
            f"a score must be a table with the key 'score' (or 'own', for one of yours); got "
            f"{data!r}."
        )
    given = dict(data)
    if "own" in given:
        name = given.pop("own")
        for key in given:
            choose("a key of an own score", key, ["own"])
        if name not in SCORES:
            raise ValueError(
                f"the score {name!r} is a function that somebody wrote, and is referred to by name "
                "only. Run the file that registers it (register_score) first."
            )
        return SCORES[name]
    name = given.pop("score")
    choose("score", name, ["windows", *LIBRARY])
    if name == "windows":
        allowed = [each.name for each in fields(WindowScores)]
        for key in given:
            choose("a key of the score 'windows'", key, allowed)
            _need_list(name, key, given[key])
        return WindowScores(**{key: _frozen(value) for key, value in given.items()})
    score = LIBRARY[name]
    if given.get("thresholds") == LEARNT:
        given["thresholds"] = None
    for key, value in given.items():
        choose(f"a key of the score {name!r}", key, [*score.grid, *_TRACE_KEYS])
        if key not in ("rule", "title", "unit"):
            _need_list(name, key, value)
        elif not isinstance(value, str):
            raise TypeError(f"{key} of the score {name!r} must be a text; got {value!r}.")
    return score.over(**{"thresholds": score.thresholds, **given})


def _need_list(name: str, key: str, value: Plain) -> None:
    """A list, or None where something is to be learnt."""
    if not isinstance(value, list | None):
        hint = f" or {LEARNT!r}" if key == "thresholds" else ""
        raise TypeError(f"{key} of the score {name!r} must be a list{hint}; got {value!r}.")


def _plain(value: Plain) -> Plain:
    """Lists for tuples."""
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _frozen(value: Plain) -> Plain:
    """Tuples for lists."""
    return tuple(_frozen(each) for each in value) if isinstance(value, tuple | list) else value
