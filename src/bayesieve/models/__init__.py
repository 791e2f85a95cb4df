"""Feature models: mergeable statistics in, terms per value and class out."""

from ..data.sample import Targets
from .base import FeatureModel, ModelSettings, Terms, TrainingSets, one_set
from .columns import build_columns, spoken_tables
from .registry import MODELS

__all__ = [
    "MODELS",
    "FeatureModel",
    "ModelSettings",
    "Targets",
    "Terms",
    "TrainingSets",
    "build_columns",
    "one_set",
    "spoken_tables",
]
