"""How quickly the studio answers, through a real browser.

    python benchmarks/studio.py [--large]

Medians of several tries: from the click to the new numbers on the screen, from the click on Pause
to the page that says so, and the first paint.  The search runs beside all the while it is paused.
"""

import argparse
import shutil
import statistics
import time

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from bayesieve import NaiveBayesSelector, Session
from bayesieve.app.studio.bench import Bench
from bayesieve.app.studio.data import given_table
from bayesieve.app.studio.launch import RunningStudio, listen
from bayesieve.app.studio.server import Keys

NAMES = ["chromium", "chromium-browser", "google-chrome"]

# Clicks, and waits until the page has drawn what came of it.
CLICK = """async ([button, watched]) => {
  const place = document.querySelector(watched), began = performance.now();
  const drawn = new Promise(done => {
    const end = () => requestAnimationFrame(() => { eye.disconnect(); done(); });
    const eye = new MutationObserver(end);
    eye.observe(place, {childList: true, subtree: true, characterData: true, attributes: true});
  });
  document.querySelector(button).click();
  await drawn;
  return performance.now() - began;
}"""


def table(n_rows: int, n_columns: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Yes/no columns of which every fourth knows a little of the four classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, n_rows)
    lift = 0.1 * ((y[:, None] + np.arange(n_columns)) % 4 == 0)
    X = (rng.random((n_rows, n_columns), dtype=np.float32) < 0.3 + lift).astype(np.int8)
    return pd.DataFrame(X, columns=[f"indicator {j}" for j in range(n_columns)]), y


def clicked(page: Page, button: str, watched: str = "#figures") -> float:
    """Milliseconds from a click to what it changes."""
    return float(page.evaluate(CLICK, [button, watched]))


def measure(n_rows: int, n_columns: int, tries: int, jobs: int) -> None:
    """One table."""
    X, y = table(n_rows, n_columns)
    began = time.perf_counter()
    session = Session(X, y, NaiveBayesSelector(preset="balanced", n_jobs=jobs))
    opened = time.perf_counter() - began
    session.add(*range(15))
    bench = Bench(jobs)
    bench.hold(session, given_table(X, y), None)
    place = listen("127.0.0.1", 0)
    running = RunningStudio(bench, Keys(place.getsockname()[1]), place).start()
    found: dict[str, list[float]] = {"first paint": [], "edit": [], "pause": []}
    browser = next(filter(None, map(shutil.which, NAMES)))
    with (
        sync_playwright() as p,
        p.chromium.launch(executable_path=browser, args=["--no-sandbox"]) as chromium,
    ):
        for _ in range(3):
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            began = time.perf_counter()
            page.goto(running.address)
            page.wait_for_selector("#visible li.in")
            found["first paint"].append(1000 * (time.perf_counter() - began))
        time.sleep(2)
        for _ in range(tries):
            for button in ("button[aria-label^='Out:']", "#undo"):
                found["edit"].append(clicked(page, button))
                time.sleep(0.3)
        clicked(page, "#start", "#progress")
        time.sleep(1)
        for _ in range(tries):
            found["pause"].append(clicked(page, "#pause", "#pause"))
            time.sleep(0.2)
            clicked(page, "#pause", "#pause")
            time.sleep(0.2)
        page.click("#stop")
    running.close(save=False)
    print(f"{n_rows} x {n_columns} (opened in {opened:.1f} s)")
    for name, values in found.items():
        print(f"  {name:12s} {statistics.median(values):7.0f} ms   (worst {max(values):.0f} ms)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="100,000 x 1000 too")
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1)
    asked = parser.parse_args()
    measure(6000, 810, asked.tries, asked.jobs)
    if asked.large:
        measure(100_000, 1000, asked.tries, asked.jobs)


if __name__ == "__main__":
    main()
