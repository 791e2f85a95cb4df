"""Weighted terms on a cluster are those found here, to the bit, however the rows are cut."""

import dask.array as da
import numpy as np
import pytest
from clusters import cut, table
from sklearn.base import clone

from bayesieve import NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.engine.dask.ledgers import RemoteRows
from bayesieve.engine.threads import Threads
from bayesieve.search.term_pool import Weighing, WeightPlan
from ledgers import log_loss, same_answers, single
from weighted import MODELS_OF_MIXED, coded_rows, mixed
from workers import RowWorkers


def told(model, X):
    """All that a fit found."""
    return {
        "terms": model.terms_,
        "weights": model.weights_.tobytes(),
        "path": repr(
            [
                (s.unit, s.gain, s.loss, s.terms, [w.tolist() for w in (*s.weights, *s.constants)])
                for s in model.path_.states
            ]
        ),
        "choice": model.settings_,
        "support": model.support_.tolist(),
        "specs": repr([vars(spec) for spec in model.estimator_.fitted_.specs]),
        "probabilities": model.predict_proba(X).tobytes(),
        "names": model.feature_names_in_.tolist(),
    }


CASES = {
    "as it comes": (2, {}),
    "one part": (1, {"pairs": True, "missing": "evidence"}),
    "weights of rows": (7, {"weighted": True}),
    "groups": (3, {"grouped": True, "ridge": 1.0}),
    "a validation part": (3, {"validation": 0.3, "class_weight": "balanced", "weighted": True}),
    "class weights": (2, {"class_weight": {"no": 2.5, "yes": 0.3}, "pairs": True, "price": 2.0}),
    "columns together": (
        7,
        {"feature_groups": [["b0", "letter"]], "keep": ["b5"], "forbid": ["few"], "max_terms": 6},
    ),
    "families": (2, {"families": [["b0", "copy"]], "priors": "uniform", "pairs": False}),
    "intervals": (
        3,
        {"features": {"number": "intervals", "few": "intervals-8", "b3": "categorical"}},
    ),
}


def check_case(n_parts, settings):
    frame, weights, groups = table()
    settings = dict(settings)
    params = {
        "sample_weight": weights if settings.pop("weighted", False) else None,
        "groups": groups % 6 if settings.pop("grouped", False) else None,
    }
    X = frame.drop(columns="target")
    here = WeightedNaiveBayes(**settings).fit(X, frame["target"], **params)
    there = WeightedNaiveBayes(**settings).fit(cut(frame, n_parts), "target", **params)
    assert told(here, X) == told(there, X)
    assert len(here.terms_) > 2


# All of them, cut in all ways, with `-m slow`.
@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    "case", ["as it comes", "one part", "groups", "a validation part", "families"]
)
def test_weights_of_collections(case):
    check_case(*CASES[case])


@pytest.mark.slow
@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
@pytest.mark.parametrize("case", CASES)
def test_weights_of_every_cut(case, n_parts):
    check_case(n_parts, CASES[case][1])


@pytest.mark.usefixtures("client")
def test_two_classes_monotone_in_an_array():
    frame, _, _ = table()
    X, y = frame[["number", "few", "b0", "noise"]].to_numpy(float), frame["target"] == "yes"
    here = WeightedNaiveBayes(monotone={1: 1}).fit(X, y)
    there = clone(WeightedNaiveBayes(monotone={1: 1}, engine="dask")).fit(
        da.from_array(X, chunks=(50, 3)), da.from_array(y.to_numpy(), chunks=70)
    )
    assert here.weights_.tobytes() == there.weights_.tobytes()
    assert here.terms_ == there.terms_
    lazy = there.predict_proba(da.from_array(X, chunks=(60, 4)))
    assert lazy.compute().tobytes() == here.predict_proba(X).tobytes()
    assert here.at(1).predict_proba(X).tobytes() == there.at(1).predict_proba(X).tobytes()


@pytest.mark.usefixtures("client")
def test_a_path_of_weights_goes_on(tmp_path):
    frame, _, _ = table()
    X, file = frame.drop(columns="target"), tmp_path / "journal"
    whole = WeightedNaiveBayes(price=1.0, pairs=False).fit(X, frame["target"])
    settings = {"price": 1.0, "pairs": False, "checkpoint": file}
    with pytest.warns(UserWarning, match="stopped by time_limit"):
        WeightedNaiveBayes(time_limit=0, **settings).fit(cut(frame, 3), "target")
    resumed = WeightedNaiveBayes(**settings).fit(cut(frame, 2), "target")
    assert told(resumed, X) == told(whole, X)
    frame.loc[3, "b0"] = 1 - frame.loc[3, "b0"]
    with pytest.raises(ValueError, match="checkpoint"):
        WeightedNaiveBayes(**settings).fit(cut(frame, 2), "target")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"features": {"few": "gaussian"}}, "'gaussian' is not offered"),
        ({"engine": "threads"}, "engine='threads' needs a table in memory"),
        ({"engine": "spark"}, "engine"),
    ],
)
def test_what_is_refused(settings, words):
    import dask.dataframe as dd
    from dask import delayed

    def never():
        raise AssertionError("read")

    meta = table()[0].iloc[:0]
    ddf = dd.from_delayed([delayed(never)()], meta=meta, verify_meta=False)
    with pytest.raises((ValueError, TypeError), match=words):
        WeightedNaiveBayes(**settings).fit(ddf, "target")


def test_an_engine_is_for_collections():
    frame, _, _ = table()
    with pytest.raises(TypeError, match="for Dask collections; got DataFrame"):
        WeightedNaiveBayes(engine="dask").fit(frame.drop(columns="target"), frame["target"])


@pytest.mark.usefixtures("client")
def test_codes_of_chosen_columns_stay_away(monkeypatch):
    """Weights for what a search chose are fitted where the rows are."""
    frame, _, _ = table()

    def never(self, j):
        raise AssertionError("codes were asked for")

    monkeypatch.setattr(RemoteRows, "codes", never)
    settings = {"search": "forward", "cv": 3, "n_features": 4, "reweigh": True}
    there = NaiveBayesSelector(**settings).fit(cut(frame, 3), "target")
    X = frame.drop(columns="target")
    here = NaiveBayesSelector(**settings).fit(X, frame["target"])
    assert here.predict_proba(X).tobytes() == there.predict_proba(X).tobytes()


@pytest.fixture(params=[1, 2, 3, 7])
def both(request):
    X, y = mixed(3, 90)
    weights = np.random.default_rng(0).integers(1, 4, 90) if request.param == 3 else None
    rows = coded_rows(X, y, MODELS_OF_MIXED, weights)
    held = RowWorkers(rows.columns.columns, rows.columns.specs, request.param)
    plan = WeightPlan(units=tuple((j,) for j in range(6)))
    yield [Weighing([each], plan, 5, Threads(1)) for each in (rows, held.coded(rows))], held
    held.channel.close()


def test_a_far_weighted_ledger_answers_as_a_near_one(both):
    (near, far), held = both
    assert [pair.columns for pair in near.pairs] == [pair.columns for pair in far.pairs]
    marks = [each.problems[0].marks(np.random.RandomState(0)) for each in (near, far)]
    np.testing.assert_array_equal(*marks)
    one, other = (each._ledger(0, each.problems[0], left_out=True) for each in (near, far))
    assert one.offers.bits == other.offers.bits
    units, draw = single(one.offers.tables.n_terms), np.random.default_rng(1)
    for moves in range(4):
        held.cut_off(int(draw.integers(held.channel.n_holders)))
        same_answers(one, other, units)
        steps = np.array([3, 0, 1 - moves])
        for ledger in (one, other):
            ledger.apply([moves, moves + 5], np.stack([steps, steps + 1]))
            ledger.shift(steps)


def test_rounds_of_weights(both):
    """A visit asks for slopes once, and for a loss after each step tried; a move asks nothing."""
    (_, far), held = both
    ledger = far._ledger(0, far.problems[0], left_out=True)
    before = held.channel.tally.rounds
    ledger.slopes([0, 1])
    log_loss(ledger)
    ledger.apply([0], np.array([[1, 2, 3]]))
    ledger.shift(np.array([1, 0, 0]))
    log_loss(ledger)
    log_loss(ledger)
    ledger.balance()
    ledger.balance()
    assert held.channel.tally.rounds - before == 3
