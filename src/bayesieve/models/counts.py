"""Binary and categorical columns: class-conditional counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import FeatureModel, Floats, Grid, Settings, Terms, TrainingSets
from .logarithm import log_one, log_shares


@dataclass(frozen=True)
class CountModel(FeatureModel):
    """P(value | class) from counts and pseudo-counts.

    The last code of a column says nothing (missing, or a value never seen): its terms are 0 and it
    is left out of the totals.

    Parameters
    ----------
    name : public name.
    silent_unseen : a level without a single training row says nothing, whatever the smoothing;
        otherwise smoothing alone speaks for it, as in scikit-learn's BernoulliNB.
    """

    name: str
    silent_unseen: bool = False
    discrete: bool = True
    leaves_one_out: bool = True

    def statistics(self, column: NDArray[Any], n_codes: int, sets: TrainingSets) -> Floats:
        """Weighted counts, sets x codes x classes."""
        from .kernels.statistics import count_by_class

        counts = np.empty((sets.n_sets, n_codes, sets.n_classes))
        count_by_class(column, sets.labels, sets.weights, *sets.left_out_flat, counts)
        return counts

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Counts add up."""
        return one + other

    def terms(
        self, statistics: Floats, values: NDArray[Any], grid: Grid, settings: Settings
    ) -> Terms:
        """Log-probabilities of all codes; `values` and `grid` are not needed."""
        counts = statistics[..., :-1, :]
        terms = self._log_share(counts, counts.sum(-2, keepdims=True), settings)
        if self.silent_unseen:
            terms = _silence(terms, counts.sum(-1) == 0)
        return _with_silent_code(terms)

    def left_out(
        self,
        statistics: Floats,
        values: NDArray[Any],
        grid: Grid,
        settings: Settings,
        column: NDArray[Any],
        sets: TrainingSets,
    ) -> Terms:
        """The same with one row fewer in the value's and the class's count: closed form."""
        raw = statistics[0, :-1]
        counts = raw - (raw > 0)
        # A class without rows is nobody's own: any number will do.
        total = np.maximum(raw.sum(0) - 1, 0)[None]
        terms = self._log_share(counts, total, settings)
        if self.silent_unseen:
            terms = _silence(terms, raw.sum(1) - 1 == 0)
        return _with_silent_code(terms)

    def limit(self, finite: Floats, settings: Settings) -> Floats:
        """Counts bound themselves."""
        return finite

    def bound(self, settings: Settings) -> None:
        """Known only from the table."""
        return

    def _log_share(self, counts: Floats, total: Floats, settings: Settings) -> Terms:
        """Log (count + pseudo) / (total + sum of pseudo); its limit where both are 0."""
        n_levels = max(counts.shape[-2], 1)
        pseudo = self._pseudo(n_levels, settings)
        top = counts * settings.class_weight + pseudo
        bottom = total * settings.class_weight + pseudo.sum(-2, keepdims=True)
        impossible = (top <= 0) & (bottom > 0)
        logs = None
        if settings.smoothing != "mean":
            alpha, weight = float(settings.smoothing), settings.class_weight
            logs = log_shares(counts, total, alpha, weight, settings.bits)
        if logs is not None:
            finite = np.ldexp((logs[0] - logs[1]).astype(np.float64), -settings.bits)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                finite = np.where(impossible, -np.log(bottom), np.log(top) - np.log(bottom))
        if (bottom <= 0).any():
            finite = np.where(bottom <= 0, -log_one(n_levels, settings.bits), finite)
        return Terms(finite, impossible)

    def _pseudo(self, n_levels: int, settings: Settings) -> Floats:
        if settings.smoothing != "mean":
            return np.full((max(n_levels, 1), 1), float(settings.smoothing))
        if self.silent_unseen or settings.binary_mean is None:
            return np.full((max(n_levels, 1), 1), 1.0 / max(n_levels, 1))
        mean = settings.binary_mean[:, None, :]
        return np.concatenate([1.0 - mean, mean], axis=1)


def binary_mean(counts: list[Floats], n_sets: int, n_classes: int) -> Floats:
    """Mean over binary columns of the frequency of 1: the prior of Guyon 2005, sets x classes."""
    total = np.zeros((n_sets, n_classes))
    present = np.zeros_like(total)
    for column in counts:
        rows = column[:, :2].sum(1)
        known = rows > 0
        total += np.divide(column[:, 1], rows, out=np.zeros_like(total), where=known)
        present += known
    return np.divide(total, present, out=np.full_like(total, 0.5), where=present > 0)


def _silence(terms: Terms, silent: NDArray[np.bool_]) -> Terms:
    """No term for these levels."""
    speak = ~silent[..., None]
    assert terms.impossible is not None
    return Terms(np.where(speak, terms.finite, 0.0), terms.impossible & speak)


def _with_silent_code(terms: Terms) -> Terms:
    """Append the code that says nothing."""
    pad = [(0, 0)] * (terms.finite.ndim - 2) + [(0, 1), (0, 0)]
    assert terms.impossible is not None
    impossible = np.pad(terms.impossible, pad) if terms.impossible.any() else None
    return Terms(np.pad(terms.finite, pad), impossible)
