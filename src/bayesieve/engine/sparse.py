"""Ledgers of sparse columns: only rows with a value are updated."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..checks import Array, Bools, check_memory
from ..data.columns import ColumnSpec
from ..data.kernels.options import ROW_KINDS
from ..data.sample import Targets
from ..data.storage import Moves
from ..models.base import (
    Floats,
    Grid,
    Ints,
    ModelSettings,
    Run,
    Scale,
    Statistics,
    Terms,
    TrainingSets,
    in_units_of_scale,
    run_alone,
)
from ..models.columns import build_columns
from ..models.counts import binary_mean, prior_terms
from ..models.registry import MODELS
from ..models.votes import count_votes, votes_for, voting_problems
from .contract import ROW_MEASURES, SIGNS, Ledger, Measure, Offers, Outline, Scores, Units, sign_of
from .kernels.arrays import EntryArrays, StrataArrays, UnitArrays
from .threads import Threads

# Beyond this share of moved lines, sorting anew is cheaper than merging.
_MERGE = 0.25


class Strata:
    """Lines of each problem and fold in ascending order of their scores, kept up to date."""

    def __init__(self, classes: Ints, weights: Ints, ends: Ints):
        n_lines, n_groups = classes.shape
        room = n_lines + ends.size
        counts = np.int32 if int(weights.sum()) < 2**31 else np.int64
        self._truth = np.ascontiguousarray(classes.T.astype(np.uint8))
        self._order = np.tile(np.arange(n_lines, dtype=np.int32), (n_groups, 1))
        self.arrays = StrataArrays(
            ends,
            weights,
            np.zeros((n_groups, room), np.int64),
            np.zeros((n_lines, n_groups), np.int32),
            np.zeros((n_groups, ends.size), np.int64),
            np.zeros((n_groups, room), counts),
            np.zeros((n_groups, room), counts),
        )
        self._pairs = np.zeros((n_groups, ends.size), np.int64)
        self._begun = False

    def pairs(self, sums: Ints, moved: list[Array]) -> Ints:
        """Doubled number of concordant pairs as the sums are now: problems x folds.

        Lines that have `moved` since this was asked last are forgotten afterwards.
        """
        if moved or not self._begun:
            gone, n_lines = None, self._order.shape[1]
            if self._begun and sum(lines.size for lines in moved) < _MERGE * n_lines:
                gone = np.zeros(n_lines, bool)
                gone[np.concatenate(moved)] = True
            self._sort(sums, gone)
            self._begun = True
            moved.clear()
        return self._pairs

    def _sort(self, sums: Ints, gone: Bools | None) -> None:
        """Sort lines that have changed, or all (None) where that is cheaper."""
        from .kernels.sparse import merge_moved, tally

        found = self.arrays
        starts = np.append(0, found.ends[:-1])
        for g, scores in enumerate(sums):
            seats = (found.distinct[g], found.seats[:, g], found.negatives[g], found.positives[g])
            for s, (start, end) in enumerate(zip(starts, found.ends, strict=True)):
                order = self._order[g]
                if gone is not None:
                    moved = (start + np.flatnonzero(gone[start:end])).astype(np.int32)
                    moved = moved[np.argsort(scores[moved], kind="stable")]
                    merge_moved(order, gone, moved, scores, start, end)
                else:
                    order[start:end] = start + np.argsort(scores[start:end], kind="stable")
                mine = (start, end, start + s, *seats)
                found.n_distinct[g, s], self._pairs[g, s] = tally(
                    order, scores, self._truth[g], found.weights, *mine
                )


# -- The rows behind a sparse ledger, and the integer terms of naive Bayes for them ----------------


@dataclass(frozen=True)
class Scoring:
    """Which rows train each set of tables, and which lines read it."""

    training: Ints  #: the rows that train
    left_out: tuple[Ints, ...]  #: positions in `training` that each set leaves out
    rows: Ints  #: the row behind each line, sorted by set
    ends: Ints  #: last line of each set, plus one

    @property
    def sets(self) -> Ints:
        """The set that each line reads."""
        sizes = np.diff(self.ends, prepend=0)
        return np.repeat(np.arange(self.ends.size), sizes).astype(np.int64)


@dataclass(frozen=True)
class SparseProblem:
    """Rows in sparse form, what they belong to, and which of them are scored."""

    moves: Moves  #: all rows, sparse
    #: the columns; numbers behind the codes of continuous ones (None for others)
    specs: Sequence[ColumnSpec]
    values: Sequence[Array | None]
    targets: Targets  #: classes or labels, and how often each row counts
    weights: Floats
    scoring: Scoring  #: which rows train and which are scored
    class_weight: Floats  #: weight of each class in the counts

    @cached_property
    def trained(self) -> Targets:
        """What the training rows belong to."""
        return self.targets.take(self.scoring.training)

    @property
    def training_weights(self) -> Floats:
        """How often each training row counts."""
        return self.weights[self.scoring.training]

    def sets_of(self, classes: Ints, class_weight: Floats) -> TrainingSets:
        """Training sets by stratum of the training rows."""
        scoring = self.scoring
        return TrainingSets(
            classes, self.training_weights, scoring.left_out, class_weight, scoring.training
        )

    def statistics(self, f: int, problem: int) -> Statistics:
        """Statistics of a column that is not binary, for one class problem."""
        spec, values = self.specs[f], self.values[f]
        column = self.moves.column(f)[self.scoring.training]
        sets = self.sets_of(self.trained.classes[:, problem], self.class_weight)
        numbers = column if values is None else values[column]
        return MODELS[spec.model].statistics(numbers, spec.n_codes, sets)

    def binary_counts(self, at: Ints, totals: Floats) -> Floats:
        """Counts of binary columns: columns x sets x codes x class columns."""
        from ..data.kernels.exact import count_moves

        moves, trained = self.moves, self.trained
        entries = moves.of_rows(self.scoring.training)
        left_at, left_sets = sets_of_rows(self.scoring.left_out, self.scoring.training.size)
        counts = np.empty((moves.codes.size, *totals.shape))
        count_moves(
            entries.pointers,
            entries.lines,
            entries.kinds,
            moves.first,
            trained.member,
            self.training_weights,
            left_at,
            left_sets,
            counts,
        )
        found = np.zeros((at.size, totals.shape[0], 3, totals.shape[1]))
        found[np.arange(at.size), :, moves.usual[at]] = totals
        rows, of = moves.rows_of(at)
        found[of, :, moves.codes[rows]] += counts[rows]
        where: Any = (of, slice(None), moves.usual[at[of]])
        np.subtract.at(found, where, counts[rows])
        return found

    def vote_counts(self, classes: Ints) -> Floats:
        """Counts of binary columns by two classes: sets x columns x codes x 2."""
        training, found = self.scoring.training, []
        for left_out in self.scoring.left_out:
            at = np.delete(np.arange(training.size), left_out)
            weights = self.weights[training[at]]
            found.append(count_votes(self.moves, training[at], weights, classes[at]))
        return np.stack(found)


class SparseTables(NamedTuple):
    """Integer terms of sparse columns: of the usual value, and by how much the others move.

    Scores are log-odds of each problem where all have two classes, else one a class.
    """

    offset: Ints  #: the prior, sets x scores
    base: Ints  #: of the usual value, columns x sets x scores
    delta: Ints  #: of each other value of each column: delta rows x sets x scores
    scale: Scale


# Arrays of the size of all terms while they are made: of binary columns, of others.
_OF_BINARY, _OF_OTHERS = 5, 3


def bayes_tables(
    problem: SparseProblem,
    settings: ModelSettings,
    priors: str | Floats | None,
    run: Run = run_alone,
) -> SparseTables:
    """Terms of naive Bayes: what the usual value says, and by how much the others move.

    Class weights are the problem's.
    """
    trained, specs, moves = problem.trained, problem.specs, problem.moves
    class_weight = np.tile(problem.class_weight, trained.n_groups)
    weights = problem.training_weights
    totals = np.stack([_class_counts(trained, weights, at) for at in problem.scoring.left_out])
    n_sets = len(totals)
    is_binary = np.array([spec.model == "bernoulli" for spec in specs], bool)
    binary, others = np.flatnonzero(is_binary), np.flatnonzero(~is_binary).tolist()
    _check_room(problem, totals.size, others)
    counts = problem.binary_counts(binary, totals)

    def make(bits: int) -> tuple[tuple[Terms, Terms, dict[int, Terms]], Scale]:
        """Terms of the binary columns, of the prior (sets x class columns), of each other one."""
        means = None
        if settings.smoothing == "mean":
            means = binary_mean(list(counts), counts.shape[1], counts.shape[3])
        told = class_weight, means, bits, settings.silent_constants
        mine = ModelSettings(settings.smoothing, None, *told)
        # All binary columns at once: columns x sets x codes x class columns.
        spoken = MODELS["bernoulli"].terms(counts, np.arange(3), Grid(), mine)
        shaped = totals.reshape(n_sets, -1, trained.n_classes)
        found = prior_terms(shaped, priors, problem.class_weight, bits)
        never = found.impossible
        flat = found.finite.reshape(n_sets, -1)
        prior = Terms(flat, None if never is None else never.reshape(n_sets, -1))
        exact = replace(settings, class_weight=problem.class_weight, bits=bits)
        told_alone = _other_terms(problem, others, exact, run)
        alone = [prior, *told_alone.values()]
        largest = np.abs(spoken.finite).max((1, 2, 3), initial=0.0)
        of_prior, *rest = (np.abs(each.finite).max(initial=0.0) for each in alone)
        bounds = [of_prior, *largest, *rest]
        n_impossible = sum(each.impossible is not None for each in alone)
        if spoken.impossible is not None:
            n_impossible += int(spoken.impossible.any((1, 2, 3)).sum())
        # Differences of two sums must fit too.
        scale = Scale.for_terms([2 * bound for bound in bounds], 2 * n_impossible)
        return (spoken, prior, told_alone), scale

    (spoken, prior, told_alone), scale = in_units_of_scale(make)

    def fixed(terms: Terms) -> Ints:
        """From class columns to what the sums hold (last axis)."""
        whole = scale.fix(terms)
        return whole[..., 1::2] - whole[..., ::2] if trained.odds else whole

    # Integers of the usual values, and the differences of the others.
    width = trained.n_groups if trained.odds else trained.n_classes
    base = np.empty((moves.n_columns, n_sets, width), np.int64)
    delta = np.empty((moves.codes.size, n_sets, width), np.int64)
    of_binary = fixed(spoken)
    base[binary] = of_binary[np.arange(binary.size), :, moves.usual[binary]]
    rows, of = moves.rows_of(binary)
    delta[rows] = of_binary[of, :, moves.codes[rows]] - base[binary[of]]
    for f, terms in told_alone.items():
        table = fixed(terms)
        mine = slice(moves.first[f], moves.first[f + 1])
        base[f] = table[:, moves.usual[f]]
        delta[mine] = table[:, moves.codes[mine]].swapaxes(0, 1) - base[f]
    return SparseTables(fixed(prior), base, delta, scale)


def _check_room(problem: SparseProblem, n_totals: int, others: list[int]) -> None:
    """Refuse tables that would not fit into memory."""
    specs, n_groups = problem.specs, problem.trained.n_groups
    n_codes = 0
    for f in others:
        values = problem.values[f]
        n_codes += specs[f].n_codes if values is None else values.size
    n_copied = _OF_BINARY * 3 * (len(specs) - len(others)) + _OF_OTHERS * n_codes
    what = f"{n_groups} labels" if n_groups > 1 else "all classes"
    check_memory(
        f"the tables of {len(specs)} columns for {what}",
        8 * n_totals * n_copied,
        "use fewer labels, classes, columns or folds",
    )


def _class_counts(trained: Targets, weights: Floats, left_out: Ints) -> Floats:
    """Weight of every class column over the training rows but these."""
    kept = np.delete(weights, left_out)
    counts = np.zeros(trained.n_groups * trained.n_classes)
    for column in np.delete(trained.member, left_out, axis=0).T:
        counts += np.bincount(column, kept, counts.size)
    return counts


def _other_terms(
    problem: SparseProblem, others: list[int], settings: ModelSettings, run: Run
) -> dict[int, Terms]:
    """Terms of columns that are not binary: sets x codes x class columns, problem by problem."""
    specs, trained, n_sets = problem.specs, problem.trained, len(problem.scoring.left_out)
    n_groups = trained.n_groups
    parts: dict[tuple[int, int], Terms] = {}

    def task(lo: int, hi: int) -> None:
        for item in range(lo, hi):
            f, g = others[item // n_groups], item % n_groups
            spec, values = specs[f], problem.values[f]
            codes = np.arange(spec.n_codes) if values is None else values
            given = [spec], [problem.statistics(f, g)], settings, n_sets
            parts[f, g] = build_columns(*given)[0].of(codes)

    # Before a column on a grid can speak: pairs of codes.
    work = sum(specs[f].n_codes ** 2 for f in others if specs[f].on_grid)
    run(task, len(others) * n_groups, n_sets * work * trained.n_classes * n_groups)
    return {f: _side_by_side([parts.pop((f, g)) for g in range(n_groups)]) for f in others}


def _side_by_side(parts: list[Terms]) -> Terms:
    """Terms of several problems as those of one (last axis)."""
    finite = np.concatenate([part.finite for part in parts], axis=-1)
    if all(part.impossible is None for part in parts):
        return Terms(finite)
    never = [
        np.zeros(part.finite.shape, bool) if part.impossible is None else part.impossible
        for part in parts
    ]
    return Terms(finite, np.concatenate(never, axis=-1))


def sets_of_rows(left_out: tuple[Ints, ...], n_rows: int) -> tuple[Ints, Ints]:
    """The sets that leave out each row: where each row's part starts, and the sets."""
    rows = np.concatenate([*left_out, np.empty(0, np.int64)]).astype(np.int64)
    sets = np.repeat(np.arange(len(left_out)), [part.size for part in left_out])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n_rows + 1))
    return starts.astype(np.int64), sets[order].astype(np.int64)


# -- Votes as integer terms of a sparse ledger -----------------------------------------------------


def vote_tables(problem: SparseProblem, rare: bool) -> SparseTables:
    """All terms are 0 or 1; which value votes is learnt on the training rows of each set."""
    moves, trained = problem.moves, problem.trained
    votes = [
        [votes_for(counts, rare) for counts in problem.vote_counts(classes)]
        for classes in voting_problems(trained, rare)
    ]
    # Problems x sets x columns, to columns x sets x labels.
    by_set = np.array(votes, np.int64).transpose(2, 1, 0)
    if rare:
        by_set = np.repeat(by_set, trained.n_groups, axis=2)
    owner = np.repeat(np.arange(moves.n_columns), np.diff(moves.first))
    base = (moves.usual[:, None, None] == by_set).astype(np.int64)
    delta = (moves.codes[:, None, None] == by_set[owner]) - base[owner]
    offset = np.zeros(by_set.shape[1:], np.int64)
    return SparseTables(offset, base, delta, Scale(0, 0, float(moves.n_columns)))


# -- The sparse ledger -----------------------------------------------------------------------------


# Moved lines on one side that are compared with the other side one by one.
_FEW = 16


class MovedLines(Ledger):
    """Lines of sparse columns, their sums, and what follows from these whoever has the columns."""

    def __init__(
        self,
        problem: SparseProblem,
        tables: SparseTables,
        factors: tuple[int, ...],
        lines: Ints | None = None,
    ):
        self._tables = tables
        scored = problem.scoring
        every = np.arange(scored.rows.size) if lines is None else lines
        self._rows, self._sets = scored.rows[every], scored.sets[every]
        self._ends = np.searchsorted(self._sets, np.arange(scored.ends.size), side="right")
        self._targets: Targets = problem.targets.take(self._rows)
        self._weights = problem.weights[self._rows].astype(np.int64)
        self.outline = Outline(
            self._targets.n_classes,
            self._targets.names,
            self._targets.labelled,
            factors,
            tables.scale.bits,
            tables.scale.bound,
        )
        pairs = ("pairs",) if self.outline.odds else ()
        self.offers = Offers((*ROW_MEASURES, *pairs))
        self._offset = tables.offset
        self._sums = np.zeros((tables.offset.shape[1], self._rows.size), np.int64)

    def totals(self) -> Ints:
        """Weight of the lines: problems x folds x classes."""
        found = np.zeros(
            (self._targets.n_groups, self._ends.size, self.outline.n_classes), np.int64
        )
        for g, classes in enumerate(self._targets.classes.T):
            np.add.at(found[g], (self._sets, classes), self._weights)
        return found

    def _scores(self, sums: Ints, offset: Ints) -> Iterator[Scores]:
        """All lines at once; of log-odds, the first class stands at 0."""
        whole = sums + offset[self._sets].T
        if self._targets.odds:
            found = np.stack([np.zeros_like(whole), whole], axis=-1)
        else:
            found = whole.T[None]
        yield Scores(self._rows, self._sets, self._weights, self._targets.classes.T, found)


class SparseLedger(MovedLines):
    """Integer sums for sparse columns: log-odds of each label, or a sum for each class.

    A column has a usual value; lines with another value move by the difference.  What the usual
    value says is the same for all lines of a table set and is kept once, in the offset.
    """

    def __init__(
        self,
        problem: SparseProblem,
        tables: SparseTables,
        factors: tuple[int, ...],
        threads: Threads,
        lines: Ints | None = None,
    ):
        super().__init__(problem, tables, factors, lines)
        self._problem, self._threads = problem, threads
        entries = problem.moves.of_rows(self._rows)
        self._entries = EntryArrays(
            entries.pointers,
            entries.lines,
            entries.kinds,
            problem.moves.first,
            self._sets,
            tables.base,
            tables.delta,
        )
        self._moved: list[Array] = []  # lines, since the strata were sorted
        self._strata: Strata | None = None

    def cut(self, n_parts: int) -> list["SparseLedger"]:
        """Several ledgers of these lines, each with all lines of its rows; none is empty."""
        found = []
        distinct = np.unique(self._rows)
        given = self._problem, self._tables, self.outline.factors, self._threads
        for part in np.array_split(distinct, min(n_parts, distinct.size)):
            lines = np.flatnonzero(np.isin(self._problem.scoring.rows, part))
            found.append(SparseLedger(*given, lines))
        return found

    def afresh(self, threads: Threads) -> "SparseLedger":
        """A ledger of these lines and tables with no column in, whose kernels these threads run."""
        found = copy(self)
        found.clear(threads)
        return found

    def clear(self, threads: Threads) -> None:
        """Take all columns out; from now on these threads run the kernels."""
        self._threads, self._offset = threads, self._tables.offset
        self._sums, self._moved, self._strata = np.zeros_like(self._sums), [], None

    # -- the contract --------------------------------------------------------------------------

    def apply(self, terms: Sequence[int], steps: int | Ints) -> None:
        """Add or remove columns; exact, so that removal undoes addition to the bit."""
        sign = SIGNS.get(steps) if isinstance(steps, int) else None
        self._offset = self._move(self._sums, self._offset, terms, sign or sign_of(steps))
        pointers = self._entries.pointers
        self._moved += [self._entries.lines[pointers[f] : pointers[f + 1]] for f in terms]

    def changes(self, joining: Sequence[int], leaving: Sequence[int]) -> Ints:
        """By how much columns that join and leave would move the lines; the ledger stays."""
        found = np.zeros_like(self._sums)
        self._move(found, self._offset, joining, 1)
        self._move(found, self._offset, leaving, -1)
        return found

    def stand(self, lines: Ints, sums: Ints, offset: Ints) -> None:
        """Where lines stand, and all others beside them, as somebody who knows all columns says."""
        self._offset = offset
        if lines.size:
            self._sums[:, lines] = sums
            self._moved.append(lines)

    def losses(self, measure: Measure, units: Units, which: Ints, steps: int) -> Ints:
        """Exact losses: by class, or doubled concordant pairs of each problem and fold."""
        which, flat, sign = np.asarray(which, np.int64), UnitArrays(*units.flat), SIGNS[steps]
        if measure.kind == "pairs":
            return self._scan_pairs(flat, which, sign)
        by_class = self._scan_odds if self._targets.odds else self._scan_classes
        return by_class(measure, flat, which, sign)

    def scores(self, joining: Sequence[int] = (), leaving: Sequence[int] = ()) -> Iterator[Scores]:
        """All lines at once."""
        sums = self._sums.copy()
        offset = self._move(sums, self._offset, joining, 1)
        offset = self._move(sums, offset, leaving, -1)
        return self._scores(sums, offset)

    # -- sums and answers ----------------------------------------------------------------------

    def _move(self, sums: Ints, offset: Ints, columns: Sequence[int], sign: int) -> Ints:
        from .kernels.sparse import apply_moves

        for f in columns:
            apply_moves(sums, self._entries, f, sign)
            offset = offset + sign * self._tables.base[f]
        return offset

    def _sorted(self) -> tuple[Strata, Ints]:
        """Lines by score, and the concordant pairs as they are."""
        if self._strata is None:
            self._strata = Strata(self._targets.classes, self._weights, self._ends)
        return self._strata, self._strata.pairs(self._sums, self._moved)

    def _scan_odds(self, measure: Measure, flat: UnitArrays, which: Ints, sign: int) -> Ints:
        from .kernels.sparse import scan_odds

        strata, _ = self._sorted()
        kind, scales = ROW_KINDS[measure.kind], (self._tables.scale.unit, 2.0**measure.bits)
        out = np.empty((which.size, self._sums.shape[0], 2), np.int64)

        def task(lo: int, hi: int) -> None:
            given = (self._entries, self._offset, flat, which, sign, *scales)
            scan_odds(kind, strata.arrays, *given, lo, hi, out)

        work = int(strata.arrays.n_distinct.sum()) + self._entries_a_column
        self._threads.run(task, which.size, 20 * which.size * int(work))
        return out.sum(1)

    def _scan_classes(self, measure: Measure, flat: UnitArrays, which: Ints, sign: int) -> Ints:
        from .kernels.sparse import scan_classes

        kind, scales = ROW_KINDS[measure.kind], (self._tables.scale.unit, 2.0**measure.bits)
        labels = np.ascontiguousarray(self._targets.classes[:, 0])
        out = np.empty((which.size, self.outline.n_classes), np.int64)

        def task(lo: int, hi: int) -> None:
            lines = (self._sums, labels, self._weights)
            moves = (self._entries, self._offset, flat, which, sign, *scales)
            scan_classes(kind, *lines, *moves, lo, hi, out)

        self._threads.run(task, which.size, 10 * which.size * self._sums.size)
        return out

    def _scan_pairs(self, flat: UnitArrays, which: Ints, sign: int) -> Ints:
        from .kernels.sparse import scan_pairs

        strata, now = self._sorted()
        out = np.zeros((which.size, *now.shape), np.int64)
        moving = np.flatnonzero(which >= 0)
        if moving.size:
            found, chosen = np.empty((moving.size, *now.shape), np.int64), which[moving]

            def task(lo: int, hi: int) -> None:
                scan_pairs(strata.arrays, self._entries, flat, chosen, sign, _FEW, lo, hi, found)

            # An entry costs about as much as five cells of a dense scan.
            work = 5 * moving.size * self._entries_a_column * now.size
            self._threads.run(task, moving.size, int(work))
            out[moving] = found
        return (out + now).reshape(which.size, now.size)

    @property
    def _entries_a_column(self) -> float:
        return self._entries.lines.size / max(self._entries.pointers.size - 1, 1)
