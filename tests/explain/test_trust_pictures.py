"""Pictures of trust, and reports where one works."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer

mpl.use("Agg")

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.evaluation.stability import Stability
from bayesieve.indicators import Indicators
from bayesieve.plot import plot_calibration, plot_signal


@pytest.fixture(scope="module")
def cells():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:, :6], y


def test_bars_of_chance_are_the_exact_intervals_of_the_report():
    found = Stability([[1, 1], [1, 0], [1, 1], [1, 0]], ["a", "b"])
    (_, drawn) = found.plot().containers
    ends = [line.vertices[:, 0] for line in drawn[2][0].get_paths()]
    for hits, (low, high) in zip((4, 2), ends, strict=True):
        told = binomtest(hits, 4).proportion_ci(0.95, method="exact")
        assert (low, high) == pytest.approx((told.low, told.high), abs=1e-9)


def test_stability_is_drawn_from_the_most_frequent_down():
    found = Stability([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], ["a", "b", "$c$", "d"])
    ax = found.plot(most=2)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([1, 2 / 3])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert "1 more were selected at times" in ax.get_title(loc="left")


def test_calibration_draws_the_bins_of_the_performance(cells):
    X, y = cells
    model = NaiveBayes().fit(X[::2], y[::2])
    ax = plot_calibration(model, X[1::2], y[1::2])
    (drawn,) = ax.containers
    points = np.array(drawn[0].get_xydata())
    proba = model.predict_proba(X[1::2])[:, 1]
    bins = np.minimum((proba * 10).astype(int), 9)
    known = sorted(set(bins.tolist()))
    truth = y[1::2].to_numpy()
    assert points[:, 0] == pytest.approx([proba[bins == b].mean() for b in known])
    assert points[:, 1] == pytest.approx([truth[bins == b].mean() for b in known])


def test_a_signal_is_shaded_where_the_indicator_fired():
    x = np.r_[np.zeros(60), np.ones(60)] + np.arange(120) % 7 / 10
    indicators = Indicators().fit([x, x[::-1]])
    name = "share of windows (w=30) where U rejects at 0.001 > 0.1"
    ax = plot_signal(indicators, x, name)
    (span,) = ax.patches
    assert (span.get_x(), span.get_x() + span.get_width()) == (56.5, 62.5)
    with pytest.raises(ValueError, match="one channel of one series"):
        plot_signal(indicators, [x, x], name)
    with pytest.raises(ValueError, match="names must be among"):
        plot_signal(indicators, x, "nothing")


@pytest.mark.parametrize("model", [NaiveBayesSelector(), WeightedNaiveBayes()])
def test_a_report_shows_inline_and_is_saved(cells, model, tmp_path):
    X, y = cells
    page = model.fit(X, y).report(X, y, n_resamples=0, title="Mine <here>")
    shown = page._repr_html_()
    assert shown.startswith("<iframe")
    assert "<script" not in shown, "all of the page is within the frame's attribute"
    assert len(repr(page)) < 80
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == str(page)
    with pytest.raises(ValueError, match="Did you mean 'title'"):
        model.report(X, y, titel="x")
