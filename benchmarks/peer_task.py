"""One tool on one task, in a process of its own: ours or a peer's environment.

`python peer_task.py TASK TOOL DATA.npz OUT.json`; `peers.py` calls it.
"""

import contextlib
import gc
import json
import os
import resource
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")
N_SELECTED = {"wrapper": 5, "mrmr": 20, "information": 20, "relieff": 20}
FOLDS = 5


def splits(y):
    """The same folds for everybody."""
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y))


# -- ours ------------------------------------------------------------------------------------------


def bayesieve_wrapper(X, y):
    """Forward search by exact folds."""
    from bayesieve import NaiveBayesSelector

    selector = NaiveBayesSelector(
        search="forward", criterion="error", cv=splits(y), validation=None,
        n_features=N_SELECTED["wrapper"],
    )  # fmt: skip
    return selector.fit(X, y).selected_


def bayesieve_rank(method, n_features):
    """One of our rankings."""

    def run(X, y):
        from bayesieve import rank

        return rank(X, y, method, n_features=n_features).order[:n_features]

    return run


def bayesieve_selective(X, y):
    """The default selector."""
    from bayesieve import NaiveBayesSelector

    return NaiveBayesSelector(random_state=0).fit(X, y)


def bayesieve_model(features):
    """Our classifier."""

    def run(X, y):
        from bayesieve import NaiveBayes

        return NaiveBayes(features).fit(X, y)

    return run


# -- peers -----------------------------------------------------------------------------------------


def sklearn_wrapper(X, y):
    """scikit-learn's forward search."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.naive_bayes import BernoulliNB

    selector = SequentialFeatureSelector(
        BernoulliNB(), n_features_to_select=N_SELECTED["wrapper"], cv=splits(y), scoring="accuracy"
    )
    return np.flatnonzero(selector.fit(X, y).get_support())


def mlxtend_wrapper(X, y):
    """Mlxtend's forward search."""
    from mlxtend.feature_selection import SequentialFeatureSelector
    from sklearn.naive_bayes import BernoulliNB

    selector = SequentialFeatureSelector(
        BernoulliNB(), k_features=N_SELECTED["wrapper"], cv=splits(y), scoring="accuracy"
    )
    return np.array(selector.fit(X, y).k_feature_idx_)


def frame(X, y):
    """What peers want that take data frames only."""
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), pd.Series(y)


def mrmr_selection(X, y):
    """F statistics against correlations: another definition."""
    from mrmr import mrmr_classif

    found = mrmr_classif(*frame(X, y), K=N_SELECTED["mrmr"], n_jobs=1, show_progress=False)
    return np.array([int(name[1:]) for name in found])


def feature_engine_mrmr(X, y):
    """Mutual information, difference form."""
    from feature_engine.selection import MRMR

    selector = MRMR(method="MID", max_features=N_SELECTED["mrmr"], discrete_features=True)
    kept = selector.fit(*frame(X, y)).get_feature_names_out()
    return np.array([int(name[1:]) for name in kept])


def sklearn_information(X, y):
    """scikit-learn's mutual information of discrete columns."""
    from sklearn.feature_selection import SelectKBest, mutual_info_classif

    def score(X, y):
        return mutual_info_classif(X, y, discrete_features=True)

    selector = SelectKBest(score, k=N_SELECTED["information"]).fit(X, y)
    return np.argsort(-selector.scores_, kind="stable")[: N_SELECTED["information"]]


def skrebate_relieff(X, y):
    """Skrebate's ReliefF."""
    from skrebate import ReliefF

    return ReliefF(n_neighbors=10).fit(X.astype(float), y).top_features_[: N_SELECTED["relieff"]]


def sklearn_bernoulli(X, y):
    """scikit-learn's classifier."""
    from sklearn.naive_bayes import BernoulliNB

    return BernoulliNB().fit(X, y)


def sklego_mixture(X, y):
    """scikit-lego's mixtures."""
    from sklego.naive_bayes import GaussianMixtureNB

    return GaussianMixtureNB(n_components=2).fit(X, y)


def khiops_selective(X, y):
    """Khiops' selective naive Bayes: single variables, no trees or pairs."""
    from khiops.sklearn import KhiopsClassifier

    return KhiopsClassifier(n_trees=0, n_pairs=0).fit(X, y)


#: Task -> tool -> (package, function).  "selective" and the models give a fitted model.
TASKS = {
    "wrapper": {
        "bayesieve": ("bayesieve", bayesieve_wrapper),
        "scikit-learn": ("scikit-learn", sklearn_wrapper),
        "mlxtend": ("mlxtend", mlxtend_wrapper),
    },
    "mrmr": {
        "bayesieve": ("bayesieve", bayesieve_rank("mrmr", N_SELECTED["mrmr"])),
        "mrmr-selection": ("mrmr-selection", mrmr_selection),
        "feature-engine": ("feature-engine", feature_engine_mrmr),
    },
    "information": {
        "bayesieve": (
            "bayesieve", bayesieve_rank("mutual-information", N_SELECTED["information"])
        ),
        "scikit-learn": ("scikit-learn", sklearn_information),
    },
    "relieff": {
        "bayesieve": ("bayesieve", bayesieve_rank("relieff", N_SELECTED["relieff"])),
        "skrebate": ("skrebate", skrebate_relieff),
    },
    "selective": {
        "bayesieve": ("bayesieve", bayesieve_selective),
        "khiops": ("khiops", khiops_selective),
    },
    "binary model": {
        "bayesieve": ("bayesieve", bayesieve_model("bernoulli")),
        "scikit-learn": ("scikit-learn", sklearn_bernoulli),
    },
    "mixture model": {
        "bayesieve": ("bayesieve", bayesieve_model("mixture-2")),
        "scikit-lego": ("scikit-lego", sklego_mixture),
    },
}  # fmt: skip


def forget_peak():
    """Let the system measure this process's largest memory anew (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def memory_mb(field):
    """Memory of this process now (VmRSS) or at its peak (VmHWM)."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith(field))) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def children_mb():
    """Largest memory of a child so far: Khiops works in one."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def judge(found, data):
    """Accuracy on rows that took no part, how many features, and which."""
    from sklearn.naive_bayes import BernoulliNB, GaussianNB

    X, y = data["X_test"], data["y_test"]
    if hasattr(found, "predict"):
        accuracy = float(np.mean(np.asarray(found.predict(X)) == y))
        used = getattr(found, "terms_", range(X.shape[1]))
        if hasattr(found, "model_report_"):  # Khiops
            predictors = found.model_report_.modeling_report.trained_predictors
            used = predictors[-1].selected_variables
        return accuracy, len(used), None
    chosen = np.asarray(found)
    model = (BernoulliNB if X.dtype == np.uint8 else GaussianNB)()
    model.fit(data["X"][:, chosen], data["y"])
    return float(model.score(X[:, chosen], y)), int(chosen.size), chosen.tolist()


def main():
    """Run, judge, write down."""
    task, tool, path, out = sys.argv[1:]
    package, run = TASKS[task][tool]
    data = dict(np.load(path))
    rng = np.random.default_rng(0)
    # Imports and compilation first, on a table of the same kind.
    tiny = rng.permutation(len(data["y"]))[:200]
    width = 12 if task not in N_SELECTED else 25
    run(np.ascontiguousarray(data["X"][tiny][:, :width]), data["y"][tiny])
    gc.collect()
    forget_peak()
    before, children = memory_mb("VmRSS"), children_mb()
    start = time.perf_counter()
    found = run(data["X"], data["y"])
    seconds = time.perf_counter() - start
    grown = memory_mb("VmHWM") - before + children_mb() - children
    accuracy, n_features, chosen = judge(found, data)
    result = {
        "seconds": seconds, "memory": max(grown, 0.0), "accuracy": accuracy,
        "n_features": n_features, "chosen": chosen, "version": version(package),
    }  # fmt: skip
    with open(out, "w") as file:
        json.dump(result, file)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
