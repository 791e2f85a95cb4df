"""What criteria are called where people read them."""

# The model's own estimate of its error is no "probability" to a reader; names in code stay.
_READ_AS = {"probability": "expected error"}


def read_as(criterion: str) -> str:
    """The name of a criterion as people read it.

    Parameters
    ----------
    criterion : its name in code.

    Examples
    --------
    >>> from bayesieve.criteria.words import read_as
    >>> read_as("probability"), read_as("auc")
    ('expected error', 'auc')
    """
    return _READ_AS.get(criterion, criterion)
