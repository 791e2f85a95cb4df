"""Of 90 % intervals about 90 % hold the evidence itself, over truths drawn from a distribution."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

_PLACE = Path(__file__).parents[2] / "benchmarks" / "vouched.py"


@pytest.fixture(scope="module")
def bench():
    spec = spec_from_file_location("vouched", _PLACE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KINDS = ["counts", "grids, normal", "grids, skewed", "grids, two humps", "pairs"]


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_evidence(bench, kind):
    found = bench.coverage(kind, 150, 11)
    assert (found[:, 0] >= 3).all()
    assert 0.86 < found[:, 1].mean() < 0.94


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_evidence_of_many_tables(bench, kind):
    found = bench.coverage(kind, 1500, 12)
    assert 0.86 < found[:, 1].mean() < 0.94


@pytest.mark.slow
def test_effective_rows_of_densities_tell_how_far_they_are_off(bench):
    for model, low, high in (
        ("gaussian", 0.9, 1.2),
        ("grid-gaussian", 0.9, 1.25),
        ("kernel", 0.25, 2.0),
        ("rank-kernel", 0.5, 1.2),
    ):
        varies, wrong = bench.spread_of(model, 400, 3)
        inside = slice(0, 6)  # of the last place a rank kernel knows no row
        assert (varies[inside] > low).all()
        assert np.median(wrong) < high
