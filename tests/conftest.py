"""Let test modules import their helpers."""

import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes is no property of what is tested.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# They hold no doctests, and four modules of one name cannot be collected as such.
collect_ignore_glob = ["*/conftest.py"]


@pytest.fixture
def usual_signals():
    """Ctrl-C interrupts and a hangup ends: a shell ignores them for what runs in the background."""
    usual = {signal.SIGINT: signal.default_int_handler}
    if hasattr(signal, "SIGHUP"):
        usual[signal.SIGHUP] = signal.SIG_DFL
    before = {each: signal.signal(each, handler) for each, handler in usual.items()}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)
