"""Rows that come in groups: facts of groups that tell nothing, and a column of rows that does."""

import warnings

import numpy as np
import pandas as pd
from scipy.stats import norm, ttest_1samp

from bayesieve import NaiveBayesSelector, WeightedNaiveBayes

#: Both estimators, as people call them.
SETTINGS = {
    "selector": lambda: NaiveBayesSelector(min_features=0),
    "selector few": lambda: NaiveBayesSelector(min_features=0, preset="few"),
    "selector accurate": lambda: NaiveBayesSelector(min_features=0, preset="accurate"),
    "weighted": WeightedNaiveBayes,
    "weighted few": lambda: WeightedNaiveBayes(preset="few"),
    "weighted accurate": lambda: WeightedNaiveBayes(preset="accurate"),
    "weighted, no pairs": lambda: WeightedNaiveBayes(pairs=False),
    "weighted, pairs": lambda: WeightedNaiveBayes(pairs=True),
}

#: What a fact of a group may be.
FACTS = {
    "binary": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "number": lambda rng, n: rng.normal(size=n),
    "category": lambda rng, n: np.array(["a", "b", "c", "d", "e"], object)[rng.integers(0, 5, n)],
}


def draw(rng, fact, n_groups, real, size=10):
    """Classes of whole groups, two facts of each that tell nothing, and perhaps a real column."""
    mates = np.repeat(np.arange(n_groups), size)
    y = rng.permutation(np.arange(n_groups) % 2)[mates]
    columns = [FACTS[fact](rng, n_groups)[mates] for _ in range(2)]
    if real:
        # Rows of a group are independent, given their class.
        columns.insert(0, rng.normal(size=y.size) + 0.7 * y)
    return pd.DataFrame({f"c{j}": column for j, column in enumerate(columns)}), y, mates


def oracle_finds(x, y, mates):
    """Does x, taught by half of the groups, beat the class shares on the other half, both ways?

    Gaussians by class; Student's t at 5 % over the groups that did not teach.
    """
    half = mates % 4 < 2
    return all(_replicates(x, y, mates, taught) for taught in (half, ~half))


def _replicates(x, y, mates, taught):
    if len(set(y[taught])) < 2:
        return False
    parts = [x[taught & (y == k)] for k in (0, 1)]
    shares = np.log([part.size / taught.sum() for part in parts])
    joint = np.array(
        [s + norm.logpdf(x, part.mean(), part.std()) for s, part in zip(shares, parts, strict=True)]
    )
    gained = (joint - np.logaddexp(*joint))[y, np.arange(y.size)] - shares[y]
    by_group = [gained[mates == group].sum() for group in np.unique(mates[~taught])]
    return ttest_1samp(by_group, 0.0, alternative="greater").pvalue < 0.05


def table_of(fact, n_groups, real, seed):
    """The draws of a seed: its generator, and a table, its classes and its groups."""
    rng = np.random.default_rng([seed, n_groups, real, sorted(FACTS).index(fact)])
    return rng, *draw(rng, fact, n_groups, real)


def seeds_of_oracle(fact, n_groups, begin):
    """Seeds from `begin` on, up to 5000, whose real column the oracle finds."""
    for seed in range(begin, 5000):
        _, X, y, mates = table_of(fact, n_groups, True, seed)
        if oracle_finds(X["c0"].to_numpy(), y, mates):
            yield seed


def columns_of(model):
    """Positions of all columns that a model reads."""
    return set(np.flatnonzero(model.support_).tolist())


def tried(setting, fact, n_groups, real, seed):
    """What a fit kept, what the oracle finds, and how far log-loss on new groups is above none."""
    rng, X, y, mates = table_of(fact, n_groups, real, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SETTINGS[setting]().fit(X, y, groups=mates)
    kept = columns_of(model)
    new, truth, _ = draw(rng, fact, 200, real)
    chances = model.predict_proba(new)[np.arange(truth.size), truth]
    above = -np.log(np.maximum(chances, 1e-300)).mean() - np.log(2)
    finds = real and oracle_finds(X["c0"].to_numpy(), y, mates)
    return {
        "noise": bool(kept - {0}) if real else bool(kept),
        "found": 0 in kept if real else None,
        "oracle": bool(finds),
        "above": above,
    }
