"""Every registered feature model meets the same demands."""

import numpy as np
import pytest

from bayesieve import NaiveBayes, explain_model, load_model, save_model
from bayesieve.data.columns import encode, learn
from bayesieve.models import (
    MODELS,
    FeatureModel,
    ModelSettings,
    TrainingSets,
    build_columns,
    one_set,
)
from bayesieve.models.density import DensityModel
from plain import plain_selector

NAMES = sorted(MODELS)


def column(model, seed=0, n_rows=90):
    """Values that suit the model, some missing, and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    y[:6] = [0, 1, 2, 0, 1, 2]
    if model == "bernoulli":
        values = (rng.random(n_rows) < 0.2 + 0.3 * y).astype(float)
    elif MODELS[model].nominal:
        values = rng.integers(0, 4, n_rows) + (y == 1)
    else:
        values = np.round(rng.normal(size=n_rows) + y, 1)
    values = values.astype(float)
    values[rng.random(n_rows) < 0.1] = np.nan
    return values, y


def learnt(name, values, weights=None):
    """What a column is like."""
    model = MODELS[name]
    n_codes = model.grid_codes
    return learn("x", name, values, model.discrete, grid_codes=n_codes, repeats=weights)


def spoken(name, values, y, weights=None):
    """Spec, codes or numbers, and the column ready to speak."""
    weights = np.ones(y.size) if weights is None else weights
    spec = learnt(name, values, weights if MODELS[name].grid_codes else None)
    coded = encode(spec, values)
    sets = one_set(y, weights, np.ones(3))
    statistics = MODELS[name].statistics(coded, spec.n_codes, sets)
    settings = ModelSettings(1.0, None, np.ones(3))
    return spec, coded, build_columns([spec], [statistics], settings)[0]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_what_its_name_says(name):
    model = MODELS[name]
    assert isinstance(model, FeatureModel)
    assert model.name == name
    values, y = column(name)
    fitted = NaiveBayes(name).fit(values[:, None], y)
    assert fitted.feature_models_ == [name]


@pytest.mark.parametrize("name", NAMES)
def test_terms_are_bounded_and_what_is_missing_says_nothing(name):
    values, y = column(name)
    spec, coded, speaker = spoken(name, values, y)
    asked = np.arange(spec.n_codes) if MODELS[name].discrete else coded
    terms = speaker.of(asked).finite
    assert terms.shape == (1, asked.size, 3)
    bound = MODELS[name].bound(speaker.settings)
    assert np.isfinite(terms).all()
    assert bound is None or np.abs(terms).max() <= bound
    silent = asked == spec.n_codes - 1 if MODELS[name].discrete else np.isnan(asked)
    assert silent.any()
    assert (terms[0, silent] == 0).all()
    assert np.ptp(terms[0, ~silent], axis=1).max() > 0.1


def asked_of(name, spec, values):
    """All codes, or all values."""
    if MODELS[name].discrete:
        return np.arange(spec.n_codes)
    return np.unique(values[~np.isnan(values)])


def close(one, other, tolerance=1e-9):
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_repeats(name):
    values, y = column(name)
    weights = np.random.default_rng(1).integers(1, 4, y.size)
    _, _, weighted = spoken(name, values, y, weights.astype(float))
    spec, _, repeated = spoken(name, np.repeat(values, weights), np.repeat(y, weights))
    asked = asked_of(name, spec, values)
    close(weighted.of(asked).finite, repeated.of(asked).finite, 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_folds_are_refits(name):
    values, y = column(name)
    model = MODELS[name]
    spec = learnt(name, values)
    coded, asked = encode(spec, values), asked_of(name, spec, values)
    held = (np.arange(0, 90, 3), np.arange(1, 90, 3))
    sets = TrainingSets(y, np.ones(y.size), held, np.ones(3))
    settings = ModelSettings(1.0, None, np.ones(3))
    together = build_columns([spec], [model.statistics(coded, spec.n_codes, sets)], settings, 2)[0]
    for g, left in enumerate(held):
        # Rows without weight still tell how fine the column is, as rows of other folds do.
        rest = (~np.isin(np.arange(90), left)).astype(float)
        found = model.statistics(coded, spec.n_codes, one_set(y, rest, np.ones(3)))
        refit = build_columns([spec], [found], settings)[0]
        close(together.of(asked).finite[g], refit.of(asked).finite[0])


@pytest.mark.parametrize("name", NAMES)
def test_batches_merge_or_are_refused(name):
    values, y = column(name)
    model = MODELS[name]
    spec = learnt(name, values)
    coded, settings = encode(spec, values), ModelSettings(1.0, None, np.ones(3))
    parts = [
        model.statistics(coded[rows], spec.n_codes, one_set(y[rows], np.ones(45), np.ones(3)))
        for rows in (np.arange(45), np.arange(45, 90))
    ]
    if name.startswith("mixture"):
        with pytest.raises(ValueError, match="cannot learn in batches"):
            model.merge(*parts)
        return
    whole = model.statistics(coded, spec.n_codes, one_set(y, np.ones(90), np.ones(3)))
    asked = asked_of(name, spec, values)
    merged, at_once = (
        build_columns([spec], [found], settings)[0].of(asked).finite
        for found in (model.merge(*parts), whole)
    )
    close(merged, at_once)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_taken_out_is_a_row_taken_out(name):
    values, y = column(name)
    model = MODELS[name]
    if not model.leaves_one_out:
        selector = plain_selector(NaiveBayes(name), cv="loo")
        with pytest.raises(ValueError, match=f"no closed form for the feature model '{name}'"):
            selector.fit(values[:, None], y)
        return
    if isinstance(model, DensityModel):
        return  # widths and the like stay: tests/models/test_density.py does the same by hand
    spec, coded, speaker = spoken(name, values, y)
    asked = np.arange(spec.n_codes) if model.discrete else coded
    found = speaker.left_out(asked, coded, one_set(y, np.ones(y.size), np.ones(3))).finite
    for i in np.flatnonzero(~np.isnan(values))[:25]:
        rest = (np.arange(y.size) != i).astype(float)
        statistics = model.statistics(coded, spec.n_codes, one_set(y, rest, np.ones(3)))
        refit = build_columns([spec], [statistics], speaker.settings)[0].of(asked).finite[0]
        at = int(coded[i]) if model.discrete else i
        close(found[y[i], at], refit[at])


@pytest.mark.parametrize("name", NAMES)
def test_it_is_explained_and_saved(name, tmp_path):
    values, y = column(name)
    model = NaiveBayes(name).fit(values[:, None], y)
    feature = explain_model(model).features[0]
    assert feature.model == name
    assert max(feature.importance) > 0
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(
        again.predict_proba(values[:, None]), model.predict_proba(values[:, None])
    )
