"""Selections on a Dask cluster, for the command line: rows are read where the workers are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ..checks import Foreign, choose
from ..data.files.base import BadUseError
from ..engine import DaskEngine, GpuEngine
from ..engine.far.cluster import check_address
from ..engine.threads import count_threads
from ..estimators.deploy import deploy
from ..estimators.selector import NaiveBayesSelector
from ..explain.plain import Plain
from .by_class import read_class_weight, read_priors
from .commands import SearchOptions, SharedOptions, make_chooser, summary
from .results import chosen_names, write_result
from .tables import Problem


class FarOptions(NamedTuple):
    """What a selection on a cluster is told beside the options of every search."""

    scheduler: str | None
    target: str | None
    groups: str | None
    features: str
    validation: object
    weights: tuple[str | None, str | None]  #: of the classes, and their priors where it is used
    safe_csv: bool


def select_files(
    files: Sequence[Path],
    out: Path,
    options: FarOptions,
    shared: SharedOptions,
    searching: SearchOptions,
) -> tuple[dict[str, Plain], int]:
    """Select from Parquet files, and write model.json, selected.csv and path.csv.

    Gives what was chosen as plain data, and the number of columns.
    """
    if options.target is None:
        raise BadUseError("--target is needed: the column with the classes.")
    odd = [str(file) for file in files if file.suffix != ".parquet"]
    if odd:
        raise BadUseError(f"--engine dask reads Parquet files; got {odd[0]}.")
    lost = [str(file) for file in files if not file.exists()]
    if lost:
        raise BadUseError(f"{lost[0]}: there is no such file; give Parquet files that exist.")
    _check_alike(files)
    place = read_priors(options.weights[1])
    with _cluster(options.scheduler, shared["n_jobs"]) as client:
        import dask.dataframe as dd

        frame = dd.read_parquet([str(file) for file in files])
        given = {}
        if options.groups is not None:
            if options.groups not in frame.columns:
                raise BadUseError(f"--groups {options.groups} names no column of the files.")
            given["groups"] = frame[options.groups]
            frame = frame.drop(columns=[options.groups])
        if options.target not in frame.columns:
            raise BadUseError(f"--target {options.target} names no column of the files.")
        names = [str(name) for name in frame.columns if name != options.target]
        weight = options.weights[0]
        known = pl.Series()
        if weight not in (None, "balanced"):  # in the kind that the classes are
            known = pl.Series(client.compute(frame[options.target].unique()).result().to_list())
        problem = Problem(pl.DataFrame(), names, known)
        shared = {**shared, "class_weight": read_class_weight(weight, problem)}
        chosen = (options.features, options.validation, shared, searching, problem)
        chooser = make_chooser("selector", *chosen)
        assert isinstance(chooser, NaiveBayesSelector)
        chooser.set_params(engine=DaskEngine(client))
        chooser.fit(frame, options.target, **given)
    chooser.set_params(engine=None)
    selector = chooser if place is None else deploy(chooser, place)
    chosen_columns = {"feature": chosen_names(chooser, names)}
    path = chooser.path_.to_dict()
    write_result(out, selector, chosen_columns, path, None, options.safe_csv)
    return summary(chooser, names, out), len(names)


def _check_alike(files: Sequence[Path]) -> None:
    """Refuse files of unequal columns: Dask would leave out what the first has not."""
    first: set[str] = set()
    for file in files:
        try:
            names = set(pl.read_parquet_schema(file))
        except (OSError, pl.exceptions.PolarsError) as error:
            raise BadUseError(f"{file} cannot be read as Parquet: {error}") from error
        odd = sorted(names ^ (first or names))
        if odd:
            raise BadUseError(
                f"{file} and {files[0]} must have the same columns; {odd[0]!r} is in one only."
            )
        first = names


def check_engine(
    engine: str, scheduler: str | None, tables: Sequence[Path], asked: dict[str, str | None]
) -> bool:
    """Is it a cluster that keeps the rows?  What it cannot do is refused by name."""
    choose("--engine", engine, ["threads", "dask", "gpu"])
    if engine != "dask":
        if scheduler is not None:
            raise BadUseError("--scheduler is for --engine dask.")
        if len(tables) > 1:
            raise BadUseError(f"give one table, or --engine dask; got {len(tables)} files.")
        if engine == "gpu":
            _check_gpu()
        return False
    odd = [name for name, value in asked.items() if value not in (None, "auto", "selector")]
    if odd:
        raise BadUseError(f"--{odd[0]} is not offered with --engine dask; leave it out.")
    return True


def _check_gpu() -> None:
    """Refuse a machine without a GPU before the table is read."""
    try:
        GpuEngine().judged()
    except (ImportError, RuntimeError) as error:
        raise BadUseError(str(error)) from error


@contextmanager
def _cluster(scheduler: str | None, n_jobs: int | None) -> Iterator[Foreign]:
    """A client of the cluster at an address; of one on this machine where none is given."""
    try:
        import distributed
    except ImportError as error:
        raise BadUseError(
            '--engine dask needs Dask, which is not installed; pip install "bayesieve[dask]".'
        ) from error
    if scheduler is not None:
        check_address("--scheduler", scheduler)
        try:
            client = distributed.Client(scheduler, timeout=20, set_as_default=False)
        except OSError as error:
            raise BadUseError(f"--scheduler {scheduler}: nobody answers there.") from error
        with client:
            yield client
        return
    workers = {"n_workers": count_threads(n_jobs), "threads_per_worker": 1}
    cluster = distributed.LocalCluster(dashboard_address=None, silence_logs=50, **workers)
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client
