"""Not a bit of a result changes by accident: every fit that was written down is fitted again."""

import json

import pytest

import golden

KNOWN = json.loads(golden.FILE.read_text("utf-8"))
CASES = golden.cases()
WEIGHTED = dict(golden.weighted_cases())


def test_the_file_is_about_these_fits():
    assert len(KNOWN["fits"]) > 60
    assert set(KNOWN["fits"]) == set(CASES)
    assert set(KNOWN["weighted"]) == set(WEIGHTED)


@pytest.mark.parametrize("name", CASES)
def test_a_fit_is_what_it_was(name, tmp_path):
    n_jobs = 2 if len(name) % 2 else None
    found = golden.describe(*golden.fit(CASES[name], n_jobs=n_jobs, folder=tmp_path))
    assert json.loads(json.dumps(found)) == KNOWN["fits"][name]


def test_rankings_are_what_they_were():
    assert json.loads(json.dumps(golden.rankings())) == KNOWN["rankings"]


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weighted_fit_is_what_it_was(name):
    n_jobs = 2 if len(name) % 2 else None
    found = golden.describe_weighted(*golden.fit_weighted(WEIGHTED[name], n_jobs=n_jobs))
    assert json.loads(json.dumps(found)) == KNOWN["weighted"][name]
