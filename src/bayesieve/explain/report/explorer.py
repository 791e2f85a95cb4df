"""Data of the decision explorer: the model and its rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...checks import plain_value
from ...data.columns import encode, is_missing, to_codes
from ...data.result import Section
from ...data.series import SeriesTable, read_series_table
from ...data.tables import Table
from ...estimators.base import ChosenColumns, procedure_of
from ...estimators.naive_bayes import fitted_of, rows_of
from ...evaluation._typing import Model
from ...evaluation.decide import novelty_of
from ...indicators.transformer import Indicators
from ...models.base import Ints
from ...models.fitted import FittedBayes, FittedProblem
from ..model import ModelExplanation, explain_model, speaks
from ..portable import BellTerms, Portable, PortableFeature, PortableProblem, TableTerms, portable
from ..shapes import shape_of
from .sections import rule_data

if TYPE_CHECKING:
    from .content import Extras

MOST_ROWS = 1000

_MOST_CELLS = 40_000  # a page of many features holds fewer rows

_MOST_SIGNALS, _MOST_SHAPES = 60, 25

_MOST_POINTS = 400  # of a signal in the page


def choosing_rows(model: Model) -> Ints | None:
    """Rows that only chose among subsets; None where a model has no such part."""
    parts = procedure_of(model).row_parts if isinstance(model, ChosenColumns) else None
    return None if parts is None else parts[1]


def embedded_rows(
    choosing: Ints | None,
    fitted: FittedBayes,
    shown: list[PortableFeature],
    table: Table,
    y: ArrayLike,
    extras: "Extras",
) -> Section | None:
    """A sample of the rows: position, truth, part, and the values the model reads.

    Parameters
    ----------
    choosing : rows that only chose, or None.
    fitted : the model.
    shown : its features as the page has them.
    table, y : the rows, with the model's columns.
    extras : what is asked for.
    """
    if not extras.include_rows:
        return None
    series = None
    if extras.signals is not None:
        read = read_series_table if extras.indicators is None else extras.indicators.read
        series = read(extras.signals)
    draw = np.random.RandomState(extras.random_state)
    most = min(MOST_ROWS, max(_MOST_CELLS // max(len(fitted.specs), 1), 50))
    at = _draw(choosing, table.n_rows, most, draw)
    wanted = np.array(extras.wanted, np.int64)
    at = np.union1d(at, wanted)
    truth = np.asarray(y)
    validation = np.isin(np.arange(table.n_rows), () if choosing is None else choosing)
    return {
        "n_rows": table.n_rows,
        "at": at.tolist(),
        "truth": truth[at].astype(int).tolist()
        if truth.ndim > 1
        else [*map(plain_value, truth[at])],
        "validation": validation[at].tolist(),
        "values": _values(fitted, shown, table, at),
        "novelty": None if fitted.usual is None else _points(novelty_of(fitted, table.take(at))),
        "signals": _signals(fitted, wanted, at, validation, series, extras.indicators),
        "channels": [] if series is None else list(series.channels),
        "spoken": _spoken(fitted, extras.indicators),
    }


def _draw(choosing: Ints | None, n_rows: int, most: int, draw: np.random.RandomState) -> Ints:
    """All rows where they are few; else as many of the validation part as fit into a half."""
    if n_rows <= most:
        return np.arange(n_rows)
    first = np.empty(0, np.int64)
    if choosing is not None and choosing.size:
        first = draw.permutation(choosing)[: most // 2]
    rest = np.setdiff1d(np.arange(n_rows), first)
    return np.sort(np.concatenate([first, draw.permutation(rest)[: most - first.size]]))


def _values(
    fitted: FittedBayes, shown: list[PortableFeature], chosen: Table, at: Ints
) -> list[list[float | None]]:
    """Values of each column: positions of levels (None: missing, -1: never seen), or numbers."""
    found: list[list[float | None]] = []
    for j, spec in enumerate(fitted.specs):
        raw = chosen.column(j)[at]
        levels = shown[j]["levels"]
        if spec.on_grid:  # numbers in seven digits, where they say the same
            short = np.array([float(f"{value:.7g}") for value in raw])
            raw = np.where(encode(spec, short) == encode(spec, raw), short, raw)
        if levels is None:
            found.append([None if value != value else float(value) for value in raw])
        elif spec.levels is None:  # no closed form: a table of the values seen
            codes = to_codes(np.array(levels), raw)
            found.append([-1 if code == len(levels) else int(code) for code in codes])
        else:
            codes, missing = encode(spec, raw), is_missing(raw)
            last = spec.n_codes - 1
            found.append(
                [
                    None if gone else -1 if code == last else int(code)
                    for code, gone in zip(codes, missing, strict=True)
                ]
            )
    return found


def _signals(
    fitted: FittedBayes,
    wanted: Ints,
    at: Ints,
    validation: NDArray[np.bool_],
    table: SeriesTable | None,
    indicators: Indicators | None,
) -> dict[int, Section] | None:
    """Series of some embedded rows, and where in them each indicator of the model fired."""
    if table is None:
        return None
    pool = at[validation[at]] if validation[at].any() else at
    found: dict[int, Section] = {}
    known = set() if indicators is None else set(indicators.names_)
    names = {j: spec.name for j, spec in enumerate(fitted.specs) if spec.name in known}
    for i in np.concatenate([wanted, pool[:_MOST_SIGNALS]]):
        series = table[int(i)]
        fired = {}
        if indicators is not None:
            spans = indicators.fired(series, list(names.values()))
            fired = {j: spans[name] for j, name in names.items() if spans[name]}
        length = max(values[0].size for values in series.values)
        step = max(1, length // _MOST_POINTS)
        ends = None
        if series.times is not None:  # when the first and the last point were taken
            times = series.times[0]
            ends = [str(plain_value(time)) for time in (*times[:1], *times[-1:])]
        found[int(i)] = {
            "points": [_points(values[0][::step]) for values in series.values],  # of each channel
            "step": step,
            "length": length,
            "times": ends,
            "fired": fired,
        }
    return found


def _points(values: NDArray[np.float64]) -> list[float | None]:
    """Values in four digits; None where one is missing."""
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values]


def _spoken(fitted: FittedBayes, indicators: Indicators | None) -> dict[int, Section]:
    """What the indicators among the features say."""
    if indicators is None:
        return {}
    known = {each.id: each for each in indicators.indicators_}
    return {
        j: {
            "sentence": known[spec.name].sentence,
            "channels": [indicators.channels_.index(name) for name in known[spec.name].channels],
        }
        for j, spec in enumerate(fitted.specs)
        if spec.name in known
    }


# -- What an explorer of decisions reads -----------------------------------------------------------


def explorer_data(model: Model, X: object, y: ArrayLike, extras: "Extras") -> dict[str, object]:
    """What the scripts of a report read to explore decisions, and nothing else.

    Parameters
    ----------
    model : fitted.
    X, y : rows to look at, and their classes.
    extras : rows that are wanted, and the series behind them.
    """
    fitted = fitted_of(model)
    spoken = portable(fitted, by_values=True)
    whole = [explain_model(model, label=label) for label in fitted.labels or (None,)]
    models = [each.to_dict() for each in whole]
    mine = rows_of(model, X)
    rows = embedded_rows(choosing_rows(model), fitted, spoken["features"], mine, y, extras)
    return {
        "portable": in_nat(spoken, fitted),
        "rules": [rule_data(problem) for problem in fitted.problems],
        "sources": sources_of(models),
        "rows": rows,
        "told": models,
        "shapes": _shapes(whole[0]),
    }


def _shapes(whole: ModelExplanation) -> list[tuple[str, str]]:
    """Names and pictures of the terms that say most."""
    ranked = sorted(zip(whole.shares, whole.features, strict=True), key=lambda pair: -pair[0])
    shown = [each for _, each in ranked if speaks(each.source)][:_MOST_SHAPES]
    return [(each.feature, shape_of(whole, each)) for each in shown]


def sources_of(models: Sequence[Section]) -> list[list[list[object]]]:
    """The counts, or the moments, behind each feature of each model."""
    return [[[each["counts"], each["source"]] for each in model["features"]] for model in models]


def in_nat(data: Portable, fitted: FittedBayes) -> Section:
    """Integers beyond 2^53 do not survive in a page: terms in nat, and log 0 marked apart."""
    return {
        "features": data["features"],
        "problems": [
            _problem_in_nat(problem, [f["cuts"] is not None for f in data["features"]], each)
            for problem, each in zip(data["problems"], fitted.problems, strict=True)
        ],
    }


def _problem_in_nat(
    problem: PortableProblem, on_grid: list[bool], fitted: FittedProblem
) -> Section:
    bits, impossible = problem["bits"], problem["impossible"]

    def nat(fixed: int) -> list[float]:
        never = bool(impossible) and fixed <= -impossible // 2
        return [float(np.ldexp(fixed + impossible * never, -bits)), int(never)]

    def terms(found: TableTerms | BellTerms, steps: bool) -> Section | BellTerms:
        if "table" not in found:
            return found
        silent = [nat(fixed) for fixed in found["silent"]]
        if steps and not impossible:
            # Whole numbers that are small where neighbours are near: a third of the letters.
            whole = np.rint(np.ldexp(np.array(found["table"], float), -bits) * 1e10)
            lines = np.diff(whole, axis=0, prepend=0).T.astype(int).tolist()
            return {"steps": lines, "silent": silent}
        table = [[nat(fixed) for fixed in row] for row in found["table"]]
        return {"table": table, "silent": silent}

    return {
        "name": problem["name"],
        "classes": problem["classes"],
        "class_count": problem["class_count"],
        "temperature": problem["temperature"],
        "prior": [nat(fixed) for fixed in problem["prior"]],
        "shares": fitted.shares.tolist(),
        "terms": [terms(*both) for both in zip(problem["terms"], on_grid, strict=True)],
        "rows": [_rows(fitted, j) for j in range(len(on_grid))],
        "pairs": [
            {
                "rows": mine.counts.sum(-1).ravel().tolist(),
                "columns": pair["columns"],
                "groups": pair["groups"],
                "table": [[nat(fixed) for fixed in row] for row in pair["table"]],
            }
            for pair, mine in zip(problem["pairs"], fitted.pairs, strict=True)
        ],
    }


def _rows(problem: FittedProblem, j: int) -> list[float | None] | None:
    """Training rows of each code, missing last; None of what nobody has seen, and of a curve."""
    spec = problem.specs[j]
    if spec.levels is None:
        return None
    known = problem.summary.statistics[j][0].sum(-1).tolist()
    named = problem.columns[j].model.nominal and spec.model != "bernoulli"
    return [n if n or not named else None for n in known]
