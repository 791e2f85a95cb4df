"""Every score, by the same demands: one number a series, the same columns for any series."""

import json
import pickle

import numpy as np
import pytest

from bayesieve.engine import threads
from bayesieve.engine.threads import Threads
from bayesieve.indicators import SCORES, Indicator, Indicators, ScoreColumn, short_labels

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


def across(name):
    """Does the score look at two channels?"""
    return getattr(SCORES[name], "n_channels", 1) == 2


def as_given(name, series):
    """Series as `Indicators` takes them; a second channel for a score that looks at two."""
    return [np.stack([x, 1 + x[::-1] / 2]) for x in series] if across(name) else [*series]


def columns(name, series, n_threads=1):
    given = as_given(name, series)
    with Threads(n_threads) as engine:
        return list(SCORES[name].columns([tuple(x) if x.ndim == 2 else x for x in given], engine))


def prefix(name):
    return "channel 0, channel 1: " if across(name) else ""


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
    if name == "dropouts":  # the only score of what is not there
        found = columns(name, [*series, np.r_[1.0, np.nan, 2.0]])
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
                told = getattr(SCORES[name], "takes_missing", False)
                assert told != np.isnan(column.values[-1])
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
    table = indicators.fit_transform(as_given(name, series))
    np.testing.assert_array_equal(indicators.transform(as_given(name, series)), table)
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
            assert names[at] == f"{prefix(name)}{column.label} > {cut:.12g}"
            at += 1
    assert at == table.shape[1]


@every
def test_where_it_fires_lies_within_the_series(name):
    """Spans in order and apart; the whole series or nothing for a score without them."""
    series = signals()
    indicators = Indicators([name]).fit(as_given(name, series))
    names = indicators.get_feature_names_out().tolist()
    for x in as_given(name, [series[0], *AWKWARD.values()]):
        n = x.shape[-1]
        found = indicators.fired(x, names)
        assert list(found) == names
        for spans in found.values():
            edges = [edge for span in spans for edge in span]
            assert edges == sorted(edges)
            assert all(0 <= edge < n for edge in edges)
            assert spans in ([], [(0, n - 1)]) or hasattr(SCORES[name], "spans")


@every
def test_an_indicator_that_is_on_shades_something(name):
    """Unless its rule is that of every place, whose spans are the places that break it."""
    series = [*signals(2), *signals(3)]
    indicators = Indicators([name]).fit(as_given(name, series))
    table = indicators.transform(as_given(name, series))
    for i, x in enumerate(as_given(name, series)):
        found = indicators.fired(x, indicators.names_)
        for said, value in zip(indicators.indicators_, table[i], strict=True):
            if said.rule == "smallest":
                assert (value == 0) == bool(found[said.id])
            elif said.rule in ("largest", "value"):
                assert (value == 1) == bool(found[said.id])
            elif value == 1:
                assert found[said.id]


@every
def test_its_indicators_speak_and_travel(name):
    indicators = Indicators([name]).fit(as_given(name, signals()))
    for said, at in zip(indicators.indicators_, indicators.names_, strict=True):
        assert said.id == at
        assert Indicator.from_dict(json.loads(json.dumps(said.to_dict()))) == said
        assert "{" not in said.sentence
    for spoken in (
        [said.sentence for said in indicators.indicators_],
        short_labels(indicators.indicators_),
    ):
        assert len(set(spoken)) == len(spoken)
    assert max(map(len, short_labels(indicators.indicators_))) < 72


@every
def test_a_recipe_gives_the_same_indicators(name):
    given = as_given(name, signals())
    fitted = Indicators([name], drop="redundant").fit(given)
    again = Indicators.from_recipe(json.loads(json.dumps(fitted.recipe())))
    np.testing.assert_array_equal(again.transform(given), fitted.transform(given))
    assert again.indicators_ == fitted.indicators_
    assert again.stands_for_ == fitted.stands_for_
    assert again.recipe() == fitted.recipe()


@every
def test_what_is_not_known_is_answered_by_all_names(name):
    with pytest.raises(ValueError, match=rf"scores must be one of .*'{name}'.*; got 'nothing'"):
        Indicators(["nothing"]).fit(signals())
