"""scikit-learn's face: classifiers and selectors."""
