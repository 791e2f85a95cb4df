"""The columns of a table: each gets a model, is read, counted, and made ready to speak."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..checks import Array, choose, column_indices
from ..data.columns import ColumnSpec, encode, learn, merge_specs, to_codes
from ..data.kinds import in_kind_of
from ..data.packed import PackedTable
from ..data.sample import Sample
from ..data.sparse import Moves, from_codes, present
from ..data.tables import RawTable, SparseTable, Table
from .alike import BinarySpecs, count_binary
from .base import (
    ColumnTerms,
    Floats,
    Grid,
    Ints,
    Run,
    Settings,
    Spec,
    Statistics,
    Terms,
    one_set,
    run_alone,
)
from .counts import binary_mean
from .registry import MODELS
from .shared import SharedSparse, SharedTable

_BINARY = (0.0, 1.0)

# What columns hold whose values need not be looked at one by one.
_ZERO_ONE, _SOME_NUMBER = np.array(_BINARY), np.array([0.5])


def choose_models(features: object, X: Table, numbers: str = "density") -> list[str]:
    """The feature model of every column, from "auto", a name, or a mapping of columns to names.

    `numbers` is what "auto" takes for numbers that are not all 0 or 1.
    """
    if isinstance(X, SharedTable | SharedSparse):
        return list(X.known.models)
    n_columns = len(X.names)
    if isinstance(features, str):
        choose("features", features, ["auto", *MODELS])
        asked = [features] * n_columns
    elif isinstance(features, Mapping):
        asked = ["auto"] * n_columns
        for key, model in features.items():
            choose(f"features[{key!r}]", model, ["auto", *MODELS])
            for j in column_indices(f"features key {key!r}", [key], X.names):
                asked[j] = model
    else:
        raise TypeError(
            "features must be 'auto', the name of a feature model, or a mapping of column names or "
            f"numbers to such names; got {type(features).__name__}."
        )
    if isinstance(X, SparseTable) and features == "auto":
        return ["bernoulli"] * n_columns
    if isinstance(X, SparseTable):
        # Presence, unless something else is asked for: any value may stand in a sparse column.
        return ["bernoulli" if model == "auto" else model for model in asked]
    if features == "auto" and isinstance(X, RawTable) and X.binary_codes is not None:
        return ["bernoulli"] * n_columns
    return [
        _model_of(_look_at(X, j, model), X.names[j], model, numbers)
        for j, model in enumerate(asked)
    ]


def without_grid(models: Sequence[str]) -> list[str]:
    """Models that read numbers as they are in place of those that read them on a grid."""
    return ["gaussian" if MODELS[model].grid_codes else model for model in models]


def _look_at(table: RawTable | PackedTable, j: int, asked: str) -> Array:
    """Values of a column that tell which models it allows: all of them only where need be."""
    if isinstance(table, PackedTable):
        return table.coded(j)[0]
    narrow, slot = table.narrow, table.narrow.slots[j]
    if slot >= 0 and narrow.most[slot] <= 1:
        return _ZERO_ONE
    if narrow.doubtful[j] or table.is_text(j) or asked == "bernoulli":
        return table.column(j)
    return _SOME_NUMBER


def check_batch(model: str, raw: Array, name: str, levels: Array | None = None) -> None:
    """A later batch must fit the model, and the kind of levels, its column got from the first."""
    _model_of(raw, name, model)
    if levels is not None and levels.size and (raw.dtype == object) != (levels.dtype == object):
        kinds = ("text", "numbers") if levels.dtype == object else ("numbers", "text")
        raise ValueError(f"column {name!r} held {kinds[0]} in the first batch; got {kinds[1]}.")


def _model_of(raw: Array, name: str, asked: str, numbers: str = "density") -> str:
    """The model asked for if the column allows it; for "auto", the one that suits it."""
    text = raw.dtype == object
    binary = not text and bool(((raw == 0) | (raw == 1) | np.isnan(raw)).all())
    if asked == "auto":
        return "categorical" if text else "bernoulli" if binary else numbers
    if asked == "bernoulli" and not binary:
        odd = "text" if text else f"{raw[~np.isin(raw, _BINARY) & ~np.isnan(raw)][0]:g}"
        raise ValueError(
            f"column {name!r} is modelled as 'bernoulli', which allows 0, 1 and missing; got "
            f"{odd}. Use 'categorical' or 'density', or binarise it first."
        )
    if text and not MODELS[asked].nominal:
        raise ValueError(
            f"column {name!r} is modelled as {asked!r}, which needs numbers; got text. "
            "Use 'categorical'."
        )
    return asked


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
        """The same with fewer rows: counts are taken off."""
        return replace(
            self,
            class_count=self.class_count - some.class_count,
            statistics=tuple(
                np.asarray(all_) - np.asarray(less)
                for all_, less in zip(self.statistics, some.statistics, strict=True)
            ),
        )

    def check_batch(self, table: Table) -> None:
        """Judge all columns of a later batch before any of them changes."""
        for j, spec in enumerate(self.specs):
            if not spec.presence:  # any value may stand for presence
                check_batch(spec.model, table.column(j), table.names[j], spec.levels)

    def with_rows(self, table: Table, labels: Ints, weights: Floats) -> "Summary":
        """The same with more rows: statistics merge."""
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
        self,
        classes: Array,
        labels: Ints,
        weights: Floats,
        class_weight: Floats | None = None,
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
    >>> from bayesieve.models import MODELS, Settings, build_columns, one_set, spoken_tables
    >>> spec = SimpleNamespace(
    ...     model="bernoulli", n_distinct=2, resolution=1.0, n_codes=3, points=np.empty(0)
    ... )
    >>> sets = one_set(np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    >>> counts = MODELS["bernoulli"].statistics(np.array([0, 1, 1, 1], np.uint8), 3, sets)
    >>> columns = build_columns([spec], [counts], Settings(1.0, None, np.ones(2)))
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
    specs: Sequence[Spec], statistics: Sequence[Statistics], settings: Settings, n_sets: int = 1
) -> list[ColumnTerms]:
    """Statistics and settings, ready to speak for each column.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from bayesieve.models import MODELS, Settings, build_columns, one_set
    >>> values, sets = np.arange(4.0), one_set(np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    >>> spec = SimpleNamespace(model="gaussian", n_distinct=4, resolution=1.0, points=np.empty(0))
    >>> moments = MODELS["gaussian"].statistics(values, 0, sets)
    >>> column = build_columns([spec], [moments], Settings(1.0, None, np.ones(2)))[0]
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
