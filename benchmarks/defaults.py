"""What a default is worth: settings of ours beside each other and beside peers, on many sets.

Nested, the same folds for all, on `compare`; goes on after a kill (`--checkpoint`).
`python defaults.py --data FOLDER [--quick] [--peers PYTHON] [--checkpoint FILE] [--out FOLDER]`;
the folder may be named by BAYESIEVE_DATA.  `--quick` ends within 10 minutes: small samples, three
folds.
"""

import argparse
import os
import warnings
from datetime import date
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bayesieve import NaiveBayes, NaiveBayesSelector, WeightedNaiveBayes, compare
from bayesieve.datasets import load
from bayesieve.evaluation.compare.methods import AnyScaler, PlainNumbers
from peer_model import Peer

SMALL = (
    "iris", "tae", "wine", "arcene", "glass", "ionosphere", "vowel528", "wdbc", "synthetic_control",
    "balance_scale", "breast_cancer_wisconsin", "pima_diabetes", "vehicle", "tictactoe", "vowel990",
    "internet_ads_first998",
)  # fmt: skip
LARGE = (
    "cmc", "yeast", "segment", "madelon", "splice", "abalone", "spambase", "waveform21",
    "waveform40", "texture", "optdigits", "mushroom", "pendigits", "nursery", "letter", "adult",
)  # fmt: skip
# Rows of a set that is larger.
MOST = 6000
# Columns of a set that is wider.
MOST_COLUMNS = 600
# A class with fewer rows cannot be in every part of every fold.
LEAST = 10


def old(**changes):
    """The default before: half the rows choose."""
    return NaiveBayesSelector(
        **{
            "search": "backward-forward", "criterion": "probability", "cv": "train",
            "validation": 0.5, "choice": "best", "reweigh": False, **changes,
        }
    )  # fmt: skip


def methods(peers, quick):
    """Everything that is compared, by name."""
    plain = {"validation": None, "search": "forward-backward"}
    found = {
        "all columns": NaiveBayes(),
        "old default": old(),
        "loo, error": old(**plain, cv="loo", criterion="error"),
        "loo, probability": old(**plain, cv="loo"),
        "10 folds, error": old(**plain, cv=10, criterion="error"),
        "10 folds, one-se": old(**plain, cv=10, choice="one-se"),
        "selector": NaiveBayesSelector(),
        "selector, few": NaiveBayesSelector(preset="few"),
        "weighted, few": WeightedNaiveBayes(preset="few"),
        "weighted, balanced": WeightedNaiveBayes(preset="balanced"),
        "weighted": WeightedNaiveBayes(),
        "L1 logistic": make_pipeline(
            PlainNumbers(),
            AnyScaler(),
            LogisticRegression(solver="saga", l1_ratio=1.0, C=1.0, max_iter=300, tol=1e-3),
        ),
        "boosted trees": make_pipeline(PlainNumbers(), HistGradientBoostingClassifier()),
    }
    if peers is not None:
        found["Khiops"] = Peer(peers, "khiops")
        if not quick:
            found["EBM"] = Peer(peers, "ebm")
    return found


def sets(names, most):
    """Sets by name; rows drawn with seed 0 where there are more."""
    found = {}
    for name in names:
        data = load(name)
        # The old default could not end on 10000 columns: it began with all of them.
        X, y = data.X[:, :MOST_COLUMNS], np.asarray(data.y)
        _, where, count = np.unique(y, return_inverse=True, return_counts=True)
        rows = np.flatnonzero(count[where] >= LEAST)
        if rows.size > most:
            rows = np.sort(np.random.RandomState(0).permutation(rows)[:most])
            _, where, count = np.unique(y[rows], return_inverse=True, return_counts=True)
            rows = rows[count[where] >= LEAST]
        found[name] = (X[rows], y[rows])
    return found


def verdicts(found, small):
    """What the issue of defaults asks, from the cells."""
    lines = []
    by = {}
    for cell in found.cells:
        if not cell.failure:
            by.setdefault((cell.method, cell.data), []).append(cell.scores["accuracy"])
    mean = {key: np.mean(values) for key, values in by.items()}
    for method in found.methods:
        for other in ("all columns", "old default"):
            if method == other:
                continue
            both = [d for d in small if (method, d) in mean and (other, d) in mean]
            gaps = np.array([mean[method, d] - mean[other, d] for d in both])
            if gaps.any():
                test = wilcoxon(gaps, alternative="greater").pvalue
                lines.append(
                    f"{method} against {other} on {len(both)} small sets: mean {gaps.mean():+.4f}, "
                    f"{(gaps > 0).sum()} better, {(gaps < 0).sum()} worse, one-sided p {test:.4f}"
                )
    names = sorted({d for _, d in by})
    for method in found.methods:
        lost = []
        for name in names:
            if (method, name) not in by or ("old default", name) not in by:
                continue
            gap = np.array(by[method, name]) - np.array(by["old default", name])
            error = gap.std(ddof=1) / np.sqrt(gap.size)
            if gap.mean() < -2 * error and gap.mean() < 0:
                lost.append(f"{name} {gap.mean():+.3f} (se {error:.3f})")
        lines.append(f"{method} loses to the old default by more than two errors on: {lost}")
    return "\n".join(lines)


def main():
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("BAYESIEVE_DATA"))
    parser.add_argument("--peers", help="python of an environment with khiops and interpret")
    parser.add_argument("--checkpoint")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="names of methods, separated by ;")
    args = parser.parse_args()
    if args.data is None:
        parser.error("--data (or BAYESIEVE_DATA) must name the folder of sets")
    os.environ["BAYESIEVE_DATA"] = args.data
    warnings.simplefilter("ignore")
    small, most = SMALL, MOST
    if args.quick:
        small, most = tuple(name for name in SMALL if name != "arcene"), 1500
    chosen = methods(args.peers, args.quick)
    if args.only:
        chosen = {name: chosen[name] for name in args.only.split(";")}
    found = compare(
        chosen,
        sets((*small, *(LARGE if not args.quick else LARGE[:9])), most),
        seeds=args.seeds,
        folds=3 if args.quick else 5,
        checkpoint=args.checkpoint,
        n_jobs=args.jobs,
        progress=True,
    )
    print(f"{date.today()}, accuracy\n{found}\n")
    print(f"log-loss\n{found.by('log_loss')}\n")
    print(verdicts(found, small))
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "table.csv").write_text(found.to_csv())
        (args.out / "results.json").write_text(found.to_json())
        found.plot().figure.savefig(args.out / "ranks.svg", bbox_inches="tight")


if __name__ == "__main__":
    main()
