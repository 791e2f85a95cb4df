"""What a `WeightedNaiveBayes` is asked for, judged; and its paths, run."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import Array, check_file, check_flag, check_jobs, check_number, choose
from ..data.parts import find_parts, read_mates
from ..data.sample import Sample, check_class_weight, class_factors, read_weights
from ..engine.threads import Threads
from ..models.base import Ints
from ..models.columns import choose_models
from ..models.counts import check_priors
from ..models.registry import MODELS
from ..rankings.families import Families
from ..search.book import TermBook
from ..search.checkpoint.fingerprint import fingerprint
from ..search.checkpoint.weights import WeightJournal
from ..search.coded import N_FOLDS, CodedRows, fold_weights, read_coded
from ..search.inner import Option, choose_option, options_of
from ..search.pairs import MOST_CELLS, MOST_CLASSES
from ..search.progress import WeightsLine
from ..search.run import Clock
from ..search.weighing import Weighing, WeightPlan
from ..search.weights import WeightStep
from .parameters import check_validation
from .weight_plan import read_plan, with_start_pairs

if TYPE_CHECKING:
    from .weighted import WeightedNaiveBayes

# Fewer rows than this are too few to be folded.
_LEAST_ROWS = 12


@dataclass(frozen=True)
class Judged:
    """The judged input of one fit.

    Parameters
    ----------
    problems : rows as codes, with the classes of each problem.
    plan : what to do with them.
    options : ways to fit, the simplest first.
    sample : the rows.
    priors : probabilities of the classes, where they are given.
    shared : one set of terms for all problems?
    progress : is anybody told how far it is?
    checkpoint : the file in which paths are written down, or None.
    prints : fingerprints of all that decides the result.
    families : which column stands for which, where that is known.
    parts : the rows that train and those that decide between options, in place of folds.
    """

    problems: tuple[CodedRows, ...]
    plan: WeightPlan
    options: tuple[Option, ...]
    sample: Sample
    priors: tuple[float, ...] | None
    shared: bool
    progress: bool
    checkpoint: Path | None
    prints: dict[str, str]
    families: Families | None = None
    parts: tuple[Ints, Ints] | None = None


@dataclass(frozen=True)
class WeightedFit:
    """One path: its states, what their terms say, and which problems share it."""

    option: Option
    price: float
    steps: tuple[WeightStep, ...]
    units: tuple[tuple[int, ...], ...]
    book: TermBook
    problems: tuple[int, ...]
    stopped: str | None = None


def judge_parameters(model: "WeightedNaiveBayes") -> None:
    """Judge all that does not depend on the data."""
    check_number("max_terms", model.max_terms, low=1, whole=True)
    if not isinstance(model.pairs, str):
        check_flag("pairs", model.pairs)
    else:
        choose("pairs", model.pairs, ["auto"], beside="True or False")
    if isinstance(model.price, str):
        choose("price", model.price, ["auto"], beside="a number from 0")
    else:
        check_number("price", model.price, low=0.0)
    check_number("pair_price", model.pair_price, low=0.0)
    check_number("ridge", model.ridge, low=0.0, high=1e12)
    smoothing = model.smoothing
    if isinstance(smoothing, str):
        raise ValueError(
            f"smoothing must be a number above 0 here, since rows are left out of counts; got "
            f"{smoothing!r}."
        )
    if check_number("smoothing", smoothing, low=0.0, high=1e12) == 0:
        raise ValueError(
            "smoothing must be above 0 here: no weight tempers an impossible value; got 0."
        )
    check_validation(model.validation)
    choose("missing", model.missing, ["silent", "evidence"])
    check_flag("shared_terms", model.shared_terms)
    check_flag("progress", model.progress)
    check_jobs(model.n_jobs)
    if model.checkpoint is not None:
        check_file("checkpoint", model.checkpoint)
        if model.random_state is None:
            raise ValueError("checkpoint needs random_state, a whole number; got None.")
    if model.time_limit is not None:
        check_number("time_limit", model.time_limit, low=0.0)


def judge_weighted(
    model: "WeightedNaiveBayes",
    sample: Sample,
    groups: Array | None,
    n_rows: int,
    draw: np.random.RandomState,
) -> Judged:
    """Judge everything that depends on the data, and read it.

    Parameters
    ----------
    model : its settings.
    sample : the rows with weight.
    groups : one a row of the user's table, or None.
    n_rows : of the user's table.
    draw : draws the rows that decide, where a share of them does.
    """
    weights = read_weights(sample.weights, sample.table, whole=True).astype(np.int64)
    models = choose_models(model.features, sample.table)
    check_tables(models, sample.table.names)
    labelled = sample.targets.labelled
    if labelled and model.class_weight is not None:
        raise ValueError(
            "class_weight is for classes; y is a matrix of labels. Use class_weight=None."
        )
    n_classes = len(sample.classes)
    given = check_class_weight(model.class_weight, sample.classes)
    class_weight = np.ones(n_classes)
    if given is not None:
        factors = class_factors(given, sample.labels, sample.weights, n_classes)
        class_weight = np.array([float(factor) for factor in factors])
    columns = read_coded(sample, models)
    rows, mates = np.arange(sample.labels.size), read_mates(groups, sample.rows)
    problems = tuple(
        CodedRows(columns, rows, labels, weights, sample.classes, class_weight, mates)
        for labels in np.ascontiguousarray(sample.targets.classes.T)
    )
    numbers = any(spec.on_grid for spec in columns.specs)
    options = options_of(model.pairs, model.price, numbers, mates is not None)
    plan, families = read_plan(model, sample, models, n_classes)
    parts = None
    if model.validation is not None:
        parts = find_parts(model.validation, sample, groups, n_rows, draw)
    return Judged(
        problems,
        plan,
        with_start_pairs(plan, options, columns, n_classes),
        sample,
        read_log_priors(model.priors, n_classes),
        model.shared_terms,
        model.progress,
        None if model.checkpoint is None else check_file("checkpoint", model.checkpoint),
        {} if model.checkpoint is None else _fingerprints(model, problems, groups),
        families,
        parts,
    )


def read_log_priors(given: object, n_classes: int) -> tuple[float, ...] | None:
    """One probability above 0 a class; None: those of the rows."""
    priors = check_priors(given, n_classes)
    if priors is None:
        return None
    shares = np.full(n_classes, 1 / n_classes) if isinstance(priors, str) else priors
    if not (shares > 0).all():
        raise ValueError(f"priors must be above 0 here; got {shares.tolist()}.")
    return tuple(shares.tolist())


def _fingerprints(
    model: "WeightedNaiveBayes", problems: Sequence[CodedRows], groups: Array | None
) -> dict[str, str]:
    """Of all that decides the result, by the name of what it is."""
    free = ("n_jobs", "progress", "checkpoint", "time_limit", "random_state", "engine")
    named = {key: value for key, value in model.get_params().items() if key not in free}
    rows, columns = problems[0], problems[0].columns
    return {
        "X": fingerprint([fingerprint(each) for each in columns.contents()], columns.specs),
        "y": fingerprint([each.labels for each in problems], rows.classes),
        "sample_weight": fingerprint(rows.weights),
        "groups": fingerprint(groups),
        **{key: fingerprint(value) for key, value in named.items()},
    }


def check_tables(models: Sequence[str], names: Sequence[str]) -> None:
    """Weighted terms need tables of counts."""
    for name, model in zip(names, models, strict=True):
        if not MODELS[model].discrete:
            # Models with a number behind them are kinds of the one without.
            known = [k for k, found in MODELS.items() if found.discrete and not k[-1].isdigit()]
            raise ValueError(
                f"column {name!r} is modelled as {model!r}, which has no table of counts; weighted "
                f"terms need one of {', '.join(map(repr, known))}."
            )


def run_weighted(
    judged: Judged, draw: np.random.RandomState, threads: Threads, clock: Clock
) -> list[WeightedFit]:
    """One path for all problems, or one for each."""
    parts = [tuple(range(len(judged.problems)))]
    if not judged.shared:
        parts = [(g,) for g in parts[0]]
    seeds = draw.randint(2**31 - 1, size=len(parts))
    journal = None
    if judged.checkpoint is not None:
        journal = WeightJournal(judged.checkpoint, {**judged.prints, "random_state": str(seeds)})
    line = WeightsLine(len(parts)) if judged.progress else None
    if line is not None:
        judged = replace(judged, plan=replace(judged.plan, told=line.hear))
    try:
        found = [
            _run(judged, part, np.random.RandomState(seed), threads, Watch(clock, journal, line))
            for part, seed in zip(parts, seeds, strict=True)
        ]
    finally:
        if line is not None:
            line.close()
    # Whoever insists on pairs is told where none can be made.
    if all(option.bins for option in judged.options) and not found[0].weighing.pairs:
        words = f"pairs=True: there are none to offer, {_why_no_pairs(judged.problems[0])}."
        warnings.warn(words, UserWarning, stacklevel=3)
    # One model reads the columns of all problems.
    columns = sorted(set().union(*(each.weighing.columns_of(each.steps) for each in found)))
    return [
        WeightedFit(
            each.option,
            each.price,
            tuple(each.steps),
            each.weighing.units,
            each.weighing.book(each.steps, columns),
            part,
            each.stopped,
        )
        for each, part in zip(found, parts, strict=True)
    ]


def _why_no_pairs(rows: CodedRows) -> str:
    if rows.n_classes > MOST_CLASSES:
        return (
            f"since tables of two columns have too many cells for {rows.n_classes} classes (at "
            f"most {MOST_CLASSES})"
        )
    return f"since no two columns that may enter have 4 to {MOST_CELLS} cells together"


class _Walked(NamedTuple):
    """A path, and the rows that it was walked on."""

    option: Option
    price: float
    weighing: Weighing
    steps: list[WeightStep]
    stopped: str | None


class Watch(NamedTuple):
    """What goes along with a fit: the time, the file, and the line that tells how far it is."""

    clock: Clock
    journal: WeightJournal | None
    line: WeightsLine | None


def _run(
    judged: Judged,
    part: tuple[int, ...],
    draw: np.random.RandomState,
    threads: Threads,
    watch: Watch,
) -> _Walked:
    clock, journal, line = watch
    problems, name = [judged.problems[g] for g in part], str(part[0])
    option = None if journal is None else journal.option(name)
    if option is None:
        option = _choose(judged, problems, draw, threads, watch)
        if journal is not None and clock.left > 0:
            journal.decided(name, option)
    weighing = Weighing(problems, judged.plan, option.bins, threads)
    price = option.amount(weighing.n_candidates, problems[0].groups is not None)
    greedy = weighing.greedy(price)
    steps = [] if journal is None else journal.resume(name, greedy)
    if line is not None:
        line.begin_path(min(judged.plan.most, weighing.n_candidates + len(judged.plan.kept)))
    stopped = None
    try:
        for step in greedy.steps():
            steps.append(step)
            if journal is not None and journal.option(name) is not None:
                journal.took(name, steps, greedy)
            if clock.left <= 0:
                stopped = f"time_limit={clock.limit}"
                break
    except KeyboardInterrupt:
        # Nothing to choose from: an interrupt like any other.
        if not steps:
            raise
        stopped = "Ctrl-C"
    finally:
        if journal is not None:
            journal.close()
    if line is not None:
        line.made()
    return _Walked(option, price, weighing, steps, stopped)


def _choose(
    judged: Judged,
    problems: Sequence[CodedRows],
    draw: np.random.RandomState,
    threads: Threads,
    watch: Watch,
) -> Option:
    """What folds within the rows decide; the cautious way where there are too few rows."""
    strata, options = judged.sample.strata, judged.options
    rows = problems[0]
    if judged.parts is not None:
        return _choose_on(judged.parts, problems, judged, threads, watch)
    few = rows.weights.sum() < _LEAST_ROWS
    if few or (rows.groups is not None and rows.groups.max() + 1 < 2 * N_FOLDS):
        cautious = [each for each in options if each.price is None] or list(options)
        return cautious[0]
    folds = fold_weights(rows, strata, draw, rows.groups)
    return _choose_by(folds, problems, judged, threads, watch)


def _choose_on(
    parts: tuple[Ints, Ints],
    problems: Sequence[CodedRows],
    judged: Judged,
    threads: Threads,
    watch: Watch,
) -> Option:
    """What some rows decide, others having trained; rows of neither part are left out."""
    weights = problems[0].weights
    used, held_out = np.zeros_like(weights), np.zeros_like(weights)
    held_out[parts[1]] = weights[parts[1]]
    used[np.concatenate(parts)] = weights[np.concatenate(parts)]
    some = [rows.weighted(used) for rows in problems]
    return _choose_by([held_out[used > 0]], some, judged, threads, watch)


def _choose_by(
    folds: Sequence[Ints],
    problems: Sequence[CodedRows],
    judged: Judged,
    threads: Threads,
    watch: Watch,
) -> Option:
    """What folds decide; somebody may be told of each."""
    options = judged.options
    if watch.line is not None and len(options) > 1:
        watch.line.begin_folds(len(folds) * len({option.bins for option in options}))

    def pause() -> bool:
        if watch.line is not None:
            watch.line.walked()
        return watch.clock.left <= 0

    def late() -> bool:
        return watch.clock.left <= 0

    return choose_option(problems, judged.plan, options, folds, threads, pause, late)
