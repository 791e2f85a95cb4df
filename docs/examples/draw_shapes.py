"""Draw what one term says, as the documentation shows it: shape-light.svg, shape-dark.svg."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer

from bayesieve import WeightedNaiveBayes

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
model = WeightedNaiveBayes().fit(X, y)
term = next(term for term in model.terms_ if term["name"] == "worst texture")
shape = term.plot(row=X.iloc[140])
shape.save("shape.svg")
for theme, ink in (("light", "#1f2328"), ("dark", "#e6edf3")):
    drawn = Path("shape.svg").read_text().replace("<svg ", f'<svg color="{ink}" ', 1)
    Path(f"shape-{theme}.svg").write_text(drawn)
print(repr(shape))
