"""Sparse multi-label selection by AUC: simulated incident reports, beside scikit-learn.

    python benchmarks/sparse_reports.py [--reports 50000 --features 11852]

One forward scan over all candidates, greedy forward search to 49 features, diversified search with
naive Bayes and with votes, elimination; the peak memory of a fit; and how time grows with the
number of non-zeros.  scikit-learn's way (fit, decision values and `roc_auc_score` of each candidate
and label) is timed on a sample of candidates.  Writes benchmarks/results/sparse.json.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from bayesieve import FeatureVotes, NaiveBayes, NaiveBayesSelector
from bayesieve.datasets import make_incidents
from bayesieve.rankings import eliminate
from bayesieve.search import GreedySearch
from timing import median_time

THREADS = 2


class TimedForward(GreedySearch):
    """Forward search that times every scan over many candidates."""

    seconds: ClassVar[list[float]] = []

    def steps(self, objective, limits):
        """The usual steps, each question timed."""
        plain = objective.best_add
        self.seconds.clear()

        def best_add(units):
            start = time.perf_counter()
            found = plain(units)
            self.seconds.append(time.perf_counter() - start)
            return found

        objective.best_add = best_add
        yield from super().steps(objective, limits)


def search(data, estimator, strategy, criterion="penalised-auc", **options):
    """Seconds, and the selector."""
    selector = NaiveBayesSelector(
        estimator,
        strategy,
        criterion,
        cv="train",
        choice="best",
        reweigh=False,
        validation=None,
        random_state=0,
        n_jobs=THREADS,
        **options,
    )
    start = time.perf_counter()
    selector.fit(data.X, data.Y)
    return time.perf_counter() - start, selector


def warm_up():
    """Compile everything on a small table."""
    small = make_incidents(500, 60, n_entries=2000, random_state=0)
    for estimator in (NaiveBayes(), FeatureVotes()):
        for strategy in ("forward", "diversified", "backward"):
            search(small, estimator, strategy)
    eliminate(small.X, small.Y)


def peer_candidate_seconds(data, selected, sample=12):
    """scikit-learn: one candidate, all labels."""
    X = data.X.tocsr()
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for candidate in rng.choice(X.shape[1], sample, replace=False):
        part = X[:, [*selected, candidate]]
        for y in data.Y.T:
            model = BernoulliNB().fit(part, y)
            roc_auc_score(y, model.predict_joint_log_proba(part) @ [-1, 1])
    return (time.perf_counter() - start) / sample


def peak_megabytes(features):
    """Memory of a fit above that of data and imports, in a process of its own."""
    script = f"""
import resource
from bayesieve import NaiveBayesSelector
from bayesieve.datasets import make_incidents
small = make_incidents(500, 60, n_entries=2000, random_state=0)
fit = lambda d: NaiveBayesSelector(search="forward", criterion="auc", validation=None, cv="train",
                                   max_features=3, n_jobs={THREADS}).fit(d.X, d.Y)
fit(small)
data = make_incidents(n_features={features}, random_state=0)
def now():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
import threading, time
before, peak, stop = now(), [0.0], []
def watch():
    while not stop:
        peak[0] = max(peak[0], now())
        time.sleep(0.002)
thread = threading.Thread(target=watch); thread.start()
fit(data); stop.append(1); thread.join()
size = (data.X.data.nbytes + data.X.indices.nbytes + data.X.indptr.nbytes) / 1e6
print(peak[0] - before, size)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [float(word) for word in out.stdout.split()]


def main():
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=50000)
    parser.add_argument("--features", type=int, default=11852)
    arguments = parser.parse_args()
    warm_up()
    data = make_incidents(arguments.reports, arguments.features, random_state=0)
    results = {"entries": int(data.X.nnz)}
    print(f"{data.X.shape[0]} reports x {data.X.shape[1]} features, {data.X.nnz} entries, 3 labels")

    scans = TimedForward("forward")
    seconds, forward = search(data, NaiveBayes(), scans, "auc", max_features=49)
    results["forward_49"] = seconds
    results["scan"] = float(np.median(scans.seconds))
    results["slowest_scan"] = float(np.max(scans.seconds))
    print(f"one scan: median {results['scan']:.3f} s, slowest {results['slowest_scan']:.3f} s")
    print(f"forward to 49 features: {seconds:.2f} s, "
          f"AUC {forward.path_.steps[-1].score:.4f}")  # fmt: skip
    first = forward.path_.subset(10)
    peer = peer_candidate_seconds(data, first) * data.X.shape[1]
    results["peer_scan"] = peer
    results["ratio"] = peer / results["scan"]
    print(f"scikit-learn, a scan with 10 features in (from a sample): {peer:.0f} s, "
          f"{results['ratio']:.0f} times as long")  # fmt: skip
    for name, estimator in (("naive Bayes", NaiveBayes()), ("votes", FeatureVotes())):
        seconds, found = search(data, estimator, "diversified")
        step = found.path_.steps[found.path_.chosen]
        results[f"diversified {name}"] = [seconds, step.n_features, step.score]
        print(f"diversified, {name}: {seconds:.2f} s, {step.n_features} features, "
              f"penalised AUC {step.score:.4f}, {found.n_tried_} subsets tried")  # fmt: skip
    results["elimination"] = median_time(lambda: eliminate(data.X, data.Y, n_jobs=THREADS))
    shares = eliminate(data.X, data.Y).to_dict()
    print(f"elimination: {results['elimination']:.2f} s")
    for label, of in shares.items():
        print(f"  {label}: never with a positive {of['never with a positive']:.1%}, "
              f"with containment {of['with containment']:.1%}")  # fmt: skip
    peak, size = peak_megabytes(arguments.features)
    results["peak_over_matrix"] = peak / size
    print(f"peak memory of a fit: {peak:.0f} MB above the data, {peak / size:.1f} times the matrix")
    sizes, times = [], []
    for share in (1, 2, 4):
        part = make_incidents(
            arguments.reports, arguments.features // share, n_entries=1_700_000 // share,
            random_state=0,
        )  # fmt: skip
        scans = TimedForward("forward")
        search(part, NaiveBayes(), scans, "auc", max_features=20)
        sizes.append(part.X.nnz)
        times.append(np.median(scans.seconds))
    results["exponent"] = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    print(f"scan against entries {sizes}: {[round(t, 4) for t in times]} s, "
          f"exponent {results['exponent']:.2f}")  # fmt: skip
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "sparse.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
