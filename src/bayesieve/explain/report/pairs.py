"""Pairs of columns as small heat maps; which features of a model have scales of their own."""

from typing import TypedDict, cast

from ...evaluation.given import Value
from ..plain import FeatureData, ModelData
from ..together import speaks


class HeatCell(TypedDict):
    """One cell of a heat map: what it says for one class against another, and rows in it."""

    ratio: float
    share: float
    counts: list[float]


class HeatMap(TypedDict):
    """A pair of columns: values of the first down, of the second across; `at`: its place."""

    at: int
    first: str
    second: str
    down: list[str]
    across: list[str]
    cells: list[list[HeatCell]]


def speaking(model: ModelData) -> list[FeatureData]:
    """Features that say something: columns by themselves, and pairs."""
    return [each for each in model["features"] if speaks(each["source"])]


def scaled(model: ModelData) -> list[FeatureData]:
    """Columns that have a scale of their own."""
    return [each for each in speaking(model) if each["model"] != "pair"]


def heat_maps(model: ModelData, target: int, against: int) -> list[HeatMap]:
    """What the cells of all pairs say, the most telling pair first; one depth of colour for all.

    Parameters
    ----------
    model : what `explain_model` found, as plain data.
    target, against : positions of the two classes.
    """
    pairs = [each for each in model["features"] if each["model"] == "pair"]
    said = [
        [(row[target] - row[against]) / model["temperature"] for row in each["terms"]]
        for each in pairs
    ]
    most = max((abs(ratio) for ratios in said for ratio in ratios), default=0.0) or 1.0
    telling = sorted(range(len(pairs)), key=lambda at: -sum(pairs[at]["importance"]))
    return [_heat_map(at, pairs[at], said[at], most) for at in telling]


def _heat_map(at: int, each: FeatureData, ratios: list[float], most: float) -> HeatMap:
    down, across = (cast(list[str], each["source"][key]) for key in ("first", "second"))
    counts = each["counts"] or []
    cells: list[HeatCell] = [
        {"ratio": ratio, "share": abs(ratio) / most, "counts": rows}
        for ratio, rows in zip(ratios, counts, strict=True)
    ]
    first, second = cast(list[str], each["source"]["names"])
    starts = range(0, len(cells), len(across))
    return {
        "at": at,
        "first": first,
        "second": second,
        "down": down,
        "across": across,
        "cells": [cells[start : start + len(across)] for start in starts],
    }


def classes_of(model: ModelData) -> list[Value]:
    """Classes by their names; of a label, without it and with it."""
    label = model["label"]
    return model["classes"] if label is None else [f"not {label}", label]
