"""Columns of a model: resolve the feature model of each, read it and count it."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from ..checks import Array, Bools, choose, column_indices, some
from ..data.columns import ColumnSpec, encode, in_kind_of, is_missing, learn, merge_specs, to_codes
from ..data.sample import Sample
from ..data.storage import Moves, NarrowColumns, PackedTable, from_codes, pack_bits, present
from ..data.tables import RawTable, SparseTable, Table
from .base import (
    ColumnTerms,
    Floats,
    Grid,
    Ints,
    ModelSettings,
    Run,
    Scale,
    Spec,
    Statistics,
    Terms,
    TrainingSets,
    one_set,
    run_alone,
)
from .counts import binary_mean
from .registry import MODELS

_BERNOULLI = "bernoulli"
_LEVELS = np.array([0.0, 1.0])

# Columns whose bits are counted together stay in the cache.
_CHUNK = 256


class BinarySpecs(Sequence[ColumnSpec]):
    """What binary columns are like: nothing but their names tells them apart.

    Parameters
    ----------
    names : of the columns.
    presence : every value but 0 counts as 1.

    Examples
    --------
    >>> from bayesieve.models.columns import BinarySpecs
    >>> specs = BinarySpecs(["a", "b"], presence=False)
    >>> len(specs), specs[1].name, specs[1].levels.tolist()
    (2, 'b', [0.0, 1.0])
    """

    def __init__(self, names: Sequence[str], presence: bool):
        self.names, self.presence = names, presence

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, j: int) -> ColumnSpec: ...
    @overload
    def __getitem__(self, j: slice) -> "BinarySpecs": ...
    def __getitem__(self, j: int | slice) -> "ColumnSpec | BinarySpecs":
        if isinstance(j, slice):
            return BinarySpecs(self.names[j], self.presence)
        return ColumnSpec(self.names[j], _BERNOULLI, levels=_LEVELS, presence=self.presence)


class BinaryTerms(Sequence[ColumnTerms]):
    """Binary columns, each ready to speak.

    Parameters
    ----------
    counts : columns x sets x codes x classes.
    settings : those of all columns.
    """

    def __init__(self, counts: Floats, settings: ModelSettings):
        self.counts, self.settings = counts, settings

    @classmethod
    def of(cls, counts: Floats, settings: ModelSettings) -> "BinaryTerms":
        """With what the columns must know of each other."""
        if settings.smoothing == "mean":
            means = binary_mean(list(counts), counts.shape[1], counts.shape[3])
            settings = replace(settings, binary_mean=means)
        return cls(counts, settings)

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, j: int) -> ColumnTerms: ...
    @overload
    def __getitem__(self, j: slice) -> "BinaryTerms": ...
    def __getitem__(self, j: int | slice) -> "ColumnTerms | BinaryTerms":
        if isinstance(j, slice):
            return BinaryTerms(self.counts[j], self.settings)
        return ColumnTerms(MODELS[_BERNOULLI], self.counts[j], Grid(), self.settings)

    def terms(self) -> Terms:
        """Terms of all columns: columns x sets x codes x classes."""
        return MODELS[_BERNOULLI].terms(self.counts, np.arange(3), Grid(), self.settings)


def scale_of(terms: Terms, prior: Terms) -> Scale:
    """The scale of a model of binary columns."""
    bounds = [float(np.abs(prior.finite).max()), *np.abs(terms.finite).max((1, 2, 3)).tolist()]
    n_impossible = int(prior.impossible is not None)
    if terms.impossible is not None:
        n_impossible += int(terms.impossible.any((1, 2, 3)).sum())
    return Scale.for_terms(bounds, n_impossible)


def count_binary(
    table: Table, models: Sequence[str], problems: Sequence[TrainingSets]
) -> tuple[Bools, list[Floats]]:
    """Which columns are binary and can be counted together, and their counts for each problem.

    Counts are columns x 1 x codes x classes; of other columns, nothing is said.
    """
    if models.count(_BERNOULLI) == len(models):
        here = np.ones(len(models), bool)
    else:
        here = np.array([model == _BERNOULLI for model in models], bool)
    if isinstance(table, SparseTable):
        return here, [_count_present(table, sets) for sets in problems]
    if type(table) is not RawTable:  # others know their columns already, or one by one
        return np.zeros(here.size, bool), []
    here &= table.narrow.binary
    return here, [_count_narrow(table.narrow, here, sets) for sets in problems]


def _count_present(table: SparseTable, sets: TrainingSets) -> Floats:
    """Presence in a sparse table."""
    from ..data.kernels.exact import count_moves

    n_columns = table.matrix.shape[1]
    ones = np.empty((n_columns, 1, sets.n_classes))
    count_moves(
        table.matrix.indptr.astype(np.int64),
        table.matrix.indices.astype(np.int32, copy=False),
        np.zeros(table.matrix.nnz, np.uint8),
        np.arange(n_columns + 1),
        sets.labels[:, None],
        sets.weights,
        np.zeros(table.n_rows + 1, np.int64),
        np.empty(0, np.int64),
        ones,
    )
    counts = np.zeros((n_columns, 1, 3, sets.n_classes))
    counts[:, :, 1] = ones
    counts[:, :, 0] = sets.class_counts - ones
    return counts


def _count_narrow(narrow: NarrowColumns, here: Bools, sets: TrainingSets) -> Floats:
    """Bytes of a table in memory; their bits, where every row counts once and nothing is missing.

    Whole numbers below 2^53 add up exactly, in any order.
    """
    from ..data.kernels.exact import count_bytes

    counts = np.zeros((here.size, 1, 3, sets.n_classes))
    columns = np.flatnonzero(here)
    slots = narrow.slots[columns]
    if (sets.weights == 1).all() and not narrow.missing[slots].any():
        masks = pack_bits(sets.labels == np.arange(sets.n_classes)[:, None])
        totals = np.bitwise_count(masks).sum(1)
        for first in range(0, columns.size, _CHUNK):
            some = columns[first : first + _CHUNK]
            bits = pack_bits(narrow.cells[narrow.slots[some]])
            for k, mask in enumerate(masks):
                counts[some, 0, 1, k] = np.bitwise_count(bits & mask).sum(1)
            counts[some, 0, 0] = totals - counts[some, 0, 1]
        return counts
    found = np.zeros((columns.size, 3, sets.n_classes))
    count_bytes(narrow.cells, slots, sets.labels, sets.weights, found)
    counts[columns, 0] = found
    return counts


def presence_of(specs: Sequence[ColumnSpec]) -> Bools:
    """Which columns count every value but 0 as 1."""
    if isinstance(specs, BinarySpecs):
        return np.full(len(specs), specs.presence)
    return np.array([spec.presence for spec in specs], bool)


def fixed_tables(tables: Sequence[Ints | None] | Ints, columns: Ints) -> Ints:
    """Integer tables of some discrete columns of one width, as one array."""
    if isinstance(tables, np.ndarray):
        return tables[columns]
    return np.stack([table for table in (tables[j] for j in columns) if table is not None])


# -- A table whose columns are judged, learnt and encoded once, for many fits on some of its -------


@dataclass(frozen=True)
class Known:
    """What was learnt about the columns from all rows.

    Parameters
    ----------
    models : the feature model of each column.
    specs : levels and resolution, by column and whether its values are rounded.
    codes : codes of all rows of the discrete columns of a dense table.
    """

    models: tuple[str, ...]
    specs: dict[tuple[int, bool], ColumnSpec] = field(default_factory=dict)
    codes: dict[int, Array] = field(default_factory=dict)


class Unpacked(Sequence[Array]):
    """Columns of a packed table, each unpacked when it is read."""

    def __init__(self, table: PackedTable):
        self._table = table

    def __len__(self) -> int:
        return len(self._table.names)

    def __getitem__(self, j: Any) -> Any:
        return self._table.column(j)


@dataclass(frozen=True)
class SharedTable(RawTable):
    """Some rows of a dense table, which stays where it is."""

    known: Known
    at: Ints | None = None  #: the rows; None for all

    def column(self, j: int) -> Array:
        """One column; numbers as float64."""
        column = super().column(j)
        return column if self.at is None else column[self.at]

    def coded(self, j: int) -> tuple[Array, None]:
        """One column, as it is."""
        return self.column(j), None

    def codes(self, j: int) -> Array:
        """Codes of a discrete column."""
        codes = self.known.codes[j]
        return codes if self.at is None else codes[self.at]

    def take(self, rows: Ints) -> "SharedTable":
        """Some rows only, without a copy of them."""
        at = rows if self.at is None else self.at[rows]
        return replace(self, at=at, n_rows=rows.size)

    def pick(self, columns: Ints) -> RawTable:
        """Some columns only."""
        found = [self.column(int(j)) for j in columns]
        return RawTable(found, [self.names[j] for j in columns], self.n_rows)


@dataclass(frozen=True)
class SharedSparse(SparseTable):
    """Some rows of a sparse table, whose columns are known from all rows."""

    known: Known

    def take(self, rows: Ints) -> "SharedSparse":
        """Some rows only."""
        part = super().take(rows)
        return SharedSparse(part.matrix, part.names, part.n_rows, self.known)


def share(
    table: Table, models: list[str], rounded: bool = False, repeats: Floats | None = None
) -> SharedTable | SharedSparse:
    """Learn and encode all columns, so that fits on some of the rows need not.

    `repeats` says how often each row counts where a grid is cut; once by default.
    """
    known = Known(tuple(models))
    shared: SharedTable | SharedSparse
    if isinstance(table, SparseTable):
        shared = SharedSparse(table.matrix, table.names, table.n_rows, known)
    else:
        columns = Unpacked(table) if isinstance(table, PackedTable) else table.columns
        shared = SharedTable(columns, table.names, table.n_rows, known)
    for j, model in enumerate(models):
        discrete = MODELS[model].discrete
        if isinstance(shared, SharedSparse) and model == "bernoulli":
            continue  # presence: nothing is learnt
        raw = shared.column(j)
        for each in {False, bool(rounded and not discrete)}:
            n_codes = MODELS[model].grid_codes
            name = table.names[j]
            spec = learn(name, model, raw, discrete, each, grid_codes=n_codes, repeats=repeats)
            known.specs[j, each] = spec
        if discrete and isinstance(shared, SharedTable):
            known.codes[j] = encode(known.specs[j, False], raw)
    return shared


# -- The columns of a table ------------------------------------------------------------------------


_BINARY = (0.0, 1.0)

# What columns hold whose values need not be looked at one by one.
_ZERO_ONE, _SOME_NUMBER = np.array(_BINARY), np.array([0.5])


def choose_models(features: object, X: Table, numbers: str = "curve") -> list[str]:
    """The feature model of every column, from "auto", a name, or a mapping of columns to names.

    `numbers` is what "auto" takes for numbers that are not all 0 or 1.
    """
    if isinstance(X, SharedTable | SharedSparse):
        return list(X.known.models)
    n_columns = len(X.names)
    if isinstance(features, str):
        choose("features", features, ["auto", *MODELS])
        chosen = [features] * n_columns
    elif isinstance(features, Mapping):
        chosen = ["auto"] * n_columns
        for key, model in features.items():
            choose(f"features[{key!r}]", model, ["auto", *MODELS])
            for j in column_indices(f"features key {key!r}", [key], X.names):
                chosen[j] = model
    else:
        raise TypeError(
            "features must be 'auto', the name of a feature model, or a mapping of column names or "
            f"numbers to such names; got {type(features).__name__}."
        )
    if isinstance(X, SparseTable) and features == "auto":
        return ["bernoulli"] * n_columns
    if isinstance(X, SparseTable):
        # Presence, unless something else is asked for: any value may stand in a sparse column.
        return ["bernoulli" if model == "auto" else model for model in chosen]
    if features == "auto" and isinstance(X, RawTable) and X.binary_codes is not None:
        return ["bernoulli"] * n_columns
    return [
        _model_of(_look_at(X, j, model), X.names[j], model, numbers)
        for j, model in enumerate(chosen)
    ]


def without_grid(models: Sequence[str]) -> list[str]:
    """Models that read numbers as they are in place of those that read them on a grid."""
    return ["gaussian" if MODELS[model].grid_codes else model for model in models]


def _look_at(table: RawTable | PackedTable, j: int, model: str) -> Array:
    """Values of a column that tell which models it allows: all of them only where need be."""
    if isinstance(table, PackedTable):
        return table.coded(j)[0]
    narrow, slot = table.narrow, table.narrow.slots[j]
    if slot >= 0 and narrow.most[slot] <= 1:
        return _ZERO_ONE
    if narrow.doubtful[j] or table.is_text(j) or model == "bernoulli":
        return table.column(j)
    return _SOME_NUMBER


def check_batch(model: str, raw: Array, name: str, levels: Array | None = None) -> None:
    """A later batch must fit the model, and the kind of levels, its column got from the first."""
    _model_of(raw, name, model)
    if levels is not None and levels.size and (raw.dtype == object) != (levels.dtype == object):
        kinds = ("text", "numbers") if levels.dtype == object else ("numbers", "text")
        raise ValueError(f"column {name!r} held {kinds[0]} in the first batch; got {kinds[1]}.")


def _model_of(raw: Array, name: str, model: str, numbers: str = "curve") -> str:
    """The model named if the column allows it; for "auto", the one that suits it."""
    text = raw.dtype == object
    binary = not text and bool(((raw == 0) | (raw == 1) | np.isnan(raw)).all())
    if model == "auto":
        return "levels" if text else "bernoulli" if binary else numbers
    if model == "bernoulli" and not binary:
        odd = "text" if text else f"{raw[~np.isin(raw, _BINARY) & ~np.isnan(raw)][0]:g}"
        raise ValueError(
            f"column {name!r} is modelled as 'bernoulli', which allows 0, 1 and missing; got "
            f"{odd}. Use 'categorical' or 'density', or binarise it first."
        )
    if text and not MODELS[model].nominal:
        raise ValueError(
            f"column {name!r} is modelled as {model!r}, which needs numbers; got text. "
            "Use 'categorical'."
        )
    return model


def read_column(
    table: Table,
    j: int,
    model: str,
    rounded: bool = False,
    presence: bool = False,
    repeats: Floats | None = None,
) -> tuple[ColumnSpec, Array]:
    """What a column is like, and its values as the models read them.

    Parameters
    ----------
    table, j : which column.
    model : its feature model.
    rounded : round continuous values to multiples of the resolution.
    presence : of a bernoulli column of a sparse table: every value but 0 counts as 1.
    repeats : how often each row counts where a grid is cut; once by default.
    """
    discrete = MODELS[model].discrete
    if isinstance(table, SharedTable | SharedSparse) and table.known.models[j] == model:
        spec = table.known.specs.get((j, rounded and not discrete))
        if spec is not None and discrete and isinstance(table, SharedTable):
            return spec, table.codes(j)
        if spec is not None:
            return spec, encode(spec, table.column(j))
    # What is the same for equal values is done once.
    values, codes = table.coded(j)
    n_codes = MODELS[model].grid_codes
    share: Array | None = repeats
    if n_codes and codes is not None:
        share = np.bincount(codes, repeats, minlength=values.size)
    spec = learn(table.names[j], model, values, discrete, rounded, presence, n_codes, share)
    column = encode(spec, values)
    if codes is None:
        return spec, column
    # Codes of the table are those of the model, as a rule.
    same = column.dtype == codes.dtype and (column == np.arange(column.size)).all()
    return spec, codes if same else column[codes]


def read_moves(
    table: Table, models: Sequence[str], rounded: bool = False, repeats: Floats | None = None
) -> tuple[Moves, list[ColumnSpec], list[Array | None]]:
    """All columns by their moves; the numbers behind the codes of continuous ones.

    `repeats` says how often each row counts where a grid is cut; once by default.
    """
    sparse = isinstance(table, SparseTable)
    if isinstance(table, SparseTable) and set(models) == {"bernoulli"}:
        nothing = np.empty(0)
        specs = [learn(name, "bernoulli", nothing, True, presence=True) for name in table.names]
        return present(table.matrix), specs, [None] * len(specs)
    specs, columns, n_codes = [], [], []
    values: list[Array | None] = []
    for j, model in enumerate(models):
        spec, column = read_column(table, j, model, rounded, sparse, repeats)
        numbers = None
        if not MODELS[model].discrete:
            distinct = np.unique(column[~np.isnan(column)])
            numbers = np.append(distinct, np.nan)
            column = to_codes(distinct, column)
        specs.append(spec)
        values.append(numbers)
        columns.append(column)
        n_codes.append(spec.n_codes if numbers is None else numbers.size)
    return from_codes(columns, n_codes), specs, values


@dataclass(frozen=True)
class Summary:
    """Statistics of one class problem, or of one label.

    Parameters
    ----------
    classes : the classes, sorted.
    class_count : weight of the rows of each class.
    class_weight : factor on the counts of each class.
    specs : what each column is like.
    statistics : of each column, as its feature model keeps them.
    """

    classes: Array
    class_count: Floats
    class_weight: Floats
    specs: Sequence[ColumnSpec]
    statistics: Sequence[Statistics] | Floats

    def restrict(self, columns: Sequence[int]) -> "Summary":
        """Some columns only."""
        return replace(
            self,
            specs=tuple(self.specs[j] for j in columns),
            statistics=tuple(self.statistics[j] for j in columns),
        )

    def without(self, some: "Summary") -> "Summary":
        """The summary of fewer rows: counts are taken off."""
        return replace(
            self,
            class_count=self.class_count - some.class_count,
            statistics=tuple(
                np.asarray(all_) - np.asarray(less)
                for all_, less in zip(self.statistics, some.statistics, strict=True)
            ),
        )

    def check_batch(self, table: Table) -> None:
        """Validate all columns of a later batch before any of them changes."""
        for j, spec in enumerate(self.specs):
            if not spec.presence:  # any value may stand for presence
                check_batch(spec.model, table.column(j), table.names[j], spec.levels)

    def with_rows(self, table: Table, labels: Ints, weights: Floats) -> "Summary":
        """The summary of more rows: statistics merge."""
        sets = one_set(labels, weights, self.class_weight)
        counted = Counter(self.classes, labels, weights, self.class_weight)
        specs, statistics = [], []
        for j, old in enumerate(self.specs):
            raw = table.column(j)
            if raw.dtype == object:  # names of categories that were numbers
                assert old.levels is not None
                raw = in_kind_of(old.levels, raw) if old.levels.dtype == object else raw
            model = MODELS[old.model]
            sparse = isinstance(table, SparseTable)
            both = old
            if not old.on_grid:
                new = learn(table.names[j], old.model, raw, model.discrete, presence=sparse)
                both = merge_specs(old, new)
            more = model.statistics(encode(both, raw), both.n_codes, sets)
            specs.append(both)
            statistics.append(model.merge(_grown(old, both, self.statistics[j]), more))
        count = self.class_count + counted.class_count
        return replace(self, class_count=count, specs=tuple(specs), statistics=tuple(statistics))


def _grown(old: ColumnSpec, both: ColumnSpec, known: Floats) -> Floats:
    """Counts of a column that has got more levels."""
    if both.levels is None or both.n_codes == old.n_codes:
        return known
    assert old.levels is not None
    grown = np.zeros((1, both.n_codes, known.shape[-1]))
    grown[:, np.searchsorted(both.levels, old.levels)] = known[:, :-1]
    grown[:, -1] = known[:, -1]
    return grown


class Counter:
    """Takes in columns one by one and gives their summary.

    Parameters
    ----------
    classes : the classes, sorted.
    labels, weights : class index and weight of every row.
    class_weight : factor on the counts of each class; 1 by default.
    """

    def __init__(
        self, classes: Array, labels: Ints, weights: Floats, class_weight: Floats | None = None
    ):
        self._classes = classes
        self.class_count = np.bincount(labels, weights, len(classes)).astype(np.float64)
        weight = np.ones(len(classes)) if class_weight is None else class_weight
        self.sets = one_set(labels, weights, weight)
        self._specs: list[ColumnSpec] = []
        self._statistics: list[Statistics] = []

    def take(self, spec: ColumnSpec, column: Array) -> None:
        """Count one column."""
        self.keep(spec, MODELS[spec.model].statistics(column, spec.n_codes, self.sets))

    def keep(self, spec: ColumnSpec, statistics: Statistics) -> None:
        """A column that somebody has counted."""
        self._specs.append(spec)
        self._statistics.append(statistics)

    def summary(self) -> Summary:
        """What was counted."""
        return Summary(
            self._classes,
            self.class_count,
            self.sets.class_weight,
            tuple(self._specs),
            tuple(self._statistics),
        )


def summarise(
    sample: Sample, models: Sequence[str], rounded: bool, class_weight: Floats | None = None
) -> tuple[Summary, ...]:
    """One summary of all rows for each problem.

    Parameters
    ----------
    sample : the rows.
    models : the feature model of each column.
    rounded : round continuous values to multiples of the resolution.
    class_weight : factor on the counts of each class.
    """
    counters = [
        Counter(sample.classes, classes, sample.weights, class_weight)
        for classes in sample.targets.classes.T
    ]
    table, repeats = sample.table, sample.repeats
    together, found = count_binary(table, models, [counter.sets for counter in counters])
    sparse = isinstance(table, SparseTable)
    if together.all():
        specs = BinarySpecs(table.names, sparse)
        pairs = zip(counters, found, strict=True)
        return tuple(replace(each.summary(), specs=specs, statistics=n) for each, n in pairs)
    for j, model in enumerate(models):
        if together[j]:
            spec = learn(table.names[j], model, np.empty(0), True, presence=sparse)
            for counter, counts in zip(counters, found, strict=True):
                counter.keep(spec, counts[j])
            continue
        spec, column = read_column(table, j, model, rounded, repeats=repeats)
        for counter in counters:
            counter.take(spec, column)
    return tuple(counter.summary() for counter in counters)


def spoken_tables(
    specs: Sequence[ColumnSpec], columns: Sequence[ColumnTerms], run: Run = run_alone
) -> list[Terms | None]:
    """Terms of all codes of each discrete column, None for others.

    Binary columns are handled together: there may be thousands.

    Parameters
    ----------
    specs, columns : what each column is like, and what speaks for it.
    run : runs a task over a range of columns, in parts where it has threads.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from bayesieve.models import MODELS, ModelSettings, build_columns, one_set, spoken_tables
    >>> spec = SimpleNamespace(
    ...     model="bernoulli", n_distinct=2, resolution=1.0, n_codes=3, points=np.empty(0)
    ... )
    >>> sets = one_set(np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    >>> counts = MODELS["bernoulli"].statistics(np.array([0, 1, 1, 1], np.uint8), 3, sets)
    >>> columns = build_columns([spec], [counts], ModelSettings(1.0, None, np.ones(2)))
    >>> spoken_tables([spec], columns)[0].finite.shape  # sets x codes x classes
    (1, 3, 2)
    """
    tables: list[Terms | None] = [None] * len(columns)
    binary = [j for j, spec in enumerate(specs) if spec.model == "bernoulli"]
    if binary:
        stacked = np.stack([columns[j].statistics for j in binary])
        settings = columns[binary[0]].settings
        found = MODELS["bernoulli"].terms(stacked, np.arange(3), Grid(), settings)
        for i, j in enumerate(binary):
            odd = None if found.impossible is None else found.impossible[i]
            tables[j] = Terms(found.finite[i], odd if odd is not None and odd.any() else None)

    def task(lo: int, hi: int) -> None:
        for j in range(lo, hi):
            if tables[j] is None and columns[j].model.discrete:
                tables[j] = columns[j].of(np.arange(specs[j].n_codes))

    run(task, len(columns), sum(column.work for column in columns))
    return tables


def grid_of(spec: Spec) -> Grid:
    """What a model is told of a continuous column."""
    return Grid(spec.resolution, max(spec.n_distinct, 1), spec.points)


def build_columns(
    specs: Sequence[Spec],
    statistics: Sequence[Statistics],
    settings: ModelSettings,
    n_sets: int = 1,
) -> list[ColumnTerms]:
    """Statistics and settings, ready to speak for each column.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from bayesieve.models import MODELS, ModelSettings, build_columns, one_set
    >>> values, sets = np.arange(4.0), one_set(np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    >>> spec = SimpleNamespace(model="gaussian", n_distinct=4, resolution=1.0, points=np.empty(0))
    >>> moments = MODELS["gaussian"].statistics(values, 0, sets)
    >>> column = build_columns([spec], [moments], ModelSettings(1.0, None, np.ones(2)))[0]
    >>> column.of(values).finite[0].argmax(1)  # which class each value speaks for
    array([0, 0, 1, 1])
    """
    if settings.smoothing == "mean":
        binary = [
            counts
            for spec, counts in zip(specs, statistics, strict=True)
            if spec.model == "bernoulli"
        ]
        means = binary_mean(binary, n_sets, settings.class_weight.size)
        settings = replace(settings, binary_mean=means)
    # Of thousands of binary columns none has a grid.
    two, nothing = MODELS["bernoulli"], Grid()
    return [
        ColumnTerms(two, found, nothing, settings)
        if spec.model == "bernoulli"
        else ColumnTerms(MODELS[spec.model], found, grid_of(spec), settings)
        for spec, found in zip(specs, statistics, strict=True)
    ]


# -- Rows to predict in which a column holds nothing that the fit has seen -------------------------


# Rows among which a known value is looked for first, and columns that a warning names.
_FEW, _NAMED = 64, 5


def warn_of_unknown(specs: Sequence[ColumnSpec], table: Table) -> None:
    """Name the columns that hold values, none of which was known to the fit.

    The warning shows the line that calls a method two calls above.

    Parameters
    ----------
    specs : what the fit learnt of each column of `table`.
    table : rows to predict.
    """
    if isinstance(specs, BinarySpecs) and specs.presence:
        return
    if isinstance(specs, BinarySpecs) and isinstance(table, RawTable):
        discrete = np.flatnonzero(~table.narrow.binary).tolist()  # the others hold 0 and 1
    else:
        discrete = [
            j
            for j, spec in enumerate(specs)
            if spec.levels is not None and not (spec.presence or spec.on_grid)
        ]
    if not discrete:
        return
    # A known value shows soon, as a rule: all rows are looked at only where the first few are new.
    few = table
    if table.n_rows > _FEW and not isinstance(table, SparseTable):
        few = table.take(np.arange(_FEW))
    for part in (few, table):
        discrete = [j for j in discrete if _unknown(specs[j], part, j, part is table)]
    if not discrete:
        return
    names = [specs[j].name for j in discrete]
    listed = some(names, _NAMED)
    first = discrete[0]
    got = next(v for v in table.coded(first)[0].tolist() if v is not None and v != "" and v == v)
    warnings.warn(
        f"X holds no value that fit has seen in {listed} (got {got!r}, for one, where fit saw "
        f"{_some(specs[first])}): such a column says nothing. Give it the kind of values it had in "
        "fit.",
        UserWarning,
        stacklevel=4,
    )


def _unknown(spec: ColumnSpec, table: Table, j: int, whole: bool) -> bool:
    """Is no value of the column known (and, of the whole table, is there any value)?"""
    values = table.coded(j)[0]
    return not (encode(spec, values) < spec.n_codes - 1).any() and not (
        whole and is_missing(values).all()
    )


def _some(spec: ColumnSpec) -> str:
    """A few levels, for a message."""
    assert spec.levels is not None
    levels = [repr(level) for level in spec.levels.tolist()]
    return ", ".join(levels[:3]) + (", ..." if len(levels) > 3 else "") if levels else "no value"
