"""What tests of reports in a browser share."""

import shutil

import numpy as np
import pandas as pd

NAMES = ["chromium", "chromium-browser", "google-chrome"]
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
ODD = ["a\"b'c", "</script><script>window.hacked=1</script>", "naïve 🎲\n<b>", "x" * 500]


def mixed(seed=0, n=150):
    """Numbers, counts, categories and yes/no, with gaps, of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes", "it's"], n)
    X = pd.DataFrame(
        {
            "size": rng.normal(2.0 * (y == "yes"), 1.0),
            "steps": np.round(rng.normal(5.0 * (y == "no"), 2.0)),
            "kind": np.where(rng.random(n) < 0.6, y, rng.choice(["u", "v", None], n)),
            "flag": (rng.random(n) < 0.2 + 0.5 * (y == "yes")).astype(int),
        }
    )
    X.iloc[::11, 0] = np.nan
    return X, y


def launched(driver, **settings):
    """Chromium, whose time limits end what hangs, not what is slow."""
    settings = {"args": ["--no-sandbox"], "timeout": 300_000, **settings}
    browser = driver.chromium.launch(executable_path=CHROMIUM, **settings)

    def patient(make):
        def made(*args, **settings):
            found = make(*args, **settings)
            found.set_default_timeout(300_000)
            return found

        return made

    browser.new_page, browser.new_context = map(patient, (browser.new_page, browser.new_context))
    return browser


def probability(page):
    return float(page.get_attribute("#probability", "data-value"))


def ratio(page, bar):
    return float(page.get_attribute(f"#bar-{bar} .ratio", "data-value"))


def chances(page):
    return page.eval_on_selector_all("#all-classes li", "es => es.map(e => +e.dataset.value)")


def pick_row(page, row):
    """Follow the link of a row."""
    page.click(f'#rows a[data-row="{row}"]')


def unfold(page):
    """Open all that is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")


def set_slider(page, name, value):
    page.eval_on_selector(
        name, "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", str(value)
    )
    return float(page.input_value(name))
