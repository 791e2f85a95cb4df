"""Loaders and simulators."""

from .dependent import make_dependent
from .incidents import Incidents, make_incidents
from .loading import Dataset, load
from .registry import REGISTRY
from .signals import Signals, make_signals
from .waveform import make_waveform

__all__ = [
    "REGISTRY",
    "Dataset",
    "Incidents",
    "Signals",
    "load",
    "make_dependent",
    "make_incidents",
    "make_signals",
    "make_waveform",
]
