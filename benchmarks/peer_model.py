"""Khiops and explainable boosting as classifiers, each in an environment of its own.

`Peer(python, tool)` is a classifier of scikit-learn's kind; the tool runs in a child of `python`,
which is started once and stays, so that its imports do not count.  As a program, this is the child:
it takes paths of pickled tables on standard input and answers each with the path of an answer.
"""

import atexit
import os
import pickle
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

_CHILDREN = {}


class Peer(ClassifierMixin, BaseEstimator):
    """A tool of another environment; a fit that takes longer than `limit` seconds fails."""

    def __init__(self, python, tool, limit=None):
        self.python = python
        self.tool = tool
        self.limit = limit

    def fit(self, X, y):
        """Learn, in the child."""
        told = self._ask(("fit", self.tool, X, np.asarray(y)))
        self.n_features_in_ = X.shape[1]
        self.classes_, self.terms_, self.key_ = told["classes"], [None] * told["terms"], told["key"]
        self.wall_, self.processor_ = told["wall"], told["processor"]
        return self

    def predict_proba(self, X):
        """Probabilities, as the child has them."""
        return self._ask(("predict", self.key_, X, None))

    def predict(self, X):
        """The most probable class."""
        return self.classes_[self.predict_proba(X).argmax(1)]

    def _ask(self, task):
        child, folder = _child(self.python)
        path = Path(folder.name) / "task.pickle"
        path.write_bytes(pickle.dumps(task))
        child.stdin.write(f"{path}\n")
        child.stdin.flush()
        if not select.select([child.stdout], [], [], self.limit)[0]:
            child.kill()
            del _CHILDREN[self.python]
            raise RuntimeError(f"more than {self.limit:.0f} s a fit")
        line = child.stdout.readline()
        if not line:
            del _CHILDREN[self.python]
            raise RuntimeError(f"{self.tool} ended without an answer")
        answer = pickle.loads(Path(line.strip()).read_bytes())
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer


def _child(python):
    """The child of an environment, started when it is first wanted."""
    if python not in _CHILDREN:
        folder = tempfile.TemporaryDirectory()
        # Khiops looks for its programs on the path.
        path = f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        child = subprocess.Popen(
            [python, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PATH": path, "VIRTUAL_ENV": str(Path(python).parent.parent)},
        )
        _CHILDREN[python] = (child, folder)
        atexit.register(child.terminate)
    return _CHILDREN[python]


# -- the child -------------------------------------------------------------------------------------


def as_frame(X):
    """A frame, texts as they are."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    X = X.toarray() if hasattr(X, "toarray") else X
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    if X.dtype == object:
        for name in frame:
            text = any(isinstance(value, str) for value in frame[name])
            frame[name] = frame[name].astype(str if text else float)
    return frame


def fit_khiops(X, y):
    """Its selective naive Bayes, without trees; how many variables it kept."""
    from khiops.sklearn import KhiopsClassifier

    model = KhiopsClassifier(n_trees=0).fit(as_frame(X), y)
    predictors = model.model_report_.modeling_report.trained_predictors
    # None: nothing in the table tells anything.
    return model, len(predictors[-1].selected_variables or ())


def fit_ebm(X, y):
    """Explainable boosting as it comes, but for one process; how many terms it has."""
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(n_jobs=1, random_state=0).fit(as_frame(X), y)
    return model, len(model.term_names_)


TOOLS = {"khiops": fit_khiops, "ebm": fit_ebm}


def answer(task, models):
    """Fit or predict."""
    verb, what, X, y = task
    if verb == "predict":
        return np.asarray(models[what].predict_proba(as_frame(X)), float)
    start, spent = time.perf_counter(), processor()
    model, n_terms = TOOLS[what](X, y)
    models.clear()
    models[what] = model
    return {
        "classes": np.asarray(model.classes_),
        "terms": n_terms,
        "key": what,
        "wall": time.perf_counter() - start,
        "processor": processor() - spent,
    }


def processor():
    """Seconds of the processor so far, children included."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main():
    """Answer until the parent is gone."""
    import warnings

    warnings.simplefilter("ignore")
    # What the tools print must not be taken for answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    models = {}
    for line in sys.stdin:
        path = Path(line.strip())
        try:
            found = answer(pickle.loads(path.read_bytes()), models)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        path.with_suffix(".answer").write_bytes(pickle.dumps(found))
        out.write(f"{path.with_suffix('.answer')}\n")
        out.flush()


if __name__ == "__main__":
    main()
