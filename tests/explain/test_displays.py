"""The model explained as a whole, and its pictures."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from bayesieve import NaiveBayes, WeightedNaiveBayes, calibrate, explain, explain_model
from bayesieve.plot import (
    EvidenceDisplay,
    NomogramDisplay,
    PathDisplay,
    RelevanceDisplay,
    plot_evidence,
    plot_nomogram,
    plot_path,
    plot_relevance,
)
from plain import plain_selector

mpl.use("Agg")
ODD = "$x$ <b>\n" + "long " * 40


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes", "it's"], 150)
    X = pd.DataFrame(
        {
            "kind": np.where(rng.random(150) < 0.7, y, rng.choice(["u", "v", None], 150)),
            "size": rng.normal(y == "yes", 1.0),
            ODD: rng.integers(0, 2, 150),
        }
    )
    X.iloc[::9, 1] = np.nan
    return X, y


def twin_importance(chances, weights):
    """Kullback-Leibler divergence of each class from the others, in loops."""
    found = []
    for k in range(len(weights)):
        others = [j for j in range(len(weights)) if j != k]
        total = 0.0
        for row in chances:
            rest = sum(weights[j] * row[j] for j in others) / sum(weights[j] for j in others)
            if row[k] > 0:
                total += row[k] * np.log(row[k] / rest)
        found.append(total)
    return found


def test_counts_and_importances_of_levels(data):
    X, y = data
    found = explain_model(NaiveBayes({"kind": "categorical"}).fit(X, y))
    kind = found.features[0]
    wanted = pd.crosstab(X["kind"], y)
    assert kind.values == wanted.index.tolist()
    assert found.classes == wanted.columns.tolist()
    np.testing.assert_array_equal(kind.counts, wanted.to_numpy())
    missing = X["kind"].isna().groupby(y).sum()
    assert kind.source["missing"] == missing[found.classes].tolist()
    np.testing.assert_allclose(
        kind.importance, twin_importance(np.exp(kind.terms), found.class_count), rtol=1e-9
    )
    # What levels say is a ratio: P(level | class) follows from it and from the rows of each level.
    levels = explain_model(NaiveBayes().fit(X, y)).features[0]
    ratio, rows = np.exp(levels.terms), wanted.to_numpy().sum(1)
    chance = ratio / (ratio @ (found.class_count / np.sum(found.class_count)))[:, None]
    chance *= rows[:, None]
    twin = twin_importance(chance / chance.sum(0), found.class_count)
    np.testing.assert_allclose(levels.importance, twin, rtol=1e-9)
    assert found.ranked()[0][0] == "kind"
    assert found.ranked("yes")[0][1] == kind.importance[found.classes.index("yes")]


def test_importance_of_numbers_is_the_divergence_of_the_bells():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 4000)
    X = rng.normal(y * 1.5, 1.0)[:, None]
    found = explain_model(NaiveBayes("gaussian").fit(X, y)).features[0]
    mean, sd = found.source["mean"], found.source["sd"]
    apart = mean[1] - mean[0]
    for k in (0, 1):
        one, other = sd[k], sd[1 - k]
        wanted = np.log(other / one) + (one**2 + apart**2) / (2 * other**2) - 0.5
        assert found.importance[k] == pytest.approx(wanted, rel=1e-3)
    assert found.counts is None
    assert found.values[0] >= X.min()


@pytest.mark.filterwarnings("ignore:temperature stopped")
@pytest.mark.parametrize("options", [{}, {"smoothing": 0}, {"priors": "uniform"}])
def test_a_nomogram_adds_up_to_the_decision(data, options):
    X, y = data
    X = X.drop(columns="size").fillna("w")
    model = calibrate(NaiveBayes(**options).fit(X[:100], y[:100]), X[100:], y[100:])
    whole = explain_model(model)
    assert whole.temperature == model.temperature_ != 1
    scales = {name: dict(scale) for name, scale in whole.nomogram("yes", "no")}
    prior = dict(zip(whole.classes, whole.log_prior, strict=True))
    for i, each in enumerate(explain(model, X, target="yes", against="no")):
        start = (prior["yes"] - prior["no"]) / whole.temperature
        total = start + sum(scales[name][X[name][i]] for name in X)
        if np.isfinite(total):
            assert total == pytest.approx(each.log_odds, abs=1e-9)
        else:
            assert np.isinf(each.log_odds) or np.isnan(total)


def test_labels_are_explained_one_by_one():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (60, 3))
    Y = pd.DataFrame(rng.integers(0, 2, (60, 2)), columns=["fire", "flood"])
    model = NaiveBayes().fit(X, Y)
    assert explain_model(model).label == "fire"
    found = explain_model(model, label="flood")
    alone = explain_model(NaiveBayes().fit(X, Y["flood"]))
    assert found.features == alone.features
    with pytest.raises(ValueError, match="label must be one of the labels"):
        explain_model(model, label="storm")
    assert plot_nomogram(model, label="flood").ax_.get_xlabel()


def test_what_cannot_be_explained(data):
    X, y = data
    with pytest.raises(TypeError, match="model must be a fitted NaiveBayes"):
        explain_model(NaiveBayes())
    whole = explain_model(NaiveBayes().fit(X, y))
    with pytest.raises(ValueError, match="target must be one of the classes"):
        whole.nomogram("maybe")
    with pytest.raises(ValueError, match="different classes"):
        whole.nomogram("no", "no")


def test_displays(data):
    X, y = data
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    shown = plot_evidence(selector, X, 3)
    assert isinstance(shown, EvidenceDisplay)
    assert len(shown.ax_.patches) == 1 + 3
    each = explain(selector, X[3:4])[0]
    widths = [patch.get_width() for patch in shown.ax_.patches]
    np.testing.assert_allclose(widths, [bar.log_ratio for bar in each.evidence])
    labels = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert any(label.startswith(r"\$x\$ <b> long") for label in labels)
    assert isinstance(plot_nomogram(selector, target="yes", against="no"), NomogramDisplay)
    path = plot_path(selector)
    assert isinstance(path, PathDisplay)
    assert path.ax_.get_xlabel() == "number of features"
    relevance = plot_relevance(X, y, model="gaussian")
    assert isinstance(relevance, RelevanceDisplay)
    for display in (shown, path, relevance):
        display.figure_.canvas.draw()  # names that look like mathematics must not fail
        mpl.pyplot.close(display.figure_)


def edges(ax):
    """Lower and upper edge of the first band, size by size."""
    outline = ax.collections[0].get_paths()[0].vertices
    sizes = np.unique(outline[:, 0])
    return {
        int(n): (outline[outline[:, 0] == n, 1].min(), outline[outline[:, 0] == n, 1].max())
        for n in sizes
    }


@pytest.mark.parametrize("criterion", ["error", "probability"])
def test_bands_are_two_standard_errors_of_a_mean(data, criterion):
    X, y = data
    selector = plain_selector(search="forward", criterion=criterion, random_state=0).fit(X, y)
    ax = plot_path(selector).ax_
    assert len(ax.collections) == 2
    n_rows = len(selector.guiding_rows_)
    wanted = {}
    for step in selector.path_.steps:
        spread = 2 * np.sqrt(step.score * (1 - step.score) / n_rows)
        wanted[step.n_features] = (step.score - spread, step.score + spread)
    found = edges(ax)
    assert list(found) == list(wanted)
    for size, ends in wanted.items():
        assert found[size] == pytest.approx(ends)
    mpl.pyplot.close(ax.figure)


def test_no_band_where_chance_is_not_known(data):
    X, y = data
    alone = plain_selector(criterion="log-likelihood", validation=None, cv=3).fit(X, y)
    assert len(plot_path(alone).ax_.collections) == 0
    both = plain_selector(criterion="log-likelihood", random_state=0).fit(X, y)
    assert len(plot_path(both).ax_.collections) == 1  # the validation error's
    mpl.pyplot.close("all")


def test_bands_of_a_weighted_path(data):
    X, y = data
    model = WeightedNaiveBayes(price=0.0, pairs=False).fit(X, y)
    assert len(plot_path(model).ax_.collections) == 0
    ax = plot_path(model, X, y).ax_
    found, wanted = edges(ax), {}
    for step in model.path_.steps:
        proba = model.at(step.n_terms).predict_proba(X)
        losses = -np.log(proba[np.arange(len(y)), np.searchsorted(model.classes_, y)])
        spread = 2 * losses.std() / np.sqrt(len(y))
        wanted.setdefault(step.n_terms, []).extend((step.score - spread, step.score + spread))
    for size, ends in wanted.items():
        assert found[size] == pytest.approx((min(ends), max(ends)), rel=1e-3)
    mpl.pyplot.close("all")


def test_an_impossible_value_has_the_longest_bar():
    X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    model = NaiveBayes(smoothing=0).fit(X, [0, 1, 0, 1])
    shown = plot_evidence(model, X, 1)
    widths = np.abs([patch.get_width() for patch in shown.ax_.patches])
    assert np.isfinite(widths).all()
    assert widths[1] == widths.max()


def test_notebooks_show_results(data):
    X, y = data
    selector = plain_selector(random_state=0, keep=list(X)).fit(X, y)
    assert "&lt;b&gt;" in explain(selector, X[:1])[0]._repr_html_()
    for shown in (selector.path_, explain_model(selector), relevance(X, y)):
        text = shown._repr_html_()
        assert "<table>" in text
        assert "<b>" not in text


def relevance(X, y):
    from bayesieve.rankings import relevance_matrix

    return relevance_matrix(X, y, "gaussian")
