"""Labels of a chart: short, told apart, never without what differs."""

import numpy as np
import pytest

from bayesieve.explain.text import short_names
from bayesieve.indicators import Indicators


def test_short_names_stay_and_long_ones_lose_what_all_have():
    assert short_names(["a", "b  c\n", 3], 40) == ["a", "b c", "3"]
    names = [f"the pressure of the oil at the inlet of pump {i} in bar" for i in range(3)]
    for label, name in zip(short_names(names, 30), names, strict=True):
        assert len(label) <= 30
        assert name.split()[10] in label.split()
        assert label.startswith("the pressure of the")


@pytest.mark.parametrize("most", [40, 60])
def test_every_indicator_of_a_chart_shows_all_that_tells_it_apart(most):
    names = Indicators().fit(np.zeros((2, 9)) + np.arange(9.0)).names_
    rng = np.random.default_rng(0)
    for _ in range(20):
        chosen = [names[i] for i in rng.choice(810, 12, replace=False)]
        labels = short_names(chosen, most)
        assert len(set(labels)) == 12
        assert max(map(len, labels)) <= 60
        long = [name.split() for name in chosen if len(name) > most]
        for name, label in zip(chosen, labels, strict=True):
            if len(name) > most and len(long) > 1:
                own = {w for w in name.split() if not all(w in other for other in long)}
                assert own <= set(label.split())


def test_names_without_words_and_equal_ones():
    labels = short_names(["x" * 500, "x" * 499 + "y", "x" * 500], 40)
    assert labels[0] == "x" * 20 + "…" + "x" * 19
    assert labels[1] == "x" * 20 + "…" + "x" * 18 + "y"
    assert labels[2] == labels[0] + " (2)"
    assert short_names(["a", "a", "a"], 9) == ["a", "a (2)", "a (3)"]
    assert short_names(["one single name that is much too long for this"], 20)[0].endswith("this")
