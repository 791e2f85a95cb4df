"""What a selector asks of the models that it searches."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from ..data.sample import Sample
from ..data.tables import Table
from ..data.targets import Targets
from ..engine.sparse_tables import SparseProblem, SparseTables
from ..models.base import Floats, Ints, Run, Settings, run_alone
from ..models.columns import Summary
from ..models.fitted import FittedBayes

#: A model of all rows, as a value: `FittedBayes`, or what another family makes.
Fitted: TypeAlias = Any


class Family(Protocol):
    """Models that a selector can search: what it asks of them."""

    @property
    def name(self) -> str:
        """The estimator's."""

    @property
    def form(self) -> str:
        """Of ledger it needs: "lines" or "moves"."""

    @property
    def features(self) -> object:
        """Feature models, as users give them."""

    def choose_models(self, table: Table) -> list[str]:
        """The feature model of each column of a table."""

    @property
    def smoothing(self) -> object:
        """Of counts, as users give it."""

    @property
    def priors(self) -> Any:
        """Of the classes, as users give them."""

    @property
    def rounded(self) -> bool:
        """Are continuous values rounded first?"""

    def check(self) -> None:
        """Judge the settings."""

    def check_sample(self, sample: Sample) -> None:
        """Judge the settings that depend on the classes."""

    def fit(
        self,
        sample: Sample,
        models: Sequence[str],
        class_weight: Floats | None = None,
        run: Run = run_alone,
    ) -> Fitted:
        """The model of all rows, as a value."""

    def problems(self, targets: Targets) -> list[Ints]:
        """Classes of all rows in each problem that is counted."""

    def finish(
        self, summaries: Sequence[Summary], labels: Sequence[str] = (), run: Run = run_alone
    ) -> Fitted:
        """The model of what was counted, one summary a problem."""

    def restrict(self, fitted: Fitted, columns: Sequence[int], sample: Sample) -> Fitted:
        """Some columns of a model of all rows."""

    def sparse_tables(
        self, problem: SparseProblem, fitted: Fitted, run: Run = run_alone
    ) -> SparseTables:
        """Terms for the rows of a sparse ledger."""


class DenseFamily(Family, Protocol):
    """Models that can be asked line by line."""

    def settings(self, fitted: FittedBayes, class_weight: Floats) -> Settings:
        """Settings of tables that are learnt on some of the rows of a model."""
