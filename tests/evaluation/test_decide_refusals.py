"""Rules that cannot be made are refused in a sentence, with what can be."""

import numpy as np
import pytest

from bayesieve import NaiveBayes, calibrate, decide
from bayesieve.evaluation.performance import performance
from tables import noisy_frame as noisy


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"costs": [[0, 1, 1], [1, 0, 1]]}, ValueError, "costs must be square, 2 x 2"),
        ({"costs": 3}, ValueError, "costs must be square"),
        ({"costs": [["a", 0], [1, 0]]}, TypeError, "matrix of numbers"),
        ({"costs": [[0, -1], [1, 0]]}, ValueError, "finite numbers from 0 on; got -1"),
        ({"costs": [[0, np.nan], [1, 0]]}, ValueError, "finite numbers from 0 on; got nan"),
        ({"costs": [[0, 0], [0, 0]]}, ValueError, "must not all be 0"),
        ({"costs": {"calm": {"gust": 1}, "gale": {"calm": 1}}}, ValueError, "names 'gale'"),
        ({"costs": {"calm": {"gale": 1}, "gust": {"calm": 1}}}, ValueError, "names 'gale'"),
        ({"costs": {"calm": {"gust": 1}}}, ValueError, "to take 'gust' for 'calm'"),
        ({"costs": {"calm": {"gust": -1}, "gust": {"calm": 1}}}, ValueError, "from 0; got -1"),
        ({"costs": {"calm": 1, "gust": 2}}, TypeError, "must map decisions to costs"),
        (
            {"costs": {"calm": {"gust": 1, "ask a person": 1}, "gust": {"calm": 1}}},
            ValueError,
            "for every class, or for none",
        ),
        ({"abstain": -1}, ValueError, "abstain must be a number from 0"),
        ({"abstain": {"calm": 1}}, ValueError, "abstain must name every class; 'gust'"),
        ({"max_false_alarms": 0}, ValueError, "got 0: no number of rows shows"),
        ({"max_false_alarms": {"gust": 0}}, ValueError, "got 0: no number of rows shows"),
        ({"max_false_alarms": 1}, ValueError, "above 0 and below 1"),
        ({"max_false_alarms": {"gale": 0.1}}, ValueError, "names 'gale', which is none of the"),
        ({"max_false_alarms": "x"}, TypeError, "max_false_alarms must be a number"),
        ({"min_detections": 1.0}, ValueError, "above 0 and below 1"),
        ({"confidence": 0.3}, ValueError, "confidence must be a number from 0.5"),
        ({"confidence": 1.0}, ValueError, "below 1; got 1: no number of rows makes"),
        ({"max_false_alarms": 0.001}, ValueError, "the lowest that they can show is 0.0"),
        ({"min_detections": 0.999}, ValueError, "the highest that they can show is 0.9"),
        (
            {"max_false_alarms": 0.05, "min_detections": 0.95},
            ValueError,
            "cannot be kept at the same time: with the first, 0.",
        ),
        (
            {"max_false_alarms": {"gust": 0.05}, "min_detections": {"gust": 0.95}},
            ValueError,
            "cannot be kept at the same time: with the first, 0.",
        ),
        ({"max_false_alarms": {"gust": 0.05, "calm": 0.05}}, ValueError, "give abstain="),
    ],
)
def test_bad_rules_are_refused_in_a_sentence(options, error, message):
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(*noisy(rng, 300))
    with pytest.raises(error, match=message):
        decide(model, *noisy(rng, 400), **options)


@pytest.mark.parametrize("judge", [decide, calibrate, performance])
def test_a_row_without_a_class_is_named(judge):
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(*noisy(rng, 100))
    X, y = noisy(rng, 100)
    y = np.array(y, object)
    y[7] = None
    with pytest.raises(ValueError, match="y holds None, which is not among the model's classes"):
        judge(model, X, y)


def test_bad_rows_are_refused_in_a_sentence():
    rng = np.random.default_rng(0)
    X, y = noisy(rng, 300)
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="y has no row of the class 'gust'"):
        decide(model, X[y == "calm"], y[y == "calm"], abstain=0.1)
    with pytest.raises(ValueError, match="not among the model's classes"):
        decide(model, X, np.where(y == "calm", "calm", "gale"), abstain=0.1)
    with pytest.warns(UserWarning, match="the rule promises too much") as told:
        decide(model, X, y, abstain=0.1)
    assert len([each for each in told if "very counts" in str(each.message)]) == 1


def test_what_cannot_be_kept_is_refused_with_what_can():
    """The best that is named is kept, and no better one is."""
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(*noisy(rng, 300))
    X, y = noisy(rng, 400)
    with pytest.raises(ValueError, match="the lowest that they can show is") as told:
        decide(model, X, y, max_false_alarms=0.001)
    words = str(told.value)
    best = float(words.split("can show is ")[1].split(";")[0])
    decide(model, X, y, max_false_alarms=best * 1.001)
    with pytest.raises(ValueError, match="cannot be kept"):
        decide(model, X, y, max_false_alarms=best * 0.995)
    with pytest.raises(ValueError, match="at the same time") as told:
        decide(model, X, y, max_false_alarms=0.05, min_detections=0.95)
    best = float(str(told.value).split("with the first, ")[1].split(" ")[0])
    decide(model, X, y, max_false_alarms=0.05, min_detections=best * 0.999)
    with pytest.raises(ValueError, match="at the same time"):
        decide(model, X, y, max_false_alarms=0.05, min_detections=best * 1.001)
