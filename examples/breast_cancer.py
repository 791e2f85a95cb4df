"""The main job on a data set that scikit-learn carries: sieve 30 columns, show the model.

python examples/breast_cancer.py
"""

import time

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayesieve import NaiveBayes, NaiveBayesSelector

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

start = time.perf_counter()
selector = NaiveBayesSelector(cv=10, random_state=0).fit(X_train, y_train)
seconds = time.perf_counter() - start

plain = NaiveBayes().fit(X_train, y_train)
chosen = selector.path_.steps[selector.path_.chosen]
print(f"breast cancer: {len(X_train)} rows to learn from, {len(X_test)} to test on\n")
print(f"{'':24s} features  test error")
print(f"{'naive Bayes, all':24s} {X.shape[1]:8d}  {1 - plain.score(X_test, y_test):10.4f}")
print(
    f"{'naive Bayes, sieved':24s} {len(selector.selected_):8d}  "
    f"{1 - selector.score(X_test, y_test):10.4f}"
)
print(
    f"\n{selector.n_tried_} subsets tried, {len(selector.path_)} visited, in {seconds:.1f} s "
    f"(compiling included); validation error of the choice {chosen.validation_error:.4f}"
)

row = X_test.iloc[[0]]
evidence = selector.estimator_.terms(row[selector.get_feature_names_out()])[0]
classes = [str(name) for name in selector.classes_]
print(f"\nWhy is the first test row {selector.predict(row)[0]}?  P({classes[0]}) =", end=" ")
print(f"{selector.predict_proba(row)[0, 0]:.4f}")
print(f"{'feature':26s} {'value':>10s}  log-ratio {classes[0]} : {classes[1]}")
ratios = evidence[:, 0] - evidence[:, 1]
names = selector.get_feature_names_out()
for j in sorted(range(len(names)), key=lambda j: -abs(ratios[j])):
    bar = ("+" if ratios[j] > 0 else "-") * min(40, max(1, round(4 * abs(ratios[j]))))
    print(f"{names[j]:26s} {row[names[j]].iloc[0]:10.4g}  {ratios[j]:+7.3f} {bar}")
