"""Results in a notebook's light and dark: every word can be read on what is behind it.

The page stands in for JupyterLab: its colours, its rules for tables, and the attribute by which it
says that its theme is dark whatever the system's is.
"""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bayesieve import (
    NaiveBayes,
    NaiveBayesSelector,
    Session,
    compare,
    decide,
    drift,
    explain,
    explain_model,
    nested,
    rank,
    stability,
)
from bayesieve.datasets import make_signals
from bayesieve.evaluation.curve import evaluate_ranking
from bayesieve.rankings import relevance_matrix
from bayesieve.rankings.families import Families

PAGE = """<!doctype html><html><head><meta charset="utf-8"><style>
body {{ margin: 0; }}
body[data-jp-theme-light="true"] {{ --ink: rgb(0 0 0 / 87%); --paper: #fff; --odd: #f5f5f5; }}
body[data-jp-theme-light="false"] {{
  --ink: rgb(255 255 255 / 87%); --paper: #111; --odd: #212121; }}
.jp-OutputArea {{ color: var(--ink); background: var(--paper); padding: 8px; }}
.jp-RenderedHTMLCommon table {{ border: none; color: var(--ink); font-size: 12px; }}
.jp-RenderedHTMLCommon tbody tr:nth-child(even) {{ background: var(--odd); }}
</style></head><body data-jp-theme-light="{light}">
<div class="jp-OutputArea"><div class="jp-RenderedHTMLCommon">{outputs}</div></div></body></html>"""

# Each text beside the first colour behind it that is not transparent, blended over it.
CONTRASTS = """() => {
  const parts = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = c => c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  const lum = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((c, i) => a * c + (1 - a) * under[i]);
  const behind = e => {
    for (let at = e; at; at = at.parentElement) {
      const found = parts(getComputedStyle(at).backgroundColor);
      if (found.length && (found[3] ?? 1) > 0) return over(found, [255, 255, 255]);
    }
    return [255, 255, 255];
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), e = walk.currentNode.parentElement;
    if (!text || !e.checkVisibility()) continue;
    const under = behind(e), paper = lum(under);
    const ink = lum(over(parts(getComputedStyle(e).color), under));
    found.push([text, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def shown():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = NaiveBayesSelector().fit(X, y)
    ruled = decide(NaiveBayes().fit(X[::2], y[::2]), X[1::2], y[1::2], abstain=0.1)
    results = [
        rank(X, y),
        nested(selector, X, y, cv=3, random_state=0),
        stability(selector, X, y, n_resamples=2, random_state=0),
        evaluate_ranking(X, y, cv=3),
        make_signals(20, 2, random_state=0),
        explain(selector, X.iloc[:12]),
        explain(selector, X.iloc[:1])[0],
        explain_model(selector),
        selector.path_,
        *selector.terms_,
        relevance_matrix(X, y),
        ruled.decision_,
        drift(selector, X),
        compare(["majority", "gaussian-nb"], {"iris": (X, y)}, seeds=1, folds=3),
        Families(("a", "b", "c"), np.array([0, 0, 2])),
        Session(X, y),
    ]
    return "<hr>".join(each._repr_html_() for each in results)


@pytest.mark.parametrize("light", ["true", "false"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read(browser, shown, light, scheme):
    """In either theme of the notebook, whatever the system prefers."""
    page = browser.new_page(viewport={"width": 900, "height": 800}, color_scheme=scheme)
    page.set_content(PAGE.format(light=light, outputs=shown))
    found = page.evaluate(CONTRASTS)
    page.close()
    assert len(found) > 300
    assert [each for each in found if each[1] < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_within_a_notebook_has_its_own_paper(browser, scheme):
    """A frame of its own: it neither shines through nor takes the notebook's ink."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    inline = NaiveBayesSelector().fit(X, y).report(X, y, n_resamples=0)._repr_html_()
    page = browser.new_page(viewport={"width": 900, "height": 800}, color_scheme=scheme)
    page.set_content(PAGE.format(light="false", outputs=inline))
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]")
    paper = frame.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper not in ("rgba(0, 0, 0, 0)", "transparent")
    sentence = dict(frame.evaluate(CONTRASTS))[frame.inner_text(".verdict .sentence")]
    page.close()
    assert sentence > 7  # what is shaded is judged with the report itself
