"""Feature models: mergeable statistics in, terms per value and class out."""

from .base import FeatureModel, Terms, TrainingSets, one_set
from .registry import MODELS, build_columns

__all__ = ["MODELS", "FeatureModel", "Terms", "TrainingSets", "build_columns", "one_set"]
