"""scikit-learn estimators: classifiers and selectors."""
