"""Cards against the same lines unrounded, the same columns on the grid, and FasterRisk.

``python benchmarks/card.py --data FOLDER [--peer PYTHON] [--sets a,b]``: tables as NAME.csv.gz with
the column ``class`` last; PYTHON is an interpreter that has fasterrisk, which runs as a process of
its own on the same folds, binarised at quantiles learnt from the training rows.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from bayesieve import ScoreCard, WeightedNaiveBayes
from bayesieve.search import point_lines as search

BINARY = (
    "adult", "breast_cancer_wisconsin", "ionosphere", "mushroom", "pima_diabetes", "spambase",
    "tictactoe", "wdbc",
)  # fmt: skip
SEVERAL = ("vehicle", "segment", "glass", "balance_scale")
MOST_ROWS = 6000


def load(folder, name):
    """A table and its classes; large ones are cut."""
    X = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    if len(X) > MOST_ROWS:
        X = X.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
    y = X.pop(X.columns[-1]).astype(str).to_numpy()
    return X, y


def judge(model, X, y):
    """AUC (accuracy of several classes) and log-loss."""
    proba = model.predict_proba(X)
    loss = log_loss(y, np.clip(proba, 1e-9, 1), labels=model.classes_)
    if len(model.classes_) == 2:
        return roc_auc_score(y == model.classes_[1], proba[:, 1]), loss
    return accuracy_score(y, model.predict(X)), loss


def exact_cuts(X, y, lines):
    """A card to which digits of cut-offs cost nothing."""
    kept, search.DIGIT_PRICE = search.DIGIT_PRICE, 0.0
    try:
        return ScoreCard(lines=lines).fit(X, y)
    finally:
        search.DIGIT_PRICE = kept


def fine(model, X, y):
    """The lines of a card with values fitted freely: a logistic regression of them."""
    from sklearn.linear_model import LogisticRegression

    problem = model.estimator_.fitted_.only

    def bits(table):
        from bayesieve.estimators.naive_bayes import rows_of

        rows = rows_of(model, table)
        parts = [np.zeros((len(table), 1))]
        for j, spec in enumerate(problem.specs):
            from bayesieve.data.columns import encode

            values, where = rows.coded(j)
            codes = encode(spec, values)
            codes = codes if where is None else codes[where]
            told = problem.tables[j]
            kinds = np.unique(told, axis=0)
            mine = (told[codes][:, None] == kinds[None]).all(-1)
            parts.append(mine.astype(float))
        return np.hstack(parts)

    ridge = float(model.settings_["ridge"])
    found = LogisticRegression(C=1 / ridge, max_iter=2000).fit(bits(X), y)
    found.told = bits
    return found


PEER = """
import json, sys, time
import numpy as np
from fasterrisk.fasterrisk import RiskScoreOptimizer, RiskScoreClassifier
data = np.load(sys.argv[1]); k = int(sys.argv[2])
B, y, T = data["B"], data["y"], data["T"]
start = time.process_time()
m = RiskScoreOptimizer(X=B, y=y, k=k, lb=-10, ub=10)
m.optimize()
multiplier, b, w = m.get_models(model_index=0)
took = time.process_time() - start
c = RiskScoreClassifier(multiplier, b, w)
np.save(sys.argv[3], c.predict_prob(T))
print(json.dumps({"s": took}))
"""


def binarised(train, *others, q=32):
    """Thresholds at quantiles, and a bit a level; learnt from the training rows."""
    tests = []
    for name in train.columns:
        column = train[name]
        if pd.api.types.is_numeric_dtype(column):
            values = column.dropna().to_numpy(float)
            cuts = np.quantile(values, np.linspace(0, 1, q + 1)[1:-1], method="lower")
            tests += [(name, "<=", cut) for cut in np.unique(cuts)]
        else:
            tests += [(name, "==", level) for level in sorted(column.dropna().unique())]

    def bits(X):
        parts = [X[n] <= v if kind == "<=" else X[n] == v for n, kind, v in tests]
        return np.array(parts, float).T

    found = [bits(X) for X in (train, *others)]
    use = found[0].std(0) > 0
    return [each[:, use] for each in found]


def peer(python, X, y, T, k):
    """FasterRisk's probabilities of the test rows, and its seconds of processor."""
    B, bits = binarised(X, T)
    names = sorted(set(y))
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "t.npz", Path(folder) / "p.npy"
        np.savez(table, B=B, y=np.where(y == names[1], 1.0, -1.0), T=bits)
        script = Path(folder) / "peer.py"
        script.write_text(PEER)
        done = subprocess.run(
            [python, script, table, str(k), out], capture_output=True, text=True, timeout=900
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-400:])
        return np.load(out), json.loads(done.stdout.splitlines()[-1])["s"]


def digits_of(model):
    """Significant digits of every cut-off."""
    found = []
    for spec in model.estimator_.fitted_.specs:
        if spec.cuts is not None:
            starts = np.nextafter(spec.cuts, np.inf)
            found += [int(np.ceil(search.digits(float(each)))) for each in starts]
    return found


def say(line):
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--sets")
    parser.add_argument("--parts", default="a,b,c")
    given = parser.parse_args()
    wanted = given.sets.split(",") if given.sets else [*BINARY, *SEVERAL]
    parts = given.parts.split(",")
    rows, rows_b, cuts = [], [], []
    for name in wanted:
        X, y = load(given.data, name)
        for fold, (train, test) in enumerate(
            StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
        ):
            A, a, T, t = X.iloc[train], y[train], X.iloc[test], y[test]
            if ("a" in parts and name in BINARY) or ("c" in parts and name in SEVERAL):
                start = time.process_time()
                model = ScoreCard(lines=25).fit(A, a)
                took = time.process_time() - start
                free = fine(model, A, a)
                proba = free.predict_proba(free.told(T))
                loss = log_loss(t, np.clip(proba, 1e-9, 1), labels=free.classes_)
                good = (
                    roc_auc_score(t == free.classes_[1], proba[:, 1])
                    if proba.shape[1] == 2
                    else accuracy_score(t, free.predict(free.told(T)))
                )
                some = np.flatnonzero(model.support_).tolist()
                many = max(18, len(some))
                grid = WeightedNaiveBayes(
                    max_terms=many, pairs=False, keep=list(range(len(some)))
                )
                grid.fit(A.iloc[:, some], a)
                exact = exact_cuts(A, a, 25)
                cuts += digits_of(model)
                told = [*judge(model, T, t), good, loss, *judge(grid, T.iloc[:, some], t)]
                rows.append([name, *told, judge(exact, T, t)[0], model.card_.n_lines, took])
            if "b" in parts and name in BINARY:
                for k in (5, 10):
                    start = time.process_time()
                    model = ScoreCard(lines=k).fit(A, a)
                    took = time.process_time() - start
                    told = [*judge(model, T, t), took, np.nan, np.nan, np.nan]
                    if given.peer:
                        try:
                            p, seconds = peer(given.peer, A, a, T, k)
                            right = t == sorted(set(a))[1]
                            told[3:] = [
                                roc_auc_score(right, p),
                                log_loss(right, np.clip(p, 1e-9, 1 - 1e-9)),
                                seconds,
                            ]
                        except (RuntimeError, subprocess.TimeoutExpired) as error:
                            say(f"{name} fold {fold}: peer failed: {str(error)[-200:]}")
                    rows_b.append([name, k, *told])
        if rows and rows[-1][0] == name:
            mean = np.mean([row[1:] for row in rows if row[0] == name], axis=0)
            say(
                f"{name:24s} card {mean[0]:.4f} {mean[1]:.4f} | free {mean[2]:.4f} {mean[3]:.4f} | "
                f"grid {mean[4]:.4f} {mean[5]:.4f} | exact cuts {mean[6]:.4f} | "
                f"{mean[7]:.1f} lines, {mean[8]:.2f} s"
            )
        for k in (5, 10):
            mine = [row[2:] for row in rows_b if row[0] == name and row[1] == k]
            if mine:
                mean = np.nanmean(mine, axis=0)
                say(
                    f"{name:24s} {k:2d} lines: {mean[0]:.4f} {mean[1]:.4f} in {mean[2]:.2f} s | "
                    f"FasterRisk {mean[3]:.4f} {mean[4]:.4f} in {mean[5]:.2f} s"
                )
    for kind, names in (("(a)", BINARY), ("(c)", SEVERAL)):
        mine = np.array([row[1:] for row in rows if row[0] in names])
        if mine.size:
            m = mine.mean(0)
            say(
                f"{kind} card - unrounded: {m[0] - m[2]:+.4f} {m[1] - m[3]:+.4f}; card - grid: "
                f"{m[0] - m[4]:+.4f} {m[1] - m[5]:+.4f}; round - exact cuts {m[0] - m[6]:+.4f}"
            )
    for k in (5, 10):
        mine = np.array([row[2:] for row in rows_b if row[1] == k], float)
        if mine.size and given.peer:
            m = np.nanmean(mine, axis=0)
            say(
                f"(b) {k} lines: {m[0]:.4f} {m[1]:.4f} in {m[2]:.2f} s, FasterRisk {m[3]:.4f} "
                f"{m[4]:.4f} in {m[5]:.2f} s"
            )
    if cuts:
        say(f"cut-offs of at most two digits: {np.mean(np.array(cuts) <= 2):.2f} of {len(cuts)}")


if __name__ == "__main__":
    main()
