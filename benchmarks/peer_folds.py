"""A classifier of another environment on folds that lie in files; `weighted.py` calls it.

`python peer_folds.py TOOL FOLDER N OUT.jsonl`: FOLDER holds train0.csv, test0.csv and so on, the
classes in the column `class`.  One line a fold: accuracy, log-loss, terms, seconds on the clock and
of the processor, children included.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")


def khiops():
    """Its selective naive Bayes of single variables, without trees and pairs."""
    from khiops.sklearn import KhiopsClassifier

    def count(model):
        return len(model.model_report_.modeling_report.trained_predictors[-1].selected_variables)

    return KhiopsClassifier(n_trees=0, n_pairs=0), count


def ebm():
    """Explainable boosting with 4 bags instead of 14, so that a run ends."""
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(outer_bags=4, n_jobs=1, random_state=0)
    return model, lambda model: len(model.term_features_)


TOOLS = {"khiops": khiops, "ebm": ebm}


def processor():
    """Seconds of the processor so far, children included."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def read(path):
    """Columns and classes of a file."""
    table = pd.read_csv(path, dtype={"class": str})
    return table.drop(columns="class"), table["class"].to_numpy()


def judge(proba, classes, y):
    """Accuracy, and log-loss; a class that never trained costs as much as 1e-6."""
    at = {str(label): k for k, label in enumerate(classes)}
    chance = [proba[i, at[label]] if label in at else 1e-6 for i, label in enumerate(y)]
    right = np.asarray(classes).astype(str)[proba.argmax(1)] == y
    return float(right.mean()), float(-np.log(np.maximum(chance, 1e-15)).mean())


def main():
    """Fit and judge fold by fold."""
    tool, folder, n_folds, out = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    for fold in range(n_folds):
        (X, y), (X_test, y_test) = (
            read(folder / f"{part}{fold}.csv") for part in ("train", "test")
        )
        model, count = TOOLS[tool]()
        start, spent = time.perf_counter(), processor()
        model.fit(X, y)
        found = {"wall": time.perf_counter() - start, "processor": processor() - spent}
        accuracy, loss = judge(np.asarray(model.predict_proba(X_test)), model.classes_, y_test)
        found |= {"accuracy": accuracy, "loss": loss, "terms": count(model)}
        with open(out, "a") as lines:
            lines.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
