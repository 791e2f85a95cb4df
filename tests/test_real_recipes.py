"""Recipes of the cookbook on real data, where BAYESIEVE_DATA names its folder."""

import os
from pathlib import Path

import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from bayesieve import WeightedNaiveBayes, explain

FOLDER = os.environ.get("BAYESIEVE_DATA")


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="BAYESIEVE_DATA does not name the folder of the data")
@pytest.mark.parametrize(("preset", "most", "accuracy"), [(None, 60, 0.975), ("few", 10, 0.95)])
def test_a_few_words_tell_spam(preset, most, accuracy):
    table = pd.read_csv(Path(FOLDER) / "sms_spam_text.csv.gz")
    texts, y = table["text"].astype(str), table["class"]
    train, new, y_train, y_new = train_test_split(texts, y, random_state=0, stratify=y)
    model = make_pipeline(CountVectorizer(binary=True), WeightedNaiveBayes(preset=preset))
    model.fit(train, y_train)
    assert len(model[-1].terms_) <= most
    assert model.score(new, y_new) >= accuracy
    bars = explain(model, new[:1])[0].evidence[1:]
    assert {bar.feature for bar in bars if " x " not in bar.feature} <= set(
        model[0].get_feature_names_out()
    )
