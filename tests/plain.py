"""A selector as it was before anything was "auto": for tests of searches, not of defaults."""

from bayesieve import NaiveBayesSelector

SETTINGS = {
    "search": "backward-forward",
    "criterion": "probability",
    "cv": "train",
    "validation": 0.5,
    "choice": "best",
    "reweigh": False,
    "random_state": None,
}
_IN_ORDER = ("estimator", "search", "criterion", "cv", "validation")


def plain_selector(*given, **named):
    """A selector with every setting named, those given among them."""
    return NaiveBayesSelector(**{**SETTINGS, **dict(zip(_IN_ORDER, given, strict=False)), **named})
