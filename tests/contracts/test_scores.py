"""Every score, by the same demands: one number a series, the same columns for any series."""

import pickle

import numpy as np
import pytest

from bayesieve.engine import threads
from bayesieve.engine.threads import Threads
from bayesieve.indicators import SCORES, Indicators, ScoreColumn

every = pytest.mark.parametrize("name", SCORES)


def signals(seed=0):
    """Series of several lengths: steps, trends, noise, constants."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=n) for n in (120, 90, 160, 60, 101)]
    found[0][60:] += 3
    found[1] += np.linspace(0, 5, 90)
    found[2][80:] *= 6
    return [*found, np.zeros(100)]


AWKWARD = {
    "no point": np.empty(0),
    "one point": np.ones(1),
    "three points": np.arange(3.0),
    "a hole": np.r_[np.arange(60.0), np.nan, np.arange(60.0)],
    "no end": np.r_[np.arange(60.0), np.inf, np.arange(60.0)],
    "large": np.r_[np.zeros(60), np.full(60, 1e300)],
}


def columns(name, series, n_threads=1):
    with Threads(n_threads) as engine:
        return list(SCORES[name].columns([*series], engine))


@every
def test_a_column_has_a_name_a_number_for_each_series_and_its_cuts(name):
    series = signals()
    found = columns(name, series)
    assert found
    labels = [column.label for column in found]
    assert len(set(labels)) == len(labels)
    for column in found:
        assert isinstance(column, ScoreColumn)
        assert isinstance(column.label, str)
        assert column.label
        assert column.values.shape == (len(series),)
        assert column.values.dtype == np.float64
        assert not np.isinf(column.values).any()
        if column.thresholds is not None:
            assert np.isfinite(column.thresholds).all()
            assert len(set(column.thresholds)) == len(column.thresholds)
    assert any(np.ptp(column.values[~np.isnan(column.values)]) > 0 for column in found)


@every
def test_a_series_is_scored_for_itself(name):
    """Whatever stands beside it, and in whatever order."""
    series = signals()
    together = columns(name, series)
    for i, x in enumerate(series):
        for column, alone in zip(together, columns(name, [x]), strict=True):
            assert (alone.label, alone.thresholds) == (column.label, column.thresholds)
            np.testing.assert_array_equal(alone.values, column.values[i : i + 1])
    for column, turned in zip(together, columns(name, series[::-1]), strict=True):
        np.testing.assert_array_equal(turned.values[::-1], column.values)


@every
@pytest.mark.parametrize("kind", AWKWARD)
def test_a_series_without_an_answer_is_missing_and_not_an_error(name, kind):
    usual = columns(name, signals())
    for series in ([AWKWARD[kind]], [*signals(), AWKWARD[kind]]):
        found = columns(name, series)
        assert [column.label for column in found] == [column.label for column in usual]
        for column in found:
            assert not np.isinf(column.values).any()
            if not np.isfinite(AWKWARD[kind]).all():
                assert np.isnan(column.values[-1])
    for column, with_it in zip(usual, found, strict=True):
        np.testing.assert_array_equal(with_it.values[:-1], column.values)


@every
def test_one_and_two_threads_agree_to_the_bit_and_nothing_is_changed(name, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", 0)  # or a small table is not worth a second thread
    series, before = signals(1), signals(1)
    for one, two in zip(columns(name, series), columns(name, series, 2), strict=True):
        assert one.label == two.label
        np.testing.assert_array_equal(one.values, two.values)
    for x, same in zip(series, before, strict=True):
        np.testing.assert_array_equal(x, same)


@every
def test_it_pickles_and_compares(name):
    again = pickle.loads(pickle.dumps(SCORES[name]))
    assert again == SCORES[name]
    assert repr(again) == repr(SCORES[name])


@every
def test_indicators_are_the_scores_that_exceed_their_cuts(name):
    series = signals()
    indicators = Indicators([name])
    table = indicators.fit_transform(series)
    np.testing.assert_array_equal(indicators.transform(series), table)
    at = 0
    names = indicators.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == table.shape[1]
    for column in columns(name, series):
        cuts = column.thresholds
        if cuts is None:
            known = column.values[~np.isnan(column.values)]
            cuts = np.unique(np.quantile(known, indicators.quantiles)) if known.size else ()
        for cut in cuts:
            wanted = np.where(np.isnan(column.values), np.nan, column.values > cut)
            np.testing.assert_array_equal(table[:, at].astype(float), wanted)
            assert names[at] == f"{column.label} > {cut:.12g}"
            at += 1
    assert at == table.shape[1]


@every
def test_where_it_fires_lies_within_the_series(name):
    """Spans in order and apart; none for a score that looks at a series as a whole."""
    series = signals()
    indicators = Indicators([name]).fit(series)
    names = indicators.get_feature_names_out().tolist()
    for x in (series[0], *AWKWARD.values()):
        found = indicators.fired(x, names)
        assert list(found) == names
        for spans in found.values():
            edges = [edge for span in spans for edge in span]
            assert edges == sorted(edges)
            assert all(0 <= edge < x.size for edge in edges)
            assert spans == [] or hasattr(SCORES[name], "fired")


@every
def test_what_is_not_known_is_answered_by_all_names(name):
    with pytest.raises(ValueError, match=rf"scores must be one of .*'{name}'.*; got 'nothing'"):
        Indicators(["nothing"]).fit(signals())
