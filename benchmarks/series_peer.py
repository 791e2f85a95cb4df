"""Six features of series by tsfresh, in an environment of its own; run by scores.py --peers.

    PYTHON series_peer.py SERIES.npy ANSWER.npz

Reads a matrix, one series a row; writes the features (series x six) and the seconds they took.
"""

import sys
import time

import numpy as np
import pandas as pd
from tsfresh import extract_features

FEATURES = {
    "maximum": None,
    "minimum": None,
    "mean_abs_change": None,
    "linear_trend": [{"attr": "slope"}],
    "autocorrelation": [{"lag": 1}],
    "permutation_entropy": [{"tau": 1, "dimension": 3}],
}


def main():
    """Read, extract, write."""
    X = np.load(sys.argv[1])
    n, size = X.shape
    frame = pd.DataFrame({"id": np.repeat(np.arange(n), size), "x": X.ravel()})

    def extract():
        return extract_features(
            frame,
            column_id="id",
            column_value="x",
            default_fc_parameters=FEATURES,
            n_jobs=0,
            disable_progressbar=True,
        )

    extract()
    start, processor = time.perf_counter(), time.process_time()
    found = extract()
    seconds = time.perf_counter() - start, time.process_time() - processor
    np.savez(sys.argv[2], features=found.to_numpy(), seconds=seconds, names=list(found.columns))


if __name__ == "__main__":
    main()
