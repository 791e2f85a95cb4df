"""What a model file holds of a model of time series: how its columns are made, never code."""

from typing import cast

from ...data.files.form import SeriesForm
from ...estimators.naive_bayes import NaiveBayes
from ...estimators.signals import SignalPipeline
from ...indicators.transformer import Indicators
from .shape import Feature, SignalsData

# What a hostile file may ask for, at most: far more than any grid of scores has.
_MOST_NAMES = 100_000


def signals_data(model: SignalPipeline) -> SignalsData:
    """Scores, thresholds and channels, and how the series lie in files."""
    return cast(SignalsData, {"recipe": model.recipe(), "form": model.form_})


def check_signals(data: SignalsData, features: list[Feature]) -> None:
    """Do the recipe and the features fit together?"""
    recipe = data["recipe"]
    names, kept = recipe["names"], recipe["kept"]
    if len(names) > _MOST_NAMES:
        raise ValueError(f"signals.recipe.names must hold at most {_MOST_NAMES} names.")
    fits = all(0 <= j < len(names) for j in kept)
    if not fits or [names[j] for j in kept] != [each["name"] for each in features]:
        raise ValueError("signals.recipe.kept must hold the indicators that are the features.")
    if sum(len(cuts) for cuts in recipe["cuts"]) != len(names):
        raise ValueError("signals.recipe.cuts must hold one threshold for each name.")
    form = data["form"]
    if form is not None and (form["kind"] == "long") > (form["id"] is not None):
        raise ValueError("signals.form.id must name a column, as the table is a long one.")


def rebuild_signals(model: NaiveBayes, data: SignalsData) -> SignalPipeline:
    """The pipeline whose indicators are the columns of the model."""
    indicators = Indicators.from_recipe(cast("dict[str, object]", data["recipe"]))
    found = SignalPipeline([("indicators", indicators), ("estimator", model)])
    form = data["form"]
    found.form_ = None if form is None else SeriesForm.from_dict(form).to_dict()
    return found
