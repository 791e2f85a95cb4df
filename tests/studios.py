"""Tables for tests of the studio."""

import numpy as np
import pandas as pd

ODD = ["a\"b'c", "</script><script>window.hacked=1</script>", "naïve 🎲 <b>", "=1+1"]


def rows(seed=0, n=200, width=8, names=None):
    """A small table with a column to tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n)
    names = names or [f"f{j}" for j in range(width)]
    X = pd.DataFrame(
        {
            name: (rng.random(n) < 0.3 + (0.4 - 0.05 * j) * (y == "yes")).astype(int)
            for j, name in enumerate(names)
        }
    )
    X["size"] = np.round(rng.normal(1.0 * (y == "yes"), 1.0), 3)
    return X.assign(kind=y)
