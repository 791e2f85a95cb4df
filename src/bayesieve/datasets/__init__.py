"""Loaders and simulators."""

from .signals import Signals, make_signals

__all__ = ["Signals", "make_signals"]
