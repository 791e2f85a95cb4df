"""scikit-learn's own checks, with no failure expected."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesieve import NaiveBayes, NaiveBayesSelector, ScoreCard, WeightedNaiveBayes


@parametrize_with_checks(
    [
        NaiveBayes(),
        NaiveBayes("gaussian", var_smoothing=1e-9, priors="uniform"),
        NaiveBayesSelector(),
        NaiveBayesSelector(search="forward", criterion="error", cv=3, validation=None),
        WeightedNaiveBayes(),
        ScoreCard(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
