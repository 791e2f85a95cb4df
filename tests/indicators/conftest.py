"""Scores that a test registers are gone after it."""

import pytest

from bayesieve.indicators import SCORES


@pytest.fixture(autouse=True)
def registry():
    before = dict(SCORES)
    yield SCORES
    SCORES.clear()
    SCORES.update(before)
