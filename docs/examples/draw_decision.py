"""Draw one decision, bar by bar, as the README shows it: decision-light.svg, decision-dark.svg."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayesieve import WeightedNaiveBayes
from bayesieve.plot import plot_evidence

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
model = WeightedNaiveBayes().fit(X, y)

# Text stays text, and the same code draws the same file.
style = {"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "", "font.family": "sans-serif"}
for theme, ink in (("light", "#1f2328"), ("dark", "#e6edf3")):
    inks = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), ink)
    with plt.rc_context({**style, **inks}):
        figure, ax = plt.subplots(figsize=(4.6, 2.5), layout="constrained")
        found = plot_evidence(model, X_new, row=140, ax=ax).explanation
        chance = f"probability {100 * found.probability:.1f} %"
        said = f"{found.target} rather than {found.against}: {chance}"
        figure.suptitle(f"{said} (in truth: {y_new.iloc[140]})", x=0, ha="left", fontsize=9)
        ax.set_title("", loc="left")
        ax.set_xlabel(f"{found.against} ← times as likely → {found.target}")
        ax.tick_params(length=0, labelbottom=False)
        ax.spines["bottom"].set_visible(False)
        figure.savefig(f"decision-{theme}.svg", transparent=True, metadata={"Date": None})
        plt.close(figure)
print(found.to_text())
