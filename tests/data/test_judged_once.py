"""In one call, X, y and sample_weight are judged once."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from bayesieve import FeatureVotes, NaiveBayes, nested, rank, stability
from bayesieve.data import sample, tables
from plain import plain_selector

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = (RNG.random((60, 4)) < 0.3 + 0.4 * Y[:, None]).astype(float)
WEIGHTS = RNG.integers(0, 3, 60)
KINDS = {
    "array": X,
    "list": X.tolist(),
    "texts": np.where(X > 0, "yes", "no").astype(object),
    "pandas": pd.DataFrame(X, columns=list("abcd")),
    "polars": pl.DataFrame(X, schema=list("abcd")),
    "sparse": scipy.sparse.csr_array(X),
}
FITS = {
    "selector": lambda X: plain_selector(random_state=0).fit(X, Y, sample_weight=WEIGHTS),
    "ranked": lambda X: plain_selector(search="ranked", cv=3, random_state=0).fit(
        X, Y, sample_weight=WEIGHTS
    ),
    "labels": lambda X: plain_selector(criterion="auc", random_state=0).fit(
        X, np.column_stack([Y, 1 - Y]), sample_weight=WEIGHTS
    ),
    "model": lambda X: NaiveBayes().fit(X, Y, sample_weight=WEIGHTS),
    "votes": lambda X: FeatureVotes().fit(X, Y, sample_weight=WEIGHTS),
    "rank": lambda X: rank(X, Y, "mrmr"),
    "relieff": lambda X: rank(X, Y, "relieff"),
}


@pytest.fixture
def judged(monkeypatch):
    """How often each was judged from its first cell to its last."""
    found = Counter()

    def count(module, name, what, counts=lambda *given, **more: True):
        plain = getattr(module, name)

        def counted(*given, **more):
            found[what] += counts(*given, **more)
            return plain(*given, **more)

        monkeypatch.setattr(module, name, counted)

    # Names and width alone are compared without a look at the cells.
    count(
        tables, "validate_data", "X", lambda *_, skip_check_array=False, **__: not skip_check_array
    )
    count(tables, "_read_frame", "X")
    count(sample, "read_target", "y")
    count(sample, "read_labels", "y")
    count(sample, "read_weights", "sample_weight")
    return found


# Votes count ones, not texts.
CASES = [(name, kind) for name in FITS for kind in KINDS if (name, kind) != ("votes", "texts")]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_fit_judges_once(name, kind, judged):
    FITS[name](KINDS[kind])
    assert judged == {"X": 1, "y": 1, "sample_weight": 1}


@pytest.mark.parametrize("judge", [nested, stability])
def test_a_judge_of_selectors_judges_once(judge, judged):
    """What its fits are given was read before: shared columns, plain classes, whole weights."""
    more = {"cv": 2} if judge is nested else {"n_resamples": 2}
    judge(plain_selector(random_state=0), X, Y, sample_weight=WEIGHTS, random_state=0, **more)
    assert judged["X"] == 1


def test_a_weight_that_is_not_whole_is_named_by_its_row():
    weights = np.ones(60)
    weights[:3] = 0, 0, 1.5
    for fit in (
        lambda: plain_selector().fit(X, Y, sample_weight=weights),
        lambda: nested(plain_selector(), X, Y, cv=2, sample_weight=weights),
        lambda: stability(plain_selector(), X, Y, n_resamples=2, sample_weight=weights),
    ):
        with pytest.raises(ValueError, match=r"must be whole numbers here .* got 1.5 at row 2"):
            fit()
