"""Loaders and simulators."""

from .dependent import make_dependent
from .loading import Dataset, load
from .registry import REGISTRY
from .signals import Signals, make_signals

__all__ = ["REGISTRY", "Dataset", "Signals", "load", "make_dependent", "make_signals"]
