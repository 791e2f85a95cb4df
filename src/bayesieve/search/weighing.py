"""One fit of weights: rows as codes in, a path of weighted models out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..engine.cells import CODED, PRESENT, TermTables
from ..engine.contract import WeightLedger
from ..engine.threads import Threads
from ..engine.weighted import FoldedLedger
from ..models.base import Ints, TrainingSets
from ..models.columns import Summary
from ..models.counts import log_shares_of
from ..models.monotone import rising
from ..models.pairs import PairTerms
from ..models.registry import MODELS
from ..models.weighted import Ratios, column_ratios, pair_ratios
from .book import TermBook, TermPage
from .coded import CodedRows, CodedTerms, fold_weights
from .pairs import Pair, find_pairs
from .weights import GreedyWeights, WeightedProblem, WeightRules, WeightStep

# Class weights that are no whole numbers count in units of a 4096th.
_CLASS_UNITS = 1 << 12

_CONSTANTS = 64

#: Rows that cannot be left out one by one are left out in so many folds, at most: whole groups, or
#: rows where a column's table has no closed form without one of them.
MOST_GROUP_FOLDS, ROW_FOLDS = 20, 10


@dataclass(frozen=True)
class WeightPlan:
    """What does not depend on the rows.

    Parameters
    ----------
    smoothing : pseudo-count of every level.
    ridge : penalty on squared weights.
    pair_price : what a pair pays beyond a column, in nat.
    most : how many terms at most.
    units : columns that enter together.
    kept : units that are in from the start.
    start : terms with which a path begins, a column or a pair of columns each.
    forbidden : columns that must not enter.
    monotone : columns whose evidence may only rise (1) or fall (-1).
    speaks : does it mean anything that a value is missing?
    told : hears of every step of every path: the number of terms, and the loss.
    """

    smoothing: float = 1.0
    ridge: float = 4.0
    pair_price: float = 2.0
    most: int = 60
    units: tuple[tuple[int, ...], ...] = ()
    kept: tuple[int, ...] = ()
    forbidden: frozenset[int] = frozenset()
    monotone: Mapping[int, int] = field(default_factory=dict)
    speaks: bool = False
    told: Callable[[int, float], None] | None = None
    start: tuple[tuple[int, ...], ...] = ()

    @property
    def start_pairs(self) -> list[tuple[int, int]]:
        """Those of the first terms that are pairs."""
        return [(term[0], term[1]) for term in self.start if len(term) == 2]


class Weighing:
    """Terms of some rows, and the paths of weights on them.

    Parameters
    ----------
    problems : the same rows, with the classes of each problem; one, but for labels.
    plan : what to do.
    bins : of numbers in pairs; 0: no pairs.
    threads : who runs the kernels.
    """

    def __init__(
        self,
        problems: Sequence[CodedRows],
        plan: WeightPlan,
        bins: int,
        threads: Threads,
    ):
        self.problems, self.plan = tuple(problems), plan
        self._threads = threads
        self.singles = self._all_ratios()
        self.pairs: list[Pair] = []
        if bins:
            self.pairs = find_pairs(problems, self._paired(), bins, threads, plan.start_pairs)
        self._counts = [rows.columns.pair_counts(rows, self.pairs) for rows in problems]
        self._pair_ratios = [
            [pair_ratios(counts, rows.summary) for counts in mine]
            for rows, mine in zip(problems, self._counts, strict=True)
        ]

    def _paired(self) -> list[int]:
        """Columns that may be in a pair: not one of a group, which would enter without the rest."""
        plan = self.plan
        bound = {
            j
            for u, unit in enumerate(plan.units)
            if len(unit) > 1 and u not in plan.kept
            for j in unit
        }
        never = plan.forbidden | bound | set(plan.monotone)
        return [j for j in range(self.n_columns) if j not in never]

    @property
    def n_columns(self) -> int:
        """How many of the terms are columns: the first ones."""
        return len(self.problems[0].columns.specs)

    @property
    def n_candidates(self) -> int:
        """How many terms may enter."""
        return int(self._allowed.sum())

    @property
    def units(self) -> tuple[tuple[int, ...], ...]:
        """Terms that enter together."""
        return self._units

    def columns_of(self, steps: Sequence[WeightStep]) -> set[int]:
        """The columns that models of these states read."""
        terms = {term for step in steps for term in step.terms}
        singles = {t for t in terms if t < self.n_columns}
        paired = [self.pairs[t - self.n_columns] for t in terms if t >= self.n_columns]
        return singles | {j for pair in paired for j in pair.columns}

    def book(self, steps: Sequence[WeightStep], columns: Sequence[int]) -> TermBook:
        """All that models of these states say, without the rows; on these columns."""
        terms = sorted({term for step in steps for term in step.terms})
        paired = {t: self.pairs[t - self.n_columns] for t in terms if t >= self.n_columns}
        place = {j: at for at, j in enumerate(columns)}
        pages = []
        for g, rows in enumerate(self.problems):
            pairs = {}
            for t, pair in paired.items():
                counts = self._counts[g][t - self.n_columns]
                ratios = self._pair_ratios[g][t - self.n_columns].table[:-1].reshape(counts.shape)
                where = (place[pair.columns[0]], place[pair.columns[1]])
                nothing = np.zeros(rows.n_classes, np.int64)
                pairs[t] = PairTerms(where, pair.groups, counts, ratios, nothing)
            summary = rows.summary.restrict(columns)
            pages.append(TermPage(summary, [self.singles[g][j] for j in columns], pairs))
        plan = self.plan
        rising = tuple(sorted(plan.monotone.items()))
        return TermBook(tuple(columns), tuple(pages), plan.smoothing, plan.speaks, rising)

    # -- the path ------------------------------------------------------------------------------

    def greedy(self, price: float) -> GreedyWeights:
        """The path at this price, from its start."""
        first = self.problems[0]
        rules = WeightRules(
            self.plan.ridge,
            price,
            np.repeat([0.0, self.plan.pair_price], [self.n_columns, len(self.pairs)]),
            self.plan.most,
            self._units,
            self._allowed,
            self.plan.kept,
            self._start,
            float((first.weights * first.class_weight[first.labels]).sum()),
            _unit(first),
            len(self._folds) if first.groups is not None else 0,
        )
        made = []
        for g, rows in enumerate(self.problems):
            made.append(WeightedProblem(self._guide(g), self._constants(rows), rules))
        return GreedyWeights(made, rules, self.plan.told)

    def judge(self, held_out: Sequence[CodedRows]) -> "HeldOut":
        """Other rows, scored by the states of a path."""
        ledgers = [self._ledger(g, rows, left_out=False) for g, rows in enumerate(held_out)]
        return HeldOut(ledgers, _unit(held_out[0]))

    # -- folds ---------------------------------------------------------------------------------

    @cached_property
    def _is_folded(self) -> bool:
        """Are rows left out in folds?  Else one by one, in closed form."""
        rows = self.problems[0]
        models = {spec.model for spec in rows.columns.specs}
        exact = all(MODELS[model].leaves_one_out for model in models)
        return rows.groups is not None or not exact

    @cached_property
    def _folds(self) -> list[Ints]:
        """How often each row is held out in each fold."""
        rows = self.problems[0]
        labels = np.stack([each.labels for each in self.problems], axis=1)
        strata = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
        draw, groups, most = np.random.RandomState(0), None, ROW_FOLDS
        if rows.groups is not None:
            groups, most = np.unique(rows.groups, return_inverse=True)[1].ravel(), MOST_GROUP_FOLDS
        return fold_weights(rows, strata, draw, groups, most)

    def _guide(self, g: int) -> WeightLedger:
        """Scores of the rows of a problem by tables that have not seen them."""
        rows = self.problems[g]
        if not self._is_folded:
            return self._ledger(g, rows, left_out=True)
        found = []
        for held_out in self._folds:
            mine = rows.weighted(held_out)
            summary = rows.summary.without(mine.summary)
            seen = rows.columns.pair_counts(mine, self.pairs)
            pairs = [
                pair_ratios(counts - less, summary)
                for counts, less in zip(self._counts[g], seen, strict=True)
            ]
            terms = [*self._ratios(summary, None), *pairs]
            found.append(self._ledger(g, mine, False, terms))
        return FoldedLedger(found)

    # -- terms ---------------------------------------------------------------------------------

    def _all_ratios(self) -> list[list[Ratios]]:
        """What the columns say in each problem."""
        found: dict[int, list[Ratios]] = {}

        def task(lo: int, hi: int) -> None:
            for g in range(lo, hi):
                rows = self.problems[g]
                # Where folds are scored, nobody asks what a row says without itself.
                found[g] = self._ratios(rows.summary, None if self._is_folded else rows.sets)

        self._threads.prepare(task, len(self.problems), 0)
        return [found[g] for g in range(len(self.problems))]

    def _ratios(self, summary: Summary, sets: TrainingSets | None) -> list[Ratios]:
        found = column_ratios(summary, self.plan.smoothing, sets, self.plan.speaks)
        shares = log_shares_of(summary.class_count * summary.class_weight)
        for j, sign in self.plan.monotone.items():
            found[j] = rising(found[j], summary.statistics[j][0], shares, sign)
        return found

    @cached_property
    def _units(self) -> tuple[tuple[int, ...], ...]:
        units = self.plan.units or tuple((j,) for j in range(self.n_columns))
        return (*units, *((self.n_columns + p,) for p in range(len(self.pairs))))

    @property
    def _start(self) -> tuple[int, ...]:
        """The units with which a path begins."""
        unit_of: dict[tuple[int, ...], int] = {
            (term,): u for u, unit in enumerate(self._units) for term in unit
        }
        first = len(self._units) - len(self.pairs)
        unit_of.update({pair.columns: first + p for p, pair in enumerate(self.pairs)})
        return tuple(dict.fromkeys(unit_of[term] for term in self.plan.start))

    @cached_property
    def _allowed(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        every = [self._terms(g) for g in range(len(self.problems))]
        silent = [not any(each.table.any() for each in told) for told in zip(*every, strict=True)]
        forbidden, kept = self.plan.forbidden, set(self.plan.kept)
        return np.array(
            [
                not all(silent[t] for t in unit) and forbidden.isdisjoint(unit) and u not in kept
                for u, unit in enumerate(self._units)
            ],
            bool,
        )

    def _terms(self, g: int) -> list[Ratios]:
        return [*self.singles[g], *self._pair_ratios[g]]

    @cached_property
    def _read(self) -> CodedTerms:
        return self.problems[0].columns.terms(self.pairs, self._threads)

    def _constants(self, rows: CodedRows) -> Ints:
        shares = log_shares_of(rows.summary.class_count * rows.class_weight)
        return np.rint(shares * _CONSTANTS).astype(np.int64)

    def _ledger(
        self, g: int, rows: CodedRows, left_out: bool, terms: Sequence[Ratios] | None = None
    ) -> WeightLedger:
        """Scores of rows by the terms of a problem, each row left out of its own tables or not.

        Other tables may stand in for those of the problem.
        """
        terms = self._terms(g) if terms is None else terms
        kinds = np.append(rows.columns.kinds, np.full(len(self.pairs), CODED))
        # The only row of its level would not know the level without itself.
        lone = {
            t: each.lone
            for t, each in enumerate(terms)
            if left_out and kinds[t] != PRESENT and each.lone.any()
        }
        kinds[list(lone)] = CODED
        n_codes = [
            2 if kind != CODED else each.table.shape[0]
            for kind, each in zip(kinds, terms, strict=True)
        ]
        tables = TermTables.of(terms, n_codes)
        if not left_out:
            tables = TermTables(
                tables.ratios, np.zeros_like(tables.own), tables.first, tables.n_codes
            )
        weights = rows.weights * _factors(rows)[rows.labels]
        return self._read.ledger(tables, kinds, lone, rows, weights)


class HeldOut:
    """Rows that did not train, and their loss under the states of a path.

    Parameters
    ----------
    ledgers : of each problem.
    shared : what a row of weight 1 counts in them.
    """

    def __init__(self, ledgers: Sequence[WeightLedger], shared: int):
        rules = WeightRules(0.0, 0.0, np.empty(0), 0, (), np.empty(0, bool), shared=shared)
        self._problems = [
            WeightedProblem(ledger, np.zeros(ledger.tables.n_classes, np.int64), rules)
            for ledger in ledgers
        ]

    def losses(self, steps: Sequence[WeightStep]) -> Iterator[float]:
        """Log-loss of all rows after each step, in nat."""
        for step in steps:
            for problem, weights, constants in zip(
                self._problems, step.weights, step.constants, strict=True
            ):
                problem.restore(step.terms, weights, constants)
            yield sum(problem.loss for problem in self._problems)


def _unit(rows: CodedRows) -> int:
    """What a row of weight 1 counts, so that class weights are whole numbers."""
    whole: bool = (rows.class_weight == np.rint(rows.class_weight)).all()
    return 1 if whole else _CLASS_UNITS


def _factors(rows: CodedRows) -> Ints:
    return np.maximum(np.rint(rows.class_weight * _unit(rows)), 1.0).astype(np.int64)
