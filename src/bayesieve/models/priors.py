"""Deployment priors: how frequent the classes are in the place where a model is used."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import Array, plain_value
from .counts import check_priors
from .fitted import FittedBayes

#: Probabilities of the classes (of each label, where there are labels), by order or by name.
Priors: TypeAlias = "str | ArrayLike | Mapping[str, float] | Mapping[int, float] | None"


Spoken = TypeVar("Spoken")


def at_place(fitted: Spoken, priors: Priors) -> Spoken:
    """The same model where the classes are as frequent as `priors` says; None: as it is.

    By Bayes' rule: P(class | x) times the prior of the place, by the prior the model has learnt.

    Parameters
    ----------
    fitted : a `FittedBayes`; models without probabilities are refused.
    priors : one probability a class in the order of the classes, a mapping of classes to
        probabilities, or ``"uniform"``; with labels, P(label = 1) of each, or a mapping of labels.
    """
    if priors is None:
        return fitted
    if not isinstance(fitted, FittedBayes):
        raise TypeError("priors must be None for votes, which know no prior; use a NaiveBayes.")
    return cast(Spoken, fitted.deployed(read_places(fitted, priors)))


def read_places(fitted: FittedBayes, priors: Priors) -> list[tuple[float, ...]]:
    """The probabilities of the classes of each problem."""
    if fitted.labelled:
        return shares_of_labels(priors, fitted.labels)
    return [shares_of_classes(priors, fitted.only.classes)]


def shares_of_classes(priors: Priors, classes: Array) -> tuple[float, ...]:
    """The probabilities of classes, in their order.

    Parameters
    ----------
    priors : what came; see `at_place`.
    classes : those that a model knows, or will know.
    """
    names = [plain_value(value) for value in classes]
    given = check_priors(_in_order("class", priors, names), len(names))
    if isinstance(given, str):
        given = np.full(len(names), 1 / len(names))
    return _positive(given, "of every class")


def shares_of_labels(priors: Priors, labels: Sequence[str]) -> list[tuple[float, ...]]:
    """P(label = 0) and P(label = 1) of each label.

    Parameters
    ----------
    priors : what came; see `at_place`.
    labels : their names.
    """
    if isinstance(priors, str):
        check_priors(priors, 2)
        return [(0.5, 0.5)] * len(labels)
    try:
        shares = np.asarray(_in_order("label", priors, list(labels)), np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"priors must be one number for each label; got {priors!r}.") from error
    if shares.shape != (len(labels),):
        raise ValueError(
            f"priors must hold one number, P(label = 1), for each of the {len(labels)} "
            f"labels; got shape {shares.shape}."
        )
    both = np.column_stack([1 - shares, shares])
    return [_positive(pair, "of every label and below 1") for pair in both]


def _positive(shares: NDArray[np.float64] | None, whose: str) -> tuple[float, ...]:
    if shares is None or not (shares > 0).all():
        raise ValueError(
            f"priors must be above 0 {whose}: what cannot be, no evidence makes likely; got "
            f"{None if shares is None else shares.tolist()}."
        )
    return tuple(shares.tolist())


def _in_order(kind: str, priors: object, names: list[object] | list[str]) -> object:
    """Values of a mapping in the order of the classes; all else as it is."""
    if not isinstance(priors, Mapping):
        return priors
    # Command lines know texts only.
    known = {str(name): name for name in names}
    given = {known.get(str(plain_value(key)), key): value for key, value in priors.items()}
    odd = [key for key in given if key not in names]
    lost = [name for name in names if name not in given]
    if odd or lost:
        what = f"{odd[0]!r} is none of them" if odd else f"{lost[0]!r} is missing"
        listed = ", ".join(map(repr, names))
        raise ValueError(f"priors must name every {kind} ({listed}); {what}.")
    return [given[name] for name in names]
