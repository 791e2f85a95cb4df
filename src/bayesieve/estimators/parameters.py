"""What a selector is asked for, where that depends on the data: judged before any work."""

from typing import Any

from ..checks import check_number
from ..criteria import CRITERIA
from ..data.split import means_loo
from ..data.tables import SparseTable
from ..models.registry import MODELS
from ..search.strategies.base import Limits
from .votes import FeatureVotes


def size_limits(selector: Any, n_columns: int, n_kept: int) -> tuple[Limits, tuple[int, int]]:
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


def check_loo(selector: Any, models: list[str], smoothing: Any, read: Any) -> None:
    """Refuse leave-one-out where it has no closed form, by name."""
    if not means_loo(selector.cv):
        return
    without = sorted({name for name in models if not MODELS[name].leaves_one_out})
    reason = None
    if isinstance(selector.estimator, FeatureVotes):
        reason = "FeatureVotes"
    elif isinstance(read.table, SparseTable):
        reason = "sparse columns"
    elif read.targets.labelled:
        reason = "several labels"
    elif CRITERIA.get(selector.criterion, selector.criterion).form == "moves":
        reason = f"criterion={selector.criterion!r}, which is biased when rows are left out singly"
    elif without:
        reason = f"the feature model {without[0]!r}"
    elif smoothing == "mean":
        reason = "smoothing='mean'"
    if reason:
        raise ValueError(
            f"cv='loo' has no closed form for {reason}; use a number of folds, such as cv=10."
        )
