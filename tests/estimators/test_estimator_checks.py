"""scikit-learn's own checks, with no failure expected."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from bayesieve import NaiveBayes, NaiveBayesSelector, ScoreCard, WeightedNaiveBayes


@parametrize_with_checks(
    [
        NaiveBayes(),
        NaiveBayes("gaussian", var_smoothing=1e-9, priors="uniform"),
        NaiveBayesSelector(),
        NaiveBayesSelector(search="forward", criterion="error", cv=3, validation=None),
        WeightedNaiveBayes(corrections=False),
        ScoreCard(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Fifteen seconds of ever the same fits; those that a correction could fail are not slow.
ORDINARY = {
    "check_classifiers_train",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_estimators_pickle",
}


def of_corrections():
    """The checks of the default estimator, which corrects what its terms say."""
    for estimator, check in estimator_checks_generator(WeightedNaiveBayes()):
        name = getattr(check, "func", check).__name__
        marks = () if name in ORDINARY else pytest.mark.slow
        yield pytest.param(estimator, check, marks=marks, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(of_corrections()))
def test_scikit_learn_checks_of_corrections(estimator, check):
    check(estimator)
