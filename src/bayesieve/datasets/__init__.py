"""Loaders and simulators."""

from .loading import REGISTRY, Dataset, load
from .simulated import (
    Incidents,
    Signals,
    make_dependent,
    make_incidents,
    make_signals,
    make_waveform,
)

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
