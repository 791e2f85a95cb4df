"""`select --engine dask`: files are read by the workers of a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ..checks import Foreign, choose
from ..data.files.base import BadUseError, some
from ..engine.registry import AcceleratorEngine, RemoteEngine, check_address
from ..engine.threads import count_threads
from ..estimators.deploy import deploy
from ..explain.plain import Plain
from .commands import (
    SearchOptions,
    SharedOptions,
    chosen_names,
    make_chooser,
    summary,
    write_result,
)
from .options import tell
from .tables import Problem, read_class_weight, read_priors


class FarOptions(NamedTuple):
    """What a selection on a cluster is told beside the options of every search."""

    scheduler: str | None
    estimator: str
    target: str | None
    labels: list[str]
    groups: str | None
    features: str
    validation: object
    weights: tuple[str | None, str | None]  #: of the classes, and their priors where it is used
    identifiers: bool  #: keep text columns with as many values as rows
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
    if (options.target is None) == (not options.labels):
        raise BadUseError("give --target COLUMN for classes, or --labels A,B,... for labels.")
    found = _existing(files)
    _check_alike(found)
    place = read_priors(options.weights[1])
    with _cluster(options.scheduler, shared["n_jobs"]) as client:
        frame, y, given = _read(client, found, options, shared["progress"])
        names = [str(name) for name in frame.columns if name != options.target]
        weight = options.weights[0]
        known: pl.Series | pl.DataFrame = pl.Series()
        if options.target is None:
            known = pl.DataFrame(schema=options.labels)
        elif weight not in (None, "balanced"):  # in the kind that the classes are
            known = pl.Series(client.compute(frame[options.target].unique()).result().to_list())
        problem = Problem(pl.DataFrame(), names, known)
        shared = {**shared, "class_weight": read_class_weight(weight, problem)}
        chosen = (options.features, options.validation, shared, searching, problem)
        chooser = make_chooser(options.estimator, *chosen)
        # Workers that this command started may be restarted; those of a scheduler are the user's.
        chooser.set_params(engine=RemoteEngine(client, restart=options.scheduler is None))
        chooser.fit(frame, y, **given)
    chooser.set_params(engine=None)
    selector = chooser if place is None else deploy(chooser, place)
    chosen_columns = {"feature": chosen_names(chooser, names)}
    path = chooser.path_.to_dict()
    write_result(out, selector, chosen_columns, path, None, options.safe_csv)
    if shared["progress"]:
        labels = ",".join(options.labels)
        what = f"--labels {labels}" if labels else f"--target {options.target}"
        tell(
            "rows stay on the workers, so there is no report.html; of a table that fits this "
            f"machine: bayesieve report {out / 'model.json'} TABLE {what} --out report.html"
        )
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


def _read(
    client: Foreign, files: Sequence[Path], options: FarOptions, progress: bool
) -> tuple[Foreign, Foreign, dict[str, Foreign]]:
    """The columns, the target (its name, or the labels), and groups if there are any."""
    import dask.dataframe as dd

    frame, given = dd.read_parquet([str(file) for file in files]), {}
    if options.groups is not None:
        given["groups"] = frame[_known(frame, "--groups", options.groups)]
        frame = frame.drop(columns=[options.groups])
    y: Foreign = options.target
    if options.target is None:
        y = frame[[_known(frame, "--labels", name) for name in options.labels]]
        frame = frame.drop(columns=options.labels)
    else:
        _known(frame, "--target", options.target)
    named = [] if options.identifiers else _identifiers(client, frame, options.target)
    for name in named if progress else []:
        tell(f"column {name!r} names every row: left out (--identifiers keeps it)")
    return frame.drop(columns=named), y, given


def _existing(files: Sequence[Path]) -> list[Path]:
    """The files, patterns that no shell has filled in among them."""
    found: list[Path] = []
    for file in files:
        matching = [file]
        if not file.exists():
            matching = sorted(file.parent.glob(file.name)) if "*" in file.name else []
        if not matching:
            raise BadUseError(f"{str(file)!r} does not exist; name Parquet files.")
        found += matching
    odd = [str(file) for file in found if file.suffix != ".parquet"]
    if odd:
        raise BadUseError(f"--engine dask reads Parquet files; got {odd[0]}.")
    return found


def _known(frame: Foreign, option: str, name: str) -> str:
    """A name, if a column has it."""
    if name not in frame.columns:
        shown = some([str(each) for each in frame.columns])
        raise BadUseError(f"{option} {name} names no column of the files; they are {shown}.")
    return name


def _identifiers(client: Foreign, frame: Foreign, target: str | None) -> list[str]:
    """Text columns with as many values as rows: they name rows and predict nothing."""
    texts = [
        name
        for name, kind in frame.dtypes.items()
        if name != target and str(kind).startswith(("object", "string"))
    ]
    # What comes twice within one part need not be counted over all of them.
    first = client.compute(frame[texts].get_partition(0)).result()
    texts = [name for name in texts if first[name].nunique(dropna=False) == len(first)]
    if not texts:
        return []
    counts = client.compute([frame[name].nunique(dropna=False) for name in texts])
    n_rows = client.compute(frame.map_partitions(len).sum()).result()
    return [
        name
        for name, count in zip(texts, counts, strict=True)
        if n_rows > 1 and count.result() == n_rows
    ]


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
    odd = [name for name, value in asked.items() if value is not None]
    if odd:
        raise BadUseError(f"--{odd[0]} is not offered with --engine dask; leave it out.")
    return True


def _check_gpu() -> None:
    """Refuse a machine without a GPU before the table is read."""
    try:
        AcceleratorEngine().judged()
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
