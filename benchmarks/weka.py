"""Ten-fold accuracy of NaiveBayes beside Weka's NaiveBayes on UCI sets.

    python benchmarks/weka.py FOLDER [--shuffles 10]

FOLDER holds NAME.csv.gz files with a header and the last column `class`.  Weka's figures are those
of version 3.6.14, stratified ten-fold, on the same files; numbers are continuous for both, as Weka
reads them.  A set passes when the mean over shuffles is within max(0.01, 2 standard deviations over
shuffles) of Weka's single shuffle.

Weka takes the difference of two normal integrals as it comes: more than about 8.3 standard
deviations above the mean both are 1 in double precision, the difference is 0, and the floor of
1e-75 speaks; as far below the mean it does not.  NaiveBayes computes both tails alike.  The column
"cancelled" shows what our model gives with Weka's arithmetic, so that a gap can be told from a
mistake.  Writes benchmarks/results/weka.json.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from bayesieve import NaiveBayes

WEKA = {
    "abalone": 0.238, "adult": 0.8325, "cmc": 0.493, "glass": 0.495, "ionosphere": 0.826,
    "iris": 0.960, "nursery": 0.903, "optdigits": 0.913, "pendigits": 0.8575, "spambase": 0.793,
    "tae": 0.530, "tictactoe": 0.696, "wdbc": 0.9297, "wine": 0.966, "yeast": 0.576,
}  # fmt: skip


def cancelling_interval(values, mean, sd, width):
    """Log-probability of the interval as Weka computes it."""
    upper = ndtr((values - mean + width / 2) / sd)
    return np.log(upper - ndtr((values - mean - width / 2) / sd))


def accuracy(model, X, y, seed):
    """Mean accuracy over ten stratified folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes smaller than the folds
        return cross_val_score(model, X, y, cv=folds).mean()


def main():
    """Print one line a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shuffles", type=int, default=10)
    arguments = parser.parse_args()
    results, failed = {}, []
    print("set             Weka    ours      sd  cancelled  GaussianNB")
    for name, weka in WEKA.items():
        table = pd.read_csv(arguments.folder / f"{name}.csv.gz")
        X, y = table.drop(columns="class"), table["class"].astype(str)
        numbers = X.select_dtypes("number").columns
        model = NaiveBayes(features=dict.fromkeys(numbers, "gaussian"))
        seeds = range(arguments.shuffles)
        means = [accuracy(model, X, y, seed) for seed in seeds]
        found = {"weka": weka, "ours": np.mean(means), "sd": np.std(means, ddof=1)}
        with mock.patch("bayesieve.models.gaussian._log_interval", cancelling_interval):
            found["cancelled"] = np.mean([accuracy(model, X, y, seed) for seed in range(3)])
        if len(numbers) == X.shape[1]:
            found["gaussian_nb"] = np.mean([accuracy(GaussianNB(), X, y, seed) for seed in seeds])
        results[name] = {key: float(value) for key, value in found.items()}
        line = f"{name:12s} " + "  ".join(f"{value:.4f}" for value in results[name].values())
        if abs(found["ours"] - weka) > max(0.01, 2 * found["sd"]):
            failed.append(name)
            line += "  not within bounds"
        print(line, flush=True)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "weka.json").write_text(json.dumps(results, indent=2) + "\n")
    sys.exit(f"not within bounds: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
