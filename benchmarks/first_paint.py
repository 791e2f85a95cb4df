"""How soon a report can be read: a page of 100 columns and 400 rows in headless Chromium.

python benchmarks/first_paint.py
"""

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from bayesieve import NaiveBayesSelector
from bayesieve.explain.report import write_report

NAMES = ["chromium", "chromium-browser", "google-chrome"]
PAINTS = (
    "performance.getEntriesByType('paint').filter(p => p.name === 'first-contentful-paint')"
    ".map(p => p.startTime)[0]"
)


def page_of(path: Path) -> None:
    """A report of many columns, with rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = pd.DataFrame(rng.normal(y[:, None], 4.0, (400, 100))).add_prefix("column ")
    selector = NaiveBayesSelector(
        search="forward", cv="train", validation=0.5, choice="best", n_features=100, random_state=0
    )
    write_report(selector.fit(X, y), X, y, path, include_rows=True, n_resamples=2)


def main() -> None:
    """Print the size, and the median times of five visits."""
    chromium = next(filter(None, map(shutil.which, NAMES)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        page_of(path)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        paints, ready = [], []
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            start = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            ready.append(time.perf_counter() - start)
            paints.append(page.evaluate(PAINTS) / 1000)
            page.close()
        print(f"{path.stat().st_size / 1e6:.2f} MB")
        print(f"first paint {np.median(paints):.2f} s, all charts drawn {np.median(ready):.2f} s")
        browser.close()


if __name__ == "__main__":
    main()
