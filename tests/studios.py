"""Tables and browsers for tests of the studio."""

import io

import httpx
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


def client(running, **headers):
    """A browser that was let in."""
    origin = f"http://127.0.0.1:{running.keys.port}"
    found = httpx.Client(base_url=origin, headers={"Origin": origin, **headers}, timeout=600)
    found.get(f"/?token={running.keys.token}")
    return found


def upload(page, frame, name="table.csv"):
    buffer = io.BytesIO()
    frame.to_csv(buffer, index=False)
    return page.post("/api/upload", params={"name": name}, content=buffer.getvalue())


def opened(running, frame=None, target="kind"):
    page = client(running)
    assert upload(page, rows() if frame is None else frame).status_code == 200
    answer = page.post("/api/target", json={"target": target})
    assert answer.status_code == 200, answer.text
    return page, answer.json()


def series_table(n=40, length=120, seed=0):
    """A long table of signals, half of which step up on their way."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        values = rng.normal(size=length)
        if i % 2:
            values[rng.integers(length // 4, length // 2) :] += 3.0
        kind = "step" if i % 2 else "calm"
        part = pd.DataFrame({"who": f"m{i:02d}", "t": range(length), "value": values.round(3)})
        found.append(part.assign(kind=kind))
    return pd.concat(found, ignore_index=True)
