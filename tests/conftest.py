"""Let test modules import their helpers."""

import signal
import sys
from inspect import signature
from pathlib import Path

import pytest
from hypothesis import settings

from bayesieve import WeightedNaiveBayes

sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes is no property of what is tested.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

#: What needs more than this process, and is run by `make integration`: a tier is a marker.
TIERS = {
    "browser": ("explain/test_browser_", "studio/test_studio_browser"),
    "cluster": ("far/",),
    "docs": ("test_docs", "test_readme"),
    "gpu": ("gpu/",),
    "papers": ("app/test_cortizo", "app/test_papers", "rankings/test_relief"),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of each tier, before marks choose."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            name = item.path.relative_to(here).as_posix()
            for tier, begins in TIERS.items():
                if name.startswith(begins):
                    item.add_marker(tier)


# They hold no doctests, and four modules of one name cannot be collected as such.
collect_ignore_glob = ["*/conftest.py"]


@pytest.fixture
def uncorrected(monkeypatch):
    """Weighted models without corrections by default: of what is tested, no part is theirs.

    A fit takes a tenth of the time; where nobody can say `corrections=False`, as on the command
    line, this does.
    """
    init = WeightedNaiveBayes.__init__
    names = reversed(signature(init).parameters)
    given = dict(zip(names, reversed(init.__defaults__), strict=False))
    assert given["corrections"] is True
    given["corrections"] = False
    monkeypatch.setattr(init, "__defaults__", tuple(reversed(given.values())))


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
