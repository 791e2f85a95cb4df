"""What a selector is asked for, judged before any work."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from sklearn.utils.validation import _num_samples

from ..checks import Array, check_file, check_flag, check_jobs, check_number, choose, column_indices
from ..criteria import CRITERIA
from ..criteria.base import Criterion
from ..criteria.standard_error import has_standard_error
from ..data.sample import Sample, check_class_weight, is_share, means_loo
from ..engine.gpu.engine import GpuEngine
from ..models.registry import MODELS
from ..search import SEARCHES
from ..search.family import Family
from ..search.run import Task
from ..search.strategies.base import Limits, OwnSearch, Search, Steps
from .families import read_families
from .gpu import check_gpu, check_gpu_table
from .naive_bayes import NaiveBayes
from .votes import FeatureVotes

if TYPE_CHECKING:
    from .selector import NaiveBayesSelector


def gpu_of(engine: object) -> GpuEngine | None:
    """The engine, where it is a GPU.

    Parameters
    ----------
    engine : as users give it.
    """
    if isinstance(engine, str) and engine == "gpu":
        return GpuEngine()
    return engine if isinstance(engine, GpuEngine) else None


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
    """Judge all that does not depend on the data; the search and the criterion."""
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
) -> Task:
    """Judge everything that depends on the data."""
    family = family_of(selector)
    family.check_sample(sample)
    criterion.check_classes(2 if sample.targets.labelled else len(sample.classes))
    models = family.choose_models(sample.table)
    _check_loo(selector, criterion, family, models, sample)
    names = sample.table.names
    units = read_groups(selector.feature_groups, names)
    kept = set(column_indices("keep", selector.keep, names))
    forbidden = read_forbidden(selector.forbid, names, kept)
    begun = None if selector.start is None else column_indices("start", selector.start, names)
    units = without(units, forbidden, names)
    families = None
    if selector.families is not None:
        leading = kept.union(begun or ())
        families, units = read_families(selector.families, sample.table, units, leading, forbidden)
    keep = [u for u, members in enumerate(units) if kept & set(members)]
    n_columns = len(names) - len(forbidden)
    limits, sizes = size_limits(selector, n_columns, sum(len(units[u]) for u in keep))
    if limits.exact:
        check_reachable(limits.most, units, keep)
    start = None if begun is None else read_start(begun, units, names)
    if sample.targets.labelled and selector.class_weight is not None:
        raise ValueError(
            "class_weight is for classes; y is a matrix of labels. Use class_weight=None."
        )
    class_weight = check_class_weight(selector.class_weight, sample.classes)
    if groups is not None and means_loo(selector.cv):
        raise ValueError(
            "cv='loo' would score a row by others of its group; use a number of folds, or a "
            "splitter by groups, or leave groups out."
        )
    if gpu_of(selector.engine) is not None:
        check_gpu_table(sample, models)
    return Task(
        sample,
        family,
        models,
        units,
        keep,
        limits,
        sizes,
        class_weight,
        selector.cv,
        groups,
        _num_samples(X),
        _is_sparse(family, criterion, sample),
        families,
        start,
    )


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
