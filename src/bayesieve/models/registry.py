"""Every feature model by name."""

from collections.abc import Sequence
from typing import Any

from .base import FeatureModel, Floats, Grid, Settings, Spec
from .counts import CountModel, binary_mean
from .gaussian import GaussianModel
from .tables import ColumnTerms

#: A new member is one entry here.
MODELS: dict[str, FeatureModel] = {
    model.name: model
    for model in (
        CountModel("bernoulli"),
        CountModel("categorical", silent_unseen=True),
        GaussianModel("gaussian"),
        GaussianModel("gaussian-pooled", pooled=True),
    )
}


def build_columns(
    specs: Sequence[Spec],
    statistics: Sequence[Any],
    smoothing: float | str,
    extra_variance: float | None,
    class_weight: Floats,
    n_sets: int = 1,
) -> list[ColumnTerms]:
    """Statistics and settings, ready to speak for each column."""
    means = None
    if smoothing == "mean":
        binary = [
            counts
            for spec, counts in zip(specs, statistics, strict=True)
            if spec.model == "bernoulli"
        ]
        means = binary_mean(binary, n_sets, class_weight.size)
    settings = Settings(smoothing, extra_variance, class_weight, means)
    return [
        ColumnTerms(
            MODELS[spec.model], found, Grid(spec.resolution, max(spec.n_distinct, 1)), settings
        )
        for spec, found in zip(specs, statistics, strict=True)
    ]
