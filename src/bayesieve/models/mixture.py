"""Continuous columns: a Gaussian mixture for every class (Sotoca et al.)."""

from dataclasses import dataclass

import numpy as np

from ..checks import Array
from .base import Floats, Grid, ModelSettings, Statistics, Terms, TrainingSets
from .gaussian import GaussianModel, Mixtures, exponent_of

#: Most components of a mixture.
MOST_COMPONENTS = 7

_STEPS = 1000


@dataclass(frozen=True)
class MixtureModel(GaussianModel):
    """Normal distributions side by side, fitted to each class by EM.

    Components start side by side over the range of the class; none gets narrower than a sixth of
    the mean gap between the column's values.  Distinct values count with their frequencies, and
    row weights are read as such (the choice of their number takes them for numbers of rows).
    Terms are those of the Gaussian model, averaged over the components, so that one component is
    the Gaussian model.  A class with fewer distinct values than components has idle components, and
    `NaiveBayes` says so.

    Parameters
    ----------
    components : how many; 0 chooses from 1 to 7 by the Bayesian information criterion, for each
        class and column.
    tolerance : gain in log-likelihood a row below which EM stops.
    as_printed : stop by the paper's rule instead.
    """

    components: int = 0
    tolerance: float = 1e-4
    as_printed: bool = False

    @property
    def leaves_one_out(self) -> bool:  # type: ignore[override]
        """EM has no closed form."""
        return False

    def idle_classes(self, statistics: Mixtures) -> list[tuple[int, int]]:
        """Classes with fewer distinct values than components."""
        distinct = statistics.n_distinct[0]
        few = (distinct > 0) & (distinct < self.components) & (self.components > 1)
        return [(int(k), int(distinct[k])) for k in np.flatnonzero(few)]

    def statistics(self, column: Array, n_codes: int, sets: TrainingSets) -> Statistics:
        """Moments and mixtures of every set and class."""
        from .kernels.mixture import fit_classes

        moments = super().statistics(column, n_codes, sets)
        most = self.components or MOST_COMPONENTS
        known = ~np.isnan(column)
        points, at = np.unique(column[known], return_inverse=True)
        counts = np.zeros((sets.n_sets, sets.n_classes, points.size))
        position = np.full(column.size, -1)
        position[known] = at
        for g, rows in enumerate(sets.rows):
            mine = rows[known[rows]]
            np.add.at(counts[g], (sets.labels[mine], position[mine]), sets.weights[mine])
        distinct = (counts > 0).sum(-1).astype(np.float64)
        if most == 1:
            # The moments are the answer, to the bit that of the Gaussian model.
            count = np.where(moments.weight > 0, moments.weight, 1.0)
            variance = np.maximum(moments.squares, 0.0) / count
            share = (moments.weight > 0).astype(np.float64)
            return Mixtures(
                *moments[:3],
                share[..., None],
                moments.mean[..., None],
                variance[..., None],
                distinct,
                moments.power,
                moments.power[..., None],
            )
        out = np.empty((sets.n_sets * sets.n_classes, 3, most))
        # Fitted on the range from 0 to 1: squares of very large or small values would not fit.
        low = points[0] if points.size else 0.0
        half, parts = 1.0, 1
        if points.size > 1:
            # In two halves where the range itself would not fit.
            parts = 1 if np.isfinite(float(points[-1]) - float(low)) else 2
            half = points[-1] / parts - low / parts
        scaled = (points / parts - low / parts) / half
        fit_classes(
            scaled,
            counts.reshape(len(out), points.size),
            1.0 / max(points.size - 1, 1) / 6,
            self.components or 1,
            most,
            self.tolerance,
            _STEPS,
            self.as_printed,
            out,
        )
        shaped = out.reshape(sets.n_sets, sets.n_classes, 3, most)
        with np.errstate(over="ignore", under="ignore"):
            centre = np.full((*shaped.shape[:2], most), low, np.float64)
            for _ in range(parts):
                centre += half * shaped[:, :, 1]
            power = exponent_of(half)
            width = np.ldexp(half, -power) * parts
            variance = shaped[:, :, 2] * width * width
        powers = np.full(variance.shape, float(power))
        return Mixtures(
            *moments[:3], shaped[:, :, 0], centre, variance, distinct, moments.power, powers
        )

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        """Mixtures of two batches are not the mixture of both."""
        raise ValueError(
            f"the feature model {self.name!r} cannot learn in batches; use fit, or 'gaussian'."
        )

    def _components(
        self, statistics: Mixtures, grid: Grid, settings: ModelSettings
    ) -> tuple[Floats, Floats, Floats, Floats]:
        variance = statistics.variance[0]
        power = np.broadcast_to(statistics.variance_power[0], variance.shape)
        return statistics.share[0], statistics.centre[0], variance, power

    def terms(
        self, statistics: Statistics, values: Array, grid: Grid, settings: ModelSettings
    ) -> Terms:
        """Log-probability or log-density of each value: sets x values x classes."""
        n_components = statistics.share.shape[-1]
        power = np.broadcast_to(statistics.variance_power, statistics.variance.shape)
        parts = []
        for m in range(n_components):
            with np.errstate(divide="ignore"):
                share = np.log(statistics.share[:, None, :, m])
            parts.append(
                share
                + self._speak(
                    values[None, :, None],
                    statistics.centre[:, None, :, m],
                    statistics.variance[:, None, :, m],
                    power[:, None, :, m],
                    grid.resolution,
                    settings,
                )
            )
        finite = parts[0]
        if n_components > 1:
            with np.errstate(invalid="ignore"):  # NaN is missing, and silenced below
                finite = np.logaddexp.reduce(parts, axis=0)
        return self._finish(finite, (statistics.weight <= 0)[:, None, :], values, grid, settings)
