"""Scores with a value at every point of a series, so that they locate what they find."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..checks import Bools, Floats, Ints, check_number, choose
from ..engine.threads import Engine
from .indicator import (
    RULES,
    Indicator,
    Record,
    ScoreColumn,
    Spans,
    number_text,
    stretches,
    thresholds_of,
)

#: A parameter: the least, the most, and whether it is a whole number.
Limits = tuple[float, float, bool]


class _Packed(NamedTuple):
    """Series one after the other."""

    values: Floats  #: channels x points
    pointers: Ints  #: where each begins, and the end
    usable: Bools  #: have all channels as many points?


@dataclass(frozen=True)
class TraceScore:
    """A trace, one answer a place of a series, and the rule that makes one number of it.

    The members of the library are of this kind; `over` gives one over another grid, with other
    thresholds or another rule.

    Parameters
    ----------
    name : str
        What a recipe calls it.
    title : str
        What it finds.
    measure : str
        What is measured at a place; parameters in braces.
    kernel : str
        Module and function of the trace, below ``kernels``.
    grid : mapping of names to sequences of numbers
        Values of each parameter, in the order of the function.
    limits : mapping of names to (low, high, whole)
        What each parameter may be.
    places : {"points", "breaks", "windows"}
        What the answers belong to.
    rule : {"largest", "smallest", "share", "run", "among"}
        See `Indicator`.
    levels : sequence of float
        For the rules that count the places above a level.
    successive : sequence of int
        For the rule "among".
    thresholds : sequence of float, or None
        Where indicators are cut; None: learnt from quantiles.
    unit : str
        Of what is measured.
    n_channels : int
        Channels it looks at together.
    takes_missing : bool
        May points be missing?  If not, such a series has no score.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.indicators import SCORES, Indicators
    >>> spikes = SCORES["spikes"].over(thresholds=[6])
    >>> quiet = np.tile([0.0, 1.0, 2.0, 1.0], 10)
    >>> spiky = np.where(np.arange(40) == 30, 50.0, quiet)
    >>> indicators = Indicators([spikes]).fit([quiet, spiky])
    >>> indicators.transform([quiet, spiky]).ravel().tolist()
    [0, 1]
    >>> indicators.indicators_[0].sentence
    'Spikes: at least one point, distance from the median > 6 robust deviations'
    >>> indicators.fired(spiky, indicators.names_)
    {'spikes > 6': [(30, 30)]}
    """

    name: str
    title: str
    measure: str
    kernel: str
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    limits: Mapping[str, Limits] = field(default_factory=dict)
    places: str = "points"
    rule: str = "largest"
    levels: tuple[float, ...] = ()
    successive: tuple[int, ...] = ()
    thresholds: tuple[float, ...] | None = None
    unit: str = ""
    n_channels: int = 1
    takes_missing: bool = False

    def __post_init__(self) -> None:
        choose("rule", self.rule, RULES[1:])
        for name, (low, high, whole) in self.limits.items():
            if len(self.grid[name]) == 0:
                raise ValueError(f"{name} of {self.name!r} must not be empty.")
            for value in self.grid[name]:
                if whole:
                    check_number(f"{name} of {self.name!r}", value, low=low, high=high, whole=True)
                else:
                    check_number(f"{name} of {self.name!r}", value, low=low, high=high)
        counts = self.rule in ("share", "run", "among")
        if counts != bool(self.levels) or (self.rule == "among") != bool(self.successive):
            raise ValueError(
                f"{self.name!r}: the rules 'share', 'run' and 'among' need levels, 'among' also "
                f"successive, and the others take none; got rule={self.rule!r}, "
                f"levels={self.levels!r}, successive={self.successive!r}."
            )
        for level in self.levels:
            check_number("levels", level, low=-np.inf)
        for each in self.successive:
            check_number("successive", each, low=1, whole=True)
        thresholds_of(self.thresholds)

    def over(
        self,
        *,
        thresholds: Sequence[float] | None = None,
        rule: str | None = None,
        levels: Sequence[float] = (),
        successive: Sequence[int] = (),
        title: str | None = None,
        unit: str | None = None,
        **grid: Sequence[float],
    ) -> "TraceScore":
        """Read the trace over another grid, or by another rule.

        Parameters
        ----------
        thresholds : sequence of float, optional
            Where indicators are cut; learnt from quantiles by default.
        rule, levels, successive : as in `TraceScore`
            The rule stays as it is by default, and so do its levels.
        title, unit : str, optional
            What people call it, and what it is measured in.
        **grid : sequences of numbers
            Values of the parameters named; the others stay.

        Returns
        -------
        score : TraceScore

        Examples
        --------
        >>> from bayesieve.indicators import SCORES
        >>> slope = SCORES["slope"].over(window=[20], rule="share", levels=[0.1], unit="bar/point")
        >>> slope.grid, slope.rule
        ({'window': (20,)}, 'share')
        """
        for name in grid:
            choose(f"a parameter of {self.name!r}", name, self.grid)
        same = rule is None or rule == self.rule
        return replace(
            self,
            thresholds=thresholds_of(thresholds),
            rule=self.rule if rule is None else rule,
            levels=self.levels if same and not len(levels) else tuple(levels),
            successive=self.successive if same and not len(successive) else tuple(successive),
            title=self.title if title is None else title,
            unit=self.unit if unit is None else unit,
            grid={key: tuple(grid.get(key, mine)) for key, mine in self.grid.items()},
        )

    def columns(self, series: Sequence[Record], engine: Engine) -> Iterator[ScoreColumn]:
        """One column for every point of the grid, level and number of successive places."""
        packed = self._pack(series)
        for point, readings in itertools.groupby(self._readings(), key=lambda each: each[0]):
            mine = [(level, successive) for _, level, successive in readings]
            found = self._scores(packed, point, mine, engine)
            for values, (level, successive) in zip(found, mine, strict=True):
                yield ScoreColumn(
                    self._label(point, level, successive),
                    values,
                    self.thresholds,
                    self._meaning(point, level, successive),
                )

    def _pack(self, series: Sequence[Record]) -> "_Packed":
        """All series one after the other, a row a channel."""
        by_channel = [
            [x if isinstance(x, np.ndarray) else x[k] for x in series]
            for k in range(self.n_channels)
        ]
        sizes = np.array([[x.size for x in mine] for mine in by_channel], np.int64)
        same = (sizes == sizes[0]).all(0)
        for i in np.flatnonzero(~same):
            for mine in by_channel:
                mine[i] = np.empty(0)
        pointers = np.concatenate([[0], np.cumsum(np.where(same, sizes[0], 0))])
        values = np.empty((self.n_channels, pointers[-1]))
        for k, mine in enumerate(by_channel):
            np.concatenate([*mine, np.empty(0)], out=values[k])
        return _Packed(values, pointers, same)

    def _scores(
        self,
        packed: "_Packed",
        point: tuple[float, ...],
        readings: list[tuple[float | None, int]],
        engine: Engine,
    ) -> Floats:
        """Readings x series: one trace a series, read at every level."""
        from .kernels.traces import score_loop

        found = np.full((len(readings), packed.usable.size), np.nan)
        levels = np.array([level or 0.0 for level, _ in readings], np.float64)
        successive = np.array([each for _, each in readings], np.int64)
        rule = RULES.index(self.rule) - 1
        arguments = (*packed, self.takes_missing, point, rule, levels, successive)
        loop = score_loop(self.kernel, *arguments, 0, 0, found)

        def task(lo: int, hi: int) -> None:
            loop(self.kernel, *arguments, lo, hi, found)

        engine.run(task, packed.usable.size, 100 * packed.values.size)
        return found

    def spans(self, x: Record, column: int, threshold: float) -> Spans:
        """Where the answers exceed the level or the threshold; for "smallest", where they do not.

        Parameters
        ----------
        x : the series, or one of each channel.
        column : position among the columns that `columns` gives.
        threshold : of the indicator.
        """
        from .kernels.traces import kernel_of

        record = (x,) if isinstance(x, np.ndarray) else x
        whole = all(bool(np.isfinite(mine).all()) for mine in record)
        if len({mine.size for mine in record}) > 1 or not (whole or self.takes_missing):
            return []
        point, level, _ = self._readings()[column]
        answers = kernel_of(self.kernel)(*record, *point)
        if self.rule == "smallest":
            fires = np.isfinite(answers) & (answers <= threshold)
        else:
            fires = answers > (threshold if level is None else level)
        n = record[0].size
        mask = np.zeros(n, bool)
        size, skip, length = self._reach(dict(zip(self.grid, point, strict=True)), n)
        for i in np.flatnonzero(fires):
            # Counted from the end, so that a reference period may stand before all windows.
            first = n - answers.size - size + 1 + int(i) + skip
            mask[first : first + length] = True
        return stretches(mask)

    def _reach(self, parameters: Mapping[str, float], n: int) -> tuple[int, int, int]:
        """Points of a place, and which of them are shaded: after how many, and how many."""
        if self.places == "points":
            return 1, 0, 1
        window = int(parameters["window"]) or n
        if self.places == "windows":
            return window, 0, window
        return window // 2 * 2, window // 2, 1  # the break itself

    def _readings(self) -> list[tuple[tuple[float, ...], float | None, int]]:
        """Every point of the grid, level and number of successive places, in order."""
        levels: tuple[float | None, ...] = self.levels or (None,)
        every = itertools.product(
            *(
                [int(value) if self.limits[key][2] else float(value) for value in values]
                for key, values in self.grid.items()
            )
        )
        return list(itertools.product(every, levels, self.successive or (0,)))

    def _label(self, point: tuple[float, ...], level: float | None, successive: int) -> str:
        """What the column is called: name, parameters, rule."""
        parts = [f"{key}={number_text(v)}" for key, v in zip(self.grid, point, strict=True)]
        usual = "smallest" if self.name == "lowest" else "largest"
        if self.rule in ("largest", "smallest") and self.rule != usual:
            parts.append(self.rule)
        if level is not None:
            counted = {"share": "share", "run": "longest run", "among": f"most of {successive}"}
            parts.append(f"{counted[self.rule]} above {number_text(level)}")
        return f"{self.name} ({', '.join(parts)})" if parts else self.name

    def _meaning(self, point: tuple[float, ...], level: float | None, successive: int) -> Indicator:
        given = dict(zip(self.grid, point, strict=True))
        window = int(given.pop("window", 0)) or None
        place = "" if window is None else f"{window}-point window"
        place = "point" if self.places == "points" else place
        texts = {key: number_text(value) for key, value in given.items()}
        condition = f"{self.measure.format(**texts, window=window)} > {{level}}"
        return Indicator(
            self.name,
            self.title,
            condition,
            place,
            self.rule,
            window=window,
            level=level,
            successive=successive or None,
            unit=self.unit,
            parameters=given,
        )
