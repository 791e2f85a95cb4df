"""Engines of the command line: threads of this process, a GPU, or Dask workers.

This is the one file of the command line that knows Dask and GPUs by name.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import BadUseError, Foreign, some

if TYPE_CHECKING:
    from .options import Settings
    from .tables import Rows

#: Names of --engine.
ENGINES = ("threads", "dask", "gpu")

#: What --help says of --engine, of --scheduler, and of tables.
KEEPER = "Who keeps the rows: 'threads', 'dask' (workers of a cluster), 'gpu'."
SCHEDULER = "Address of the Dask scheduler; by default a local cluster."
FILES = "with --engine dask, any number of .parquet files."


@contextmanager
def open_rows(tables: Sequence[Path], settings: "Settings") -> "Iterator[Rows]":
    """The rows of tables, as long as they are needed; what an engine cannot do is refused."""
    from .tables import read_rows

    if settings.engine != "dask":
        if settings.scheduler is not None:
            raise BadUseError("--scheduler is for --engine dask.")
        if len(tables) > 1:
            raise BadUseError(f"give one table, or --engine dask; got {len(tables)} files.")
        engine = None
        if settings.engine == "gpu":
            from ..engine.registry import AcceleratorEngine

            engine = "gpu"
            try:  # a machine without a GPU is refused before the table is read
                AcceleratorEngine().judged()
            except (ImportError, RuntimeError) as error:
                raise BadUseError(str(error)) from error
        yield read_rows(tables[0], settings)._replace(engine=engine)
        return
    if settings.time is not None:
        raise BadUseError("--time is not offered with --engine dask; leave it out.")
    if (settings.target is None) == (not settings.labels):
        raise BadUseError("give --target COLUMN for classes, or --labels A,B,... for labels.")
    files = _existing(tables)
    _check_alike(files)
    with _cluster(settings) as client:
        yield _read_files(client, files, settings)


def no_report(settings: "Settings") -> str:
    """Why there is no report of rows that are elsewhere, and how to have one."""
    what = f"--labels {settings.labels}" if settings.labels else f"--target {settings.target}"
    return (
        "rows stay on the workers, so there is no report.html; of a table that fits this machine: "
        f"bayesieve report {Path(settings.out or '') / 'model.json'} TABLE {what} --out report.html"
    )


# -- Parquet files that the workers of a cluster read ----------------------------------------------


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


def _check_alike(files: Sequence[Path]) -> None:
    """Refuse files of unequal columns: Dask would leave out what the first has not."""
    import polars as pl

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


@contextmanager
def _cluster(settings: "Settings") -> Iterator[Foreign]:
    """A client of the cluster at an address; of one on this machine where none is given."""
    from ..engine.registry import check_address
    from ..engine.threads import count_threads

    try:
        import distributed
    except ImportError as error:
        raise BadUseError(
            '--engine dask needs Dask, which is not installed; pip install "bayesieve[dask]".'
        ) from error
    if settings.scheduler is not None:
        check_address("--scheduler", settings.scheduler)
        try:
            client = distributed.Client(settings.scheduler, timeout=20, set_as_default=False)
        except OSError as error:
            raise BadUseError(f"--scheduler {settings.scheduler}: nobody answers there.") from error
        with client:
            yield client
        return
    workers = {"n_workers": count_threads(settings.jobs), "threads_per_worker": 1}
    cluster = distributed.LocalCluster(dashboard_address=None, silence_logs=50, **workers)
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


def _read_files(client: Foreign, files: Sequence[Path], settings: "Settings") -> "Rows":
    """Columns and target (its name, or the labels) as a cluster has them, and groups if any."""
    import dask.dataframe as dd
    import polars as pl

    from ..engine.registry import RemoteEngine
    from .tables import LabelledTable, Rows

    target, labels = settings.target, settings.label_names
    frame, groups = dd.read_parquet([str(file) for file in files]), None
    if settings.groups is not None:
        groups = frame[_known(frame, "--groups", settings.groups)]
        frame = frame.drop(columns=[settings.groups])
    y: Foreign = target
    known: pl.Series | pl.DataFrame = pl.Series()
    if target is None:
        y = frame[[_known(frame, "--labels", name) for name in labels]]
        frame, known = frame.drop(columns=labels), pl.DataFrame(schema=labels)
    else:
        _known(frame, "--target", target)
    dropped = [] if settings.identifiers else _identifiers(client, frame, target)
    frame = frame.drop(columns=dropped)
    if target is not None and settings.class_weight not in (None, "balanced"):
        # Weights are given to classes in the kind that these are.
        known = pl.Series(client.compute(frame[target].unique()).result().to_list())
    names = [str(name) for name in frame.columns if name != target]
    problem = LabelledTable(pl.DataFrame(), names, known)
    # Workers that this command started may be restarted; those of a scheduler are the user's.
    engine = RemoteEngine(client, restart=settings.scheduler is None)
    return Rows(problem, dropped, frame, y, groups, engine, here=False)


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
