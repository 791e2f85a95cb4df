"""Validation of estimator parameters; resolution of "auto" and of presets."""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import _num_samples

from ..checks import (
    PRESETS,
    Array,
    check_file,
    check_flag,
    check_jobs,
    check_number,
    choose,
    column_indices,
)
from ..criteria import CRITERIA
from ..criteria.base import Criterion, RowCriterion, has_standard_error
from ..data.sample import Sample, check_class_weight, is_share, means_loo
from ..data.tables import SparseTable, Table
from ..engine.registry import AcceleratorEngine, RemoteTable
from ..models.registry import MODELS, is_category
from ..rankings.collections import find_remote_families
from ..rankings.families import Families, Nearness, find_in_table
from ..search import SEARCHES
from ..search.run import Family, Task
from ..search.strategies.base import Limits, OwnSearch, Search, Steps
from ..search.strategies.greedy import PhaseSearch
from ..search.strategies.ranked import ShortlistSearch
from ..search.term_pool import MOST_CELLS, MOST_CLASSES, CodedColumns, WeightPlan, n_groups
from ..search.term_search import FitOption
from .naive_bayes import NaiveBayes
from .votes import FeatureVotes

if TYPE_CHECKING:
    from .selector import NaiveBayesSelector
    from .weighted import WeightedNaiveBayes


def read_families(
    given: object,
    table: Table,
    units: list[list[int]],
    kept: Iterable[int] = (),
    forbidden: Iterable[int] = (),
) -> tuple[Families, list[list[int]]]:
    """The families of a table, and the units that may be chosen: those of the leaders.

    Parameters
    ----------
    given : ``"auto"``, a `Families`, or lists of columns, each led by its first.
    table : all rows; no class is looked at.
    units : columns that move together.  Those of units of several stand for themselves alone.
    kept : columns that stay in: they lead, each a family of its own where two are twins.
    forbidden : columns that must not be chosen, and are in no unit: the next of their family leads.
    """
    together = {j for members in units if len(members) > 1 for j in members}
    alone = [j for j in range(len(table.names)) if j not in together]
    if isinstance(given, str):
        choose("families", given, ["auto"], beside="lists of columns")
        found = _find(table, alone, kept, set(forbidden))
    else:
        found = _listed(given, table)
    leader = found.leader.copy()
    for j in together:
        others = np.flatnonzero((leader == j) & (np.arange(leader.size) != j))
        leader[others] = others[:1]
        leader[j] = j
    barred = set(forbidden)
    found = Families(found.names, leader).led_by(_heirs(leader, barred))
    found = found.led_by(sorted(set(kept) - together))
    leads = set(found.leaders.tolist())
    return found, [members for members in units if len(members) > 1 or members[0] in leads]


def _heirs(leader: NDArray[np.int64], barred: set[int]) -> list[int]:
    """The first column that may be chosen of each family whose leader may not."""
    heirs: dict[int, int] = {}
    for j, first in enumerate(leader.tolist()):
        if first in barred and j not in barred:
            heirs.setdefault(first, j)
    return list(heirs.values())


def _find(table: Table, alone: list[int], kept: Iterable[int], barred: set[int]) -> Families:
    """Near-twins among the columns that move alone; those that may be chosen lead."""
    leader = np.arange(len(table.names))
    order = [*sorted(kept), *(j for j in alone if j not in barred)]
    if alone and isinstance(table, RemoteTable):
        return find_remote_families(table, alone, [j for j in order if j in set(alone)], Nearness())
    if alone:
        where = {j: at for at, j in enumerate(alone)}
        part = table if len(alone) == len(table.names) else table.pick(np.array(alone))
        found = find_in_table(part, [where[j] for j in order if j in where])
        leader[alone] = np.array(alone)[found.leader]
    return Families(tuple(table.names), leader)


def _listed(given: object, table: Table) -> Families:
    """Families that a user has: found before, or listed."""
    names = table.names
    if isinstance(given, Families):
        if given.leader.size != len(names):
            raise ValueError(
                f"families must be of the columns of X, of which there are {len(names)}; got those "
                f"of {given.leader.size} columns."
            )
        return Families(tuple(names), given.leader)
    if not isinstance(given, Iterable):
        raise TypeError(
            "families must be None, 'auto', what find_families found, or a list of lists of column "
            f"names or numbers; got {given!r}."
        )
    leader, seen = np.arange(len(names)), set()
    for g, members in enumerate(given):
        columns = column_indices(f"families[{g}]", members, names)
        twice = [j for j in columns if j in seen]
        if twice or len(set(columns)) < len(columns):
            name = names[(twice or columns)[0]]
            raise ValueError(f"families must not overlap; column {name!r} is named twice.")
        seen.update(columns)
        leader[columns] = columns[:1] * len(columns)
    return Families(tuple(names), leader)


# -- Constraints and class weights of either estimator ---------------------------------------------


class Constraints(NamedTuple):
    """Which columns may be chosen, which move together, and which stay in."""

    units: list[list[int]]
    keep: list[int]  #: units that stay in
    kept: set[int]  #: columns that were named so
    forbidden: set[int]
    families: Families | None


def read_constraints(
    model: "NaiveBayesSelector | WeightedNaiveBayes", table: Table, begun: Iterable[int]
) -> Constraints:
    """Read `keep`, `forbid`, `feature_groups` and `families` of an estimator.

    Parameters
    ----------
    model : its parameters.
    table : all rows.
    begun : columns that `start` names: they lead their families.
    """
    names, families = table.names, None
    units = read_groups(model.feature_groups, names)
    kept = set(column_indices("keep", model.keep, names))
    forbidden = read_forbidden(model.forbid, names, kept)
    units = without(units, forbidden, names)
    if model.families is not None:
        leading = kept.union(begun)
        families, units = read_families(model.families, table, units, leading, forbidden)
    keep = [u for u, members in enumerate(units) if kept & set(members)]
    return Constraints(units, keep, kept, forbidden, families)


def read_class_weight(
    model: "NaiveBayesSelector | WeightedNaiveBayes", sample: Sample
) -> dict[int, float] | str | None:
    """Read `class_weight` of an estimator: by class indices, "balanced" or None."""
    if sample.targets.labelled and model.class_weight is not None:
        raise ValueError(
            "class_weight is for classes; y is a matrix of labels. Use class_weight=None."
        )
    return check_class_weight(model.class_weight, sample.classes)


# -- Fits on a GPU ---------------------------------------------------------------------------------


# Cells for each core of this machine below which its threads are quicker, as measured once with 2
# cores and with 16.
_PAYS = 330_000


def check_gpu(engine: AcceleratorEngine, estimator: object, criterion: Criterion) -> None:
    """Refuse what no GPU could do, and a machine without one.

    Parameters
    ----------
    engine : which GPUs.
    estimator, criterion : of the selector.
    """
    if isinstance(estimator, FeatureVotes):
        raise ValueError("estimator: FeatureVotes cannot be searched on a GPU; use engine=None.")
    if not isinstance(criterion, RowCriterion):
        raise ValueError(
            f"criterion {criterion.name!r} compares rows with each other, or is your own: on a GPU "
            "use 'error', 'probability' or 'log-likelihood'."
        )
    engine.judged()


def check_gpu_table(sample: Sample, models: Sequence[str]) -> None:
    """Refuse tables that a GPU does not hold; a word where threads would be quicker.

    Parameters
    ----------
    sample : the rows.
    models : the feature model of each column.
    """
    if isinstance(sample.table, SparseTable):
        raise TypeError(
            "engine='gpu' holds dense tables; got a sparse matrix. Use engine=None, or a dense "
            "array of bytes."
        )
    if sample.targets.labelled:
        raise ValueError("engine='gpu' knows classes; y is a matrix of labels. Use engine=None.")
    for name, model in zip(sample.table.names, models, strict=False):
        if not MODELS[model].discrete:
            raise ValueError(
                f"column {name!r} is modelled as {model!r}, which has no table of counts: on a GPU "
                "use features='density', or another model on the grid."
            )
    n_cells = sample.labels.size * len(sample.table.names)
    if n_cells < _PAYS * (os.cpu_count() or 1):
        warnings.warn(
            f"engine='gpu': {sample.labels.size} rows x {len(sample.table.names)} columns are too "
            "few for a GPU to pay; threads (engine=None, n_jobs=-1) are quicker, and give the same "
            "result.",
            UserWarning,
            stacklevel=4,
        )


# -- What a selector is asked for, judged before any work ------------------------------------------


def gpu_of(engine: object) -> AcceleratorEngine | None:
    """The engine, where it is a GPU.

    Parameters
    ----------
    engine : as users give it.
    """
    if isinstance(engine, str) and engine == "gpu":
        return AcceleratorEngine()
    return engine if isinstance(engine, AcceleratorEngine) else None


def check_repeatable(random_state: object, split: bool, search: Search) -> None:
    """A search can be resumed only if its draws can be repeated."""
    if random_state is None and (split or search.draws_without_seed):
        raise ValueError(
            "checkpoint needs random_state, since rows (or the search's steps) are drawn and a "
            "search that goes on must draw the same; got random_state=None. Give a whole number."
        )


def read_groups(groups: object, names: list[str]) -> list[list[int]]:
    """Columns that move together; every column not named is a group of its own."""
    if groups is None:
        return [[j] for j in range(len(names))]
    if isinstance(groups, str | Mapping) or not isinstance(groups, Iterable):
        raise TypeError(
            f"feature_groups must be a list of lists of column names or numbers; got {groups!r}."
        )
    owner: dict[int, int] = {}
    members = []
    for g, group in enumerate(groups):
        columns = sorted(column_indices(f"feature_groups[{g}]", group, names))
        if not columns:
            raise ValueError(f"feature_groups[{g}] is empty; leave it out.")
        for j in columns:
            if j in owner:
                raise ValueError(
                    f"feature_groups must not overlap; column {names[j]!r} is in group "
                    f"{owner[j]} and in group {g}."
                )
            owner[j] = g
        members.append(columns)
    members.extend([j] for j in range(len(names)) if j not in owner)
    return sorted(members)


def read_forbidden(forbid: Iterable[str | int], names: list[str], kept: set[int]) -> set[int]:
    """Columns that must not be chosen."""
    forbidden = set(column_indices("forbid", forbid, names))
    both = sorted(kept & forbidden)
    if both:
        raise ValueError(f"column {names[both[0]]!r} is in keep and in forbid; take one of them.")
    if names and len(forbidden) == len(names):
        raise ValueError("forbid names every column; leave at least one to choose from.")
    return forbidden


def without(units: list[list[int]], forbidden: set[int], names: list[str]) -> list[list[int]]:
    """Groups of which no column is forbidden."""
    for members in units:
        odd = sorted(forbidden & set(members))
        if odd and len(members) > 1:
            raise ValueError(
                f"column {names[odd[0]]!r} is in forbid and in a group of feature_groups; take it "
                "out of one of them."
            )
    return [members for members in units if not forbidden & set(members)]


def check_start(start: object, search: Search) -> None:
    """Only some searches can begin anywhere."""
    if start is not None and not search.starts_anywhere:
        raise ValueError(
            f"start needs a greedy, floating or phase search, such as search='forward'; a "
            f"{type(search).__name__} begins where it must. Use start=None."
        )


def read_start(columns: list[int], units: list[list[int]], names: list[str]) -> tuple[int, ...]:
    """The units that a search begins with, in the order given."""
    unit_of = {j: u for u, members in enumerate(units) for j in members}
    for j in columns:
        if j not in unit_of:
            raise ValueError(
                f"start: column {names[j]!r} cannot be chosen, as forbid or families have it; take "
                "it out of one of them."
            )
    return tuple(dict.fromkeys(unit_of[j] for j in columns))


def check_reweighable(family: Family) -> None:
    """Weights need tables of counts from which a row can be left out."""
    if family.form == "moves":
        raise ValueError(f"reweigh=True is for a NaiveBayes; got a {family.name}.")
    if isinstance(family.smoothing, str) or not family.smoothing:
        raise ValueError(
            f"reweigh=True needs smoothing to be a number above 0; got {family.smoothing!r}."
        )


def check_reachable(size: int, units: list[list[int]], keep: list[int]) -> None:
    """Some of the groups must add up to the number of columns asked for."""
    sums = 1 << sum(len(units[u]) for u in keep)
    for u, members in enumerate(units):
        if u not in keep:
            sums |= sums << len(members)
    if not sums >> size & 1:
        raise ValueError(
            f"n_features={size} cannot be reached: no choice of feature_groups (with keep, and one "
            "column of each family) adds up to it. Change n_features, or use max_features."
        )


def check_choice(choice: object, chooser: Criterion) -> None:
    """The best subset, or a smaller one within the standard error of the criterion that chooses."""
    choose("choice", choice, ["best", "one-se", "proven"], beside="'auto'")
    if choice != "best" and not has_standard_error(chooser):
        raise ValueError(
            f"choice={choice!r} needs a standard error, which criterion {chooser.name!r} does not "
            "have; use choice='best', a criterion known by name, or a validation part with "
            "choice='one-se'."
        )


def check_validation(validation: object) -> None:
    """None, a share, a splitter, or rows; rows are judged with the table."""
    if validation is None or isinstance(validation, bool | str):
        allowed = validation is None
    elif is_share(validation):
        check_number("validation", validation, low=0.0, high=1.0)
        if validation in (0, 1):
            raise ValueError(
                f"validation must be None or strictly between 0 and 1; got {validation!r}. Use "
                "None to let all rows guide the search."
            )
        return
    else:
        allowed = hasattr(validation, "split") or isinstance(validation, Iterable)
    if not allowed:
        raise TypeError(
            "validation must be None, a number from 0 to 1, a splitter, or a mask or list of rows; "
            f"got {validation!r}."
        )


def check_search(search: object, known: Mapping[str, Search], n_features: object) -> Search:
    """A search by name, or an object with `steps`, whose parameters it judges itself."""
    if isinstance(search, type) or not callable(getattr(search, "steps", None)):
        search = known[choose("search", search, known, beside="'auto'")]
    if not isinstance(search, Search):
        search = OwnSearch(cast(Steps, search))
    search.check()
    if search.may_end_early and n_features is not None:
        raise ValueError(
            "search.stop='no-improvement' and search.patience may end before n_features is "
            "reached; use stop='end' and patience=None, or max_features."
        )
    return search


# Scores of scikit-learn, and the criteria that come nearest.
_ELSEWHERE = {
    "accuracy": "'error', which is 1 - accuracy",
    "balanced_accuracy": "'error' with class_weight='balanced'",
    "roc_auc": "'auc'",
    "log_loss": "'log-likelihood'",
    "neg_log_loss": "'log-likelihood'",
    "brier_score_loss": "'probability', the mean of P(Y != y)",
    "neg_brier_score": "'probability', the mean of P(Y != y)",
}


def family_of(selector: "NaiveBayesSelector") -> Family:
    """The family of models that a selector searches."""
    estimator = NaiveBayes() if selector.estimator is None else selector.estimator
    if not isinstance(estimator, NaiveBayes | FeatureVotes):
        raise TypeError(
            "estimator must be a NaiveBayes, a FeatureVotes or None; got "
            f"{type(estimator).__name__}."
        )
    return estimator.family()


#: Parameters that may be "auto", or be filled by a preset.
SETTINGS = (
    "search",
    "criterion",
    "cv",
    "validation",
    "choice",
    "reweigh",
    "families",
    "max_features",
)


def asks_for_auto(selector: "NaiveBayesSelector") -> bool:
    """Is anything left for the data, or a preset, to decide?"""
    values = [getattr(selector, name) for name in SETTINGS[:6]]
    return selector.preset is not None or any(isinstance(v, str) and v == "auto" for v in values)


def chooser_of(selector: "NaiveBayesSelector", criterion: Criterion) -> Criterion:
    """What chooses among the subsets visited."""
    return criterion if selector.validation is None or criterion.chooses else CRITERIA["error"]


def judge_parameters(selector: "NaiveBayesSelector") -> tuple[Search, Criterion]:
    """Validate all that does not depend on the data; the search and the criterion."""
    family_of(selector).check()
    search = check_search(selector.search, SEARCHES, selector.n_features)
    criterion = selector.criterion
    if not isinstance(criterion, Criterion):
        criterion = CRITERIA[choose("criterion", criterion, CRITERIA, _ELSEWHERE, "'auto'")]
    criterion.check()
    check_start(selector.start, search)
    check_validation(selector.validation)
    if isinstance(selector.cv, str):
        choose(
            "cv", selector.cv, ["train", "loo"], beside="'auto', a number of folds or a splitter"
        )
    # A proof is by the criterion that guides, whoever chooses.
    proven = isinstance(selector.choice, str) and selector.choice == "proven"
    check_choice(selector.choice, criterion if proven else chooser_of(selector, criterion))
    check_flag("progress", selector.progress)
    check_flag("reweigh", selector.reweigh)
    if selector.reweigh:
        check_reweighable(family_of(selector))
    check_jobs(selector.n_jobs)
    if selector.checkpoint is not None:
        check_file("checkpoint", selector.checkpoint)
        drawn = selector.validation is not None and is_share(selector.validation)
        check_repeatable(selector.random_state, drawn, search)
    if selector.time_limit is not None:
        check_number("time_limit", selector.time_limit, low=0.0)
    gpu = gpu_of(selector.engine)
    if gpu is not None:
        check_gpu(gpu, selector.estimator, criterion)
    return search, criterion


def judge_data(
    selector: "NaiveBayesSelector",
    criterion: Criterion,
    sample: Sample,
    X: object,
    groups: Array | None,
    every: bool = True,
) -> Task:
    """Validate everything that depends on the data.

    Parameters
    ----------
    selector, criterion, sample, X, groups : as given.
    every : are constants and names of rows offered, too?  A search that is named walks all columns.
    """
    family = family_of(selector)
    family.check_sample(sample)
    criterion.check_classes(2 if sample.targets.labelled else len(sample.classes))
    models = family.choose_models(sample.table)
    _check_loo(selector, criterion, family, models, sample)
    names = sample.table.names
    begun = None if selector.start is None else column_indices("start", selector.start, names)
    bound = read_constraints(selector, sample.table, begun or ())
    units, keep = bound.units, bound.keep
    n_columns = len(names) - len(bound.forbidden)
    limits, sizes = size_limits(selector, n_columns, sum(len(units[u]) for u in keep))
    bound_together = selector.feature_groups or not isinstance(selector.families, str | None)
    if not (every or bound_together or begun):
        units, keep = _that_may_tell(sample.table, units, keep, sizes)
        most = sum(map(len, units))
        limits = replace(limits, most=min(limits.most, most))
        sizes = sizes[0], min(sizes[1], most)
    if limits.exact:
        check_reachable(limits.most, units, keep)
    class_weight = read_class_weight(selector, sample)
    if groups is not None and means_loo(selector.cv):
        raise ValueError(
            "cv='loo' would score a row by others of its group; use a number of folds, or a "
            "splitter by groups, or leave groups out."
        )
    if gpu_of(selector.engine) is not None:
        check_gpu_table(sample, models)
    return Task(
        sample=sample,
        family=family,
        models=models,
        units=units,
        keep=keep,
        limits=limits,
        sizes=sizes,
        class_weight=class_weight,
        cv=selector.cv,
        groups=groups,
        n_rows=_num_samples(X),
        sparse=_is_sparse(family, criterion, sample),
        families=bound.families,
        start=None if begun is None else read_start(begun, units, names),
    )


def _that_may_tell(
    table: Table, units: list[list[int]], keep: list[int], sizes: tuple[int, int]
) -> tuple[list[list[int]], list[int]]:
    """Columns but constants and identifiers, and those to keep; all where too few would be left."""
    kept = {column for u in keep for column in units[u]}
    names = [j for (j,) in units if j not in kept and table.is_identifier(j)]
    idle = {*names} | {j for (j,) in units if j not in kept and table.is_constant(j)}
    found = [unit for unit in units if idle.isdisjoint(unit)]
    if len(found) < max(sizes[0], sizes[1] if sizes[0] == sizes[1] else 1):
        return units, keep
    if names:
        named = f"{table.names[min(names)]!r}{f' and {len(names) - 1} more' if names[1:] else ''}"
        warnings.warn(
            f"column {named}: texts that hardly repeat, as names of rows do, are not offered; name "
            "the column in keep to have it.",
            stacklevel=6,
        )
    return found, [u for u, unit in enumerate(found) if kept & {*unit}]


def _is_sparse(family: Family, criterion: Criterion, sample: Sample) -> bool:
    """Does a ledger of sparse moves serve all parts, rather than a dense one?"""
    if family.form == "moves" and criterion.form != "moves":
        raise ValueError(
            f"{family.name} counts and knows no probabilities: criterion must be 'auc' or "
            f"'penalised-auc'; got {criterion.name!r}."
        )
    sparse = sample.table.is_sparse or sample.targets.labelled
    if not sparse and family.form != "moves":
        return criterion.form == "moves"
    if criterion.form == "lines":
        raise ValueError(
            f"criterion {criterion.name!r} needs dense columns, classes and a NaiveBayes; use "
            "'error', 'probability', 'log-likelihood', 'auc' or 'penalised-auc'."
        )
    return True


def size_limits(
    selector: "NaiveBayesSelector", n_columns: int, n_kept: int
) -> tuple[Limits, tuple[int, int]]:
    """Sizes the search visits, and sizes that may be chosen."""
    least = check_number("min_features", selector.min_features, low=0, high=n_columns, whole=True)
    most = n_columns
    if selector.max_features is not None:
        most = check_number(
            "max_features", selector.max_features, low=max(least, 1), high=n_columns, whole=True
        )
    if selector.n_features is not None:
        if selector.max_features is not None:
            raise ValueError(
                f"give n_features ({selector.n_features}) or max_features "
                f"({selector.max_features}), not both."
            )
        most = check_number("n_features", selector.n_features, low=1, high=n_columns, whole=True)
        if most < least:
            raise ValueError(f"n_features ({most}) must not be below min_features ({least}).")
    if n_kept > most:
        raise ValueError(
            f"keep asks for {n_kept} columns (with their groups), more than the {most} allowed "
            "by n_features or max_features."
        )
    if selector.n_features is None:
        return Limits(int(least), int(most)), (int(least), int(most))
    return Limits(int(least), int(most), exact=True), (int(most), int(most))


def _check_loo(
    selector: "NaiveBayesSelector",
    criterion: Criterion,
    family: Family,
    models: list[str],
    sample: Sample,
) -> None:
    """Refuse leave-one-out where it has no closed form, by name."""
    if not means_loo(selector.cv):
        return
    without = sorted({name for name in models if not MODELS[name].leaves_one_out})
    reason = None
    if family.form == "moves":
        reason = family.name
    elif sample.table.is_sparse:
        reason = "sparse columns"
    elif sample.targets.labelled:
        reason = "several labels"
    elif criterion.form == "moves":
        reason = f"criterion={selector.criterion!r}, which is biased when rows are left out singly"
    elif without:
        reason = f"the feature model {without[0]!r}"
    elif family.smoothing == "mean":
        reason = "smoothing='mean'"
    if reason:
        raise ValueError(
            f"cv='loo' has no closed form for {reason}; use a number of folds, such as cv=10."
        )


# -- What a path of weighted terms may do, as users ask for it -------------------------------------


def read_plan(
    model: "WeightedNaiveBayes", sample: Sample, models: Sequence[str], n_classes: int
) -> tuple[WeightPlan, Constraints]:
    """What a path of weighted terms may do, and the constraints it was read from."""
    names = sample.table.names
    begun = read_terms(model.start, names)
    bound = read_constraints(model, sample.table, {j for term in begun for j in term})
    units, kept, forbidden = bound.units, bound.kept, bound.forbidden
    if bound.families is not None:
        # Nor may a pair hold a column that another one stands for.
        forbidden = set(range(len(names))) - {j for members in units for j in members}
    rising = read_monotone(model.monotone, names, models, n_classes)
    start = _start(begun, units, kept, rising, names)
    _check_room(model, units, kept, start)
    plan = WeightPlan(
        float(model.smoothing),
        float(model.ridge),
        float(model.pair_price),
        int(model.max_terms),
        tuple(map(tuple, units)),
        tuple(bound.keep),
        frozenset(forbidden),
        rising,
        model.missing == "evidence",
        start=start,
        corrections=not isinstance(model.corrections, bool | np.bool_) or bool(model.corrections),
        freedom=None if isinstance(model.corrections, bool | np.bool_) else model.corrections,
    )
    return plan, bound


def read_monotone(
    given: object, names: list[str], models: Sequence[str], n_classes: int
) -> dict[int, int]:
    """Columns whose evidence may only rise or fall, by position."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"monotone must be a mapping of columns to 1 (rises) or -1 (falls); got {given!r}."
        )
    if given and n_classes != 2:
        raise ValueError(
            f"monotone is for two classes: evidence for the second rises or falls; got {n_classes}."
        )
    found = {}
    for key, sign in given.items():
        (j,) = column_indices(f"monotone key {key!r}", [key], names)
        if j in found:
            raise ValueError(f"monotone names column {names[j]!r} twice; name it once.")
        if isinstance(sign, bool) or not isinstance(sign, Real) or sign not in (1, -1):
            raise ValueError(f"monotone[{key!r}] must be 1 (rises) or -1 (falls); got {sign!r}.")
        if is_category(models[j]):
            raise ValueError(
                f"monotone[{key!r}]: column {names[j]!r} is modelled as {models[j]!r}, whose "
                "values have no order; use a feature model on the grid, such as 'curve'."
            )
        found[j] = 1 if sign == 1 else -1
    return found


def read_terms(start: object, names: list[str], of: str = "start") -> list[tuple[int, ...]]:
    """Terms that somebody names: one column each, or two.

    Parameters
    ----------
    start : None, or a list of columns and pairs of columns, by name or number.
    names : of the columns.
    of : the parameter.

    Examples
    --------
    >>> from bayesieve.estimators._validation import read_terms
    >>> read_terms(["c", ("b", 0), (1,)], ["a", "b", "c"])
    [(2,), (0, 1), (1,)]
    """
    if start is None:
        return []
    if isinstance(start, str) or not isinstance(start, Iterable):
        raise TypeError(
            f"{of} must be a list of columns and pairs of columns, such as ['age', ('height', "
            f"'weight')]; got {start!r}. Wrap a single one in a list."
        )
    found = []
    for at, term in enumerate(start):
        alone = isinstance(term, str | Integral)
        if not alone and not isinstance(term, Iterable):
            raise TypeError(
                f"{of}[{at}] must be a column, by name or number, or a pair of two; got {term!r}. "
                "Of a mask, give np.flatnonzero(mask)."
            )
        columns = column_indices(f"{of}[{at}]", [term] if alone else term, names)
        if len(set(columns)) != len(columns) or len(columns) not in (1, 2):
            raise ValueError(
                f"{of}[{at}] must be a column, or a pair of two different ones; got {term!r}."
            )
        found.append(tuple(sorted(columns)))
    return list(dict.fromkeys(found))


def _start(
    begun: Sequence[tuple[int, ...]],
    units: list[list[int]],
    kept: set[int],
    rising: Mapping[int, int],
    names: list[str],
) -> tuple[tuple[int, ...], ...]:
    """Starting terms, checked against groups, keep and monotone constraints."""
    read_start([j for term in begun for j in term], units, names)
    bound = {j for unit in units if len(unit) > 1 and not kept & set(unit) for j in unit}
    for j in sorted({j for term in begun if len(term) == 2 for j in term}):
        for columns, parameter in ((bound, "feature_groups"), (rising, "monotone")):
            if j in columns:
                raise ValueError(
                    f"start: column {names[j]!r} stands in no pair, since {parameter} names it; "
                    "take it out of one of them."
                )
    return tuple(begun)


def _check_room(
    model: "WeightedNaiveBayes",
    units: list[list[int]],
    kept: set[int],
    start: Sequence[tuple[int, ...]],
) -> None:
    """What is in from the start must not be more than there may be."""
    begun = {term[0] for term in start if len(term) == 1}
    n_kept = sum(len(members) for members in units if kept & set(members))
    n_first = sum(len(members) for members in units if (kept | begun) & set(members))
    n_first += sum(len(term) == 2 for term in start)
    if n_first <= int(model.max_terms):
        return
    why = "keep and start, with their groups, name as many terms"
    if n_first == n_kept:
        why = "keep, with its groups, names as many columns"
    raise ValueError(f"max_terms must be at least {n_first}, since {why}; got {model.max_terms}.")


def with_start_pairs(
    plan: WeightPlan, options: Sequence[FitOption], columns: CodedColumns, n_classes: int
) -> tuple[FitOption, ...]:
    """Options of a fit whose candidates include the starting pairs.

    Parameters
    ----------
    plan : where it begins.
    options : the simplest first.
    columns : as codes.
    n_classes : of each problem.
    """
    pairs = plan.start_pairs
    if not pairs:
        return tuple(options)
    if not any(option.pairs for option in options):
        raise ValueError("start holds a pair of columns, and pairs=False: use pairs=True.")
    if n_classes > MOST_CLASSES:
        raise ValueError(
            f"start holds a pair of columns; pairs are for at most {MOST_CLASSES} classes, and "
            f"there are {n_classes}. Name columns alone."
        )
    for pair in pairs:
        first, second = n_groups(columns, pair)
        if first * second > MOST_CELLS:
            names = " x ".join(repr(columns.specs[j].name) for j in pair)
            raise ValueError(
                f"start: the pair {names} has more than {MOST_CELLS} cells; name the columns alone."
            )
    return tuple(option for option in options if option.pairs)


# -- What "auto" and presets stand for, by rows, columns and classes -------------------------------


AUTO = "auto"

#: At most so many columns or terms.
FEW = 10

#: At most so many terms of a weighted model.
TERMS = {"few": 8, "balanced": 18, "accurate": 60, None: 18}

# Steps without a better subset after which a phase ends; together they must bring this share of all
# that was gained, or a table of many rows is searched for gains that nobody would keep.
_PATIENCE, _LEAST_GAIN = 20, 0.005

# Tables with more columns are cut to so many by a ranking.
_WIDE, _CUT = 5000, 1000

# Where there are more columns than rows, some of them fit by chance: so many rows for each.
_ROWS_A_COLUMN = 10

_FOLDS = 10

# Rows a class must have to be folded, also when a third of the rows is put aside.
_LEAST_ROWS = 15


def settle(
    selector: "NaiveBayesSelector", sample: Sample | None = None, groups: Array | None = None
) -> "NaiveBayesSelector":
    """A copy in which nothing is "auto" any more.

    Parameters
    ----------
    selector : as the user made it.
    sample : the rows; None before there are any, to judge what the user asks for.
    groups : of the rows with weight, or None.
    """
    if selector.preset is not None:
        choose("preset", selector.preset, PRESETS)
    found = copy(selector)
    votes = isinstance(found.estimator, FeatureVotes)
    if _is_auto(found.criterion):
        found.criterion = "auc" if votes else "probability"
    if _is_auto(found.validation):
        found.validation = None
    if found.max_features is None and found.n_features is None:
        found.max_features = _most(selector, sample)
    if found.preset == "few":
        found.families = AUTO if found.families is None else found.families
    if _is_auto(found.search):
        found.search = _search(found, sample)
    if _is_auto(found.cv):
        found.cv = _folds(found, sample, groups)
    if _is_auto(found.choice):
        found.choice = _choice(found, groups)
    if _is_auto(found.reweigh):
        found.reweigh = _reweighable(found, sample)
    return found


def settle_weighted(model: "WeightedNaiveBayes") -> "WeightedNaiveBayes":
    """A copy whose preset is spelt out; what folds decide stays "auto".

    Parameters
    ----------
    model : as the user made it.
    """
    if model.preset is not None:
        choose("preset", model.preset, PRESETS)
    found = copy(model)
    if _is_auto(found.max_terms):
        found.max_terms = TERMS[found.preset]
    if found.preset == "few" and found.families is None:
        found.families = AUTO
    return found


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def _most(selector: "NaiveBayesSelector", sample: Sample | None) -> int | None:
    """Ten, where few are asked for; one for ten rows, where there are more columns than rows."""
    if sample is None:
        return None
    names, n_rows = sample.table.names, sample.labels.size
    most = FEW if selector.preset == "few" else max(FEW, n_rows // _ROWS_A_COLUMN)
    if selector.preset != "few" and (len(names) <= n_rows or not _is_auto(selector.search)):
        return None
    kept = set(column_indices("keep", selector.keep, names))
    free = len(names) - len(read_forbidden(selector.forbid, names, kept))
    groups = read_groups(selector.feature_groups, names)
    n_kept = sum(len(members) for members in groups if kept & set(members))
    least = check_number("min_features", selector.min_features, low=0, high=free, whole=True)
    return min(max(most, int(least), n_kept), free)


def _search(selector: "NaiveBayesSelector", sample: Sample | None) -> object:
    if selector.n_features is not None:
        return "forward-backward"
    least = 0.0 if selector.preset == "accurate" else _LEAST_GAIN
    search = PhaseSearch("forward", patience=_PATIENCE, least_gain=least)
    if sample is None or len(sample.table.names) <= _WIDE:
        return search
    return ShortlistSearch(search, size=_CUT)


def _folds(selector: "NaiveBayesSelector", sample: Sample | None, groups: Array | None) -> object:
    """Folds; leave-one-out where a class has too few rows for them."""
    if sample is None:
        return shuffled(_FOLDS)
    if groups is not None:
        return max(min(_FOLDS, len(set(groups.tolist()))), 2)
    least = int(np.bincount(sample.strata).min())
    if least >= _LEAST_ROWS or not _leaves_one_out(selector, sample):
        return shuffled(max(min(_FOLDS, int(np.bincount(sample.strata).max())), 2))
    return "loo"


def shuffled(n_splits: int) -> StratifiedKFold:
    """Folds that do not hang on the order of the rows, which tables are often sorted by."""
    return StratifiedKFold(n_splits, shuffle=True, random_state=0)


def folds_of_fewer(task: Task, rows: NDArray[np.int64]) -> object:
    """Cross-validation for fewer rows: at most as many folds as rows of a class, or groups."""
    cv, most = task.cv, int(np.bincount(task.sample.strata[rows]).max())
    if task.groups is not None:
        most = min(most, len(set(task.groups[task.sample.rows[rows]].tolist())))
    most = max(most, 2)
    if isinstance(cv, Integral):
        return min(int(cv), most)
    if isinstance(cv, StratifiedKFold) and cv.n_splits > most:
        return StratifiedKFold(most, shuffle=cv.shuffle, random_state=cv.random_state)
    return cv


def suit_folds(
    selector: "NaiveBayesSelector", asked: "NaiveBayesSelector", task: Task, rows: NDArray[np.int64]
) -> Task:
    """Folds that nobody named are no more than the guiding rows carry.

    Parameters
    ----------
    selector, asked : as the user made it, and with everything spelt out; the latter is told.
    task : what is to be searched.
    rows : those that guide.
    """
    if not _is_auto(selector.cv):
        return task
    asked.cv = folds_of_fewer(task, rows)
    return replace(task, cv=asked.cv)


def _leaves_one_out(selector: "NaiveBayesSelector", sample: Sample) -> bool:
    estimator = NaiveBayes() if selector.estimator is None else selector.estimator
    if not isinstance(estimator, NaiveBayes) or estimator.smoothing == "mean":
        return False
    if sample.table.is_sparse or sample.targets.labelled:
        return False
    criterion = _criterion(selector)
    models = estimator.family().choose_models(sample.table)
    return (
        criterion is not None
        and criterion.form != "moves"
        and all(MODELS[model].leaves_one_out for model in models)
    )


def _criterion(selector: "NaiveBayesSelector") -> Criterion | None:
    """The criterion, where it is one; judged later."""
    if isinstance(selector.criterion, Criterion):
        return selector.criterion
    return CRITERIA.get(selector.criterion)


def _choice(selector: "NaiveBayesSelector", groups: Array | None = None) -> str:
    """Nothing that chance would find as well, where scores are honest and known to a margin."""
    criterion = _criterion(selector)
    if selector.validation is not None or (isinstance(selector.cv, str) and selector.cv == "train"):
        return "best"
    if selector.n_features is not None or criterion is None or not has_standard_error(criterion):
        return "best"
    # Of few groups, the best subset is that of the luckiest column too often.
    if selector.preset == "accurate" and groups is None:
        return "best"
    # Rows that led to the start cannot prove what is found from there.
    return "proven" if selector.start is None else "one-se"


def _reweighable(selector: "NaiveBayesSelector", sample: Sample | None) -> bool:
    estimator = NaiveBayes() if selector.estimator is None else selector.estimator
    if not isinstance(estimator, NaiveBayes) or isinstance(estimator.smoothing, str):
        return False
    if not estimator.smoothing or sample is None or sample.targets.labelled:
        return False
    models = set(estimator.family().choose_models(sample.table))
    return all(MODELS[model].discrete for model in models)
