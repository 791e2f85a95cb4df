"""Feature models: mergeable statistics in, terms per value and class out."""

from .base import FeatureModel, Terms, TrainingSets, one_set
from .counts import CountModel
from .gaussian import GaussianModel

#: Every feature model by name; a new member is one entry here.
MODELS: dict[str, FeatureModel] = {
    model.name: model
    for model in (
        CountModel("bernoulli"),
        CountModel("categorical", silent_unseen=True),
        GaussianModel("gaussian"),
        GaussianModel("gaussian-pooled", pooled=True),
    )
}

__all__ = [
    "MODELS",
    "CountModel",
    "FeatureModel",
    "GaussianModel",
    "Terms",
    "TrainingSets",
    "one_set",
]
