"""Sets and made-up results for the tests of comparisons."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from bayesieve.evaluation.compare import SCORES, Comparison
from bayesieve.evaluation.compare.methods import Cell
from bayesieve.evaluation.compare.result import SetSize

SETS = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True, as_frame=True),
    "cancer": load_breast_cancer(return_X_y=True),
}
# Scores that a clock gives: they differ from run to run.
CLOCKS = ("fit_seconds", "predict_seconds")

# Demsar (2006), table 6: AUC of C4.5 with m and cf tuned or not.  Two of the printed 0.975 of
# voting have different ranks there.
DEMSAR = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.975, 0.9749], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def made(table, names, folds=2, metric="accuracy", noise=None):
    """A comparison with these scores: sets x methods."""
    cells = []
    for i, row in enumerate(table):
        for name, value in zip(names, row, strict=True):
            for fold in range(folds):
                scores = dict.fromkeys(SCORES)
                if value is not None:
                    scores[metric] = float(value) + (0 if noise is None else noise[i, fold])
                words = "" if value is not None else "ValueError: no"
                cells.append(Cell(name, f"set {i}", 0, fold, 80, 20, scores, None, words))
    sizes = tuple(SetSize(f"set {i}", 100, 5, 2) for i in range(len(table)))
    return Comparison(tuple(cells), tuple(names), sizes, (0,), folds, metric)


def without_clocks(found):
    return [
        {**cell.to_dict(), "scores": {k: v for k, v in cell.scores.items() if k not in CLOCKS}}
        for cell in found.cells
    ]
