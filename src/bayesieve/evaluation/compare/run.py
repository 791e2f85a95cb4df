"""`compare`: runs the cells in threads or processes, and resumes after a kill."""

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TextIO, cast

import sklearn
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from ...checks import check_file, check_flag, check_jobs, check_number, choose
from ...engine.threads import count_threads
from ...search.checkpoint import Journal, fingerprint
from ...search.progress import ProgressLine, in_time
from .methods import Cell, CellTask, read_methods, read_sets, run_cell
from .result import Comparison, SetSize


class CellJournal(Journal):
    """A journal with one record a cell.

    Every record bears the fingerprints of its method and its data, so that a comparison may grow:
    methods, sets and seeds can be added, and only what has changed under its name is refused.
    """

    work = "comparison"

    def __init__(
        self,
        path: Path,
        release: str,
        parts: Mapping[str, str],
        methods: Mapping[str, str],
        sets: Mapping[str, str],
    ):
        super().__init__(path, release, parts)
        self._prints = {"method": dict(methods), "data set": dict(sets)}
        self.cells: dict[tuple[str, str, int, int], Cell] = {}  #: of these methods and sets
        try:
            for method_print, set_print, plain in self.records:
                cell = Cell.of_dict(plain)
                named = (("method", cell.method, method_print), ("data set", cell.data, set_print))
                for kind, name, print_ in named:
                    if self._prints[kind].get(name, print_) != print_:
                        raise ValueError(
                            f"checkpoint={str(self.path)!r}: the {kind} {name!r} is not what it "
                            "was when the file was written. Give the same one, give it another "
                            "name, remove the file, or give another path."
                        )
                self.cells[cell.method, cell.data, cell.seed, cell.fold] = cell
        except BaseException:
            self.close()
            raise

    def note(self, cell: Cell) -> None:
        """Write a cell down; one that failed is tried again another time."""
        if not cell.failure:
            prints = self._prints["method"][cell.method], self._prints["data set"][cell.data]
            self.append([*prints, cell.to_dict()])


# -- How far a comparison is, and how long it takes to its end -------------------------------------


# Fits before the time left is told.
_FEW = 4


class CellsLine(ProgressLine):
    """One line that is rewritten on a terminal, a log elsewhere.

    Every method on every set takes a time of its own; it is known from the cells that are done.
    """

    def __init__(
        self,
        tasks: Sequence[CellTask],
        done: Sequence[Cell],
        n_workers: int,
        stream: TextIO | None = None,
    ):
        super().__init__(stream)
        self._n_workers, self._all, self._done, self._known = n_workers, len(tasks), 0, 0
        self._missing: dict[tuple[str, str], int] = {}
        self._seconds: dict[tuple[str, str], list[float]] = {}
        for task in tasks:
            pair = task.method, task.data.name
            self._missing[pair] = self._missing.get(pair, 0) + 1
        for cell in done:
            if (cell.method, cell.data) in self._missing:
                self._take(cell)
        self._known, self._heard = self._done, time.monotonic()

    def _take(self, cell: Cell, seconds: float | None = None) -> None:
        pair = cell.method, cell.data
        spent = sum(cell.scores[name] or 0.0 for name in ("fit_seconds", "predict_seconds"))
        self._seconds.setdefault(pair, []).append(spent if seconds is None else seconds)
        self._missing[pair] -= 1
        self._done += 1

    def left(self) -> float | None:
        """Seconds to the end; None before much is known.

        Medians: the first fit may compile.
        """
        if self._done < min(_FEW, self._all):
            return None
        usual = {pair: median(each) for pair, each in self._seconds.items()}
        others = sum(usual.values()) / len(usual) if usual else 0.0
        work = sum(n * usual.get(pair, others) for pair, n in self._missing.items())
        return work / self._n_workers

    def begin(self, task: CellTask) -> None:
        """A cell is about to run."""
        self._heard = time.monotonic()
        self._show(f"{task.method} on {task.data.name}")

    def hear(self, cell: Cell) -> None:
        """A cell is done."""
        # One after the other, the clock between two cells counts all that a cell costs.
        alone = time.monotonic() - self._heard if self._n_workers == 1 else None
        self._take(cell, alone)
        self._show(f"{cell.method} on {cell.data}{' failed' if cell.failure else ''}")

    def _show(self, what: str) -> None:
        now = time.monotonic()
        if now - self._last < self.pause:
            return
        self._last = now
        left = self.left()
        told = "" if left is None else f"; ~{in_time(left)} left"
        self._write(f"{self._done} of {self._all} fits, {what}, {in_time(now - self._start)}{told}")

    def close(self) -> None:
        """End the line."""
        spent = f"{self._done} of {self._all} fits in {time.monotonic() - self._start:.1f} s"
        known = f" ({self._known} known before)" if self._known else ""
        self.say(spent + known)


# -- compare ---------------------------------------------------------------------------------------


_BACKENDS = {"threads": "threading", "processes": "loky"}


def compare(  # noqa: PLR0913
    methods: object,
    data: object,
    *,
    seeds: object = 3,
    folds: int | None = None,
    cv: int | None = None,
    checkpoint: object = None,
    n_jobs: int | None = None,
    backend: str = "threads",
    progress: bool = False,
) -> Comparison:
    """Compare methods on data sets by cross-validation on the same folds, with significance tests.

    Each method is fitted to the training rows of a fold alone, whatever it selects or tunes, and
    judged on the others.

    Parameters
    ----------
    methods : list, dict, str or estimator
        Classifiers or pipelines with scikit-learn's ``fit`` and ``predict``; names (see
        `bayesieve.evaluation.compare.METHODS`); ``"module:factory"``; or a dict of name ->
        any of these.
    data : dict, list, str, or a data set
        Name -> ``(X, y)``, names that `bayesieve.datasets.load` knows, or objects with `X` and `y`.
        X may be an array, a frame or a sparse matrix, whatever the methods read.
    seeds : int or list of int, default=3
        Repeats; a number n stands for the seeds 0 to n - 1.
    folds, cv : int, default=5
        Parts of the rows: ``StratifiedKFold(folds, shuffle=True, random_state=seed)``; by either
        name.
    checkpoint : path, optional
        A file to write every cell to, and to go on from.  Methods, sets and seeds may be added
        later; one that has changed under its name is refused.  Fits that failed are tried again.
    n_jobs : int, optional
        Cells at the same time; -1 for all cores.  The scores do not depend on it, seconds may.
    backend : {"threads", "processes"}, default="threads"
        What cells run in.  Processes suit methods that hold Python's lock.
    progress : bool, default=False
        Tell on standard error how far it is and how long it takes to the end.

    Returns
    -------
    comparison : Comparison
        `str` answers first which method is best and whether that is more than chance.

    Notes
    -----
    *Randomness.*  Every parameter `random_state` of a method that is None, also in the steps of a
    pipeline, is set to the seed; one that is set stays.

    *Scores.*  Accuracy; balanced accuracy; log-loss and Brier score as in scikit-learn,
    probabilities clipped as it clips them, 0 for a class that the method never met; the expected
    calibration error of the class predicted in ten bins of equal count, which is too high where
    folds are small; the number of features by `selected_`, `get_support()` or `n_features_in_`, of
    a pipeline by its last step that tells; seconds of `fit` and `predict`.  A method without
    ``predict_proba`` has no log-loss, Brier score and calibration error.

    *Threads.*  BLAS and OpenMP run on one thread meanwhile, so that neither the scores nor the
    seconds depend on how many cells run beside; a method's own `n_jobs` stays as it is.

    *Failures.*  A method that fails does not stop the others: it is shown as failed on that set,
    with its words, and ranks last there.

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets.
    Nadeau and Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> from bayesieve import compare
    >>> found = compare(["naive-bayes", "majority"], "iris", seeds=2)
    >>> print(found.verdict)
    naive-bayes is best by accuracy on iris: 0.9467. That is more than chance against majority
    (p < 0.0001).
    """
    choose("backend", backend, _BACKENDS)
    check_jobs(n_jobs)
    check_flag("progress", progress)
    if folds is not None and cv is not None:
        raise ValueError("folds and cv are two names of one number; give one of them.")
    given, named = (folds, "folds") if cv is None else (cv, "cv")
    folds = check_number(named, 5 if given is None else given, low=2, whole=True)
    drawn = _read_seeds(seeds)
    known = read_methods(methods)
    sets, folds = read_sets(data, int(folds)), int(folds)
    # First a fold of every set by every method, so that the time left is soon known.
    tasks = [
        CellTask(name, method, part, seed, fold, folds)
        for seed in drawn
        for fold in range(folds)
        for part in sets
        for name, method in known.items()
    ]
    with contextlib.ExitStack() as stack:
        journal = None
        done: dict[tuple[str, str, int, int], Cell] = {}
        if checkpoint is not None:
            journal = CellJournal(
                check_file("checkpoint", checkpoint),
                sys.modules[__name__.partition(".")[0]].__version__,
                {
                    "folds": fingerprint(folds),
                    "the version of scikit-learn": fingerprint(sklearn.__version__),
                },
                {name: fingerprint(method) for name, method in known.items()},
                {each.name: each.fingerprint for each in sets},
            )
            stack.enter_context(contextlib.closing(journal))
            done = journal.cells
        left = [task for task in tasks if task.key not in done]
        n_workers = min(count_threads(n_jobs), max(len(left), 1))
        line = CellsLine(tasks, list(done.values()), n_workers) if progress else None
        if line is not None:
            stack.enter_context(contextlib.closing(line))
        for cell in _run(left, n_workers, backend, line):
            done[cell.method, cell.data, cell.seed, cell.fold] = cell
            if journal is not None:
                journal.note(cell)
            if line is not None:
                line.hear(cell)
    sizes = tuple(SetSize(d.name, len(d.y), d.n_columns, len(d.classes)) for d in sets)
    order = [(m, d.name, s, f) for d in sets for m in known for s in drawn for f in range(folds)]
    return Comparison(tuple(done[key] for key in order), tuple(known), sizes, drawn, folds)


def _read_seeds(seeds: object) -> tuple[int, ...]:
    if not isinstance(seeds, list | tuple | range):
        check_number("seeds", seeds, low=1, whole=True)
        return tuple(range(int(cast(int, seeds))))
    for seed in seeds:
        check_number("seeds", seed, low=0, high=2**32 - 1, whole=True)
    found = tuple(int(seed) for seed in seeds)
    if not found or len(set(found)) < len(found):
        raise ValueError(
            f"seeds must be a number from 1, or a list of whole numbers that differ; got {seeds!r}."
        )
    return found


def _run(
    tasks: list[CellTask], n_workers: int, backend: str, line: CellsLine | None
) -> Iterator[Cell]:
    """The cells, as they come."""
    with threadpool_limits(1):
        if n_workers == 1:
            for task in tasks:
                if line is not None:
                    line.begin(task)
                yield run_cell(task)
            return
        work = _alone if backend == "processes" else run_cell
        pool = Parallel(
            n_workers,
            backend=_BACKENDS[backend],
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch=2 * n_workers,
        )
        yield from pool(delayed(work)(task) for task in tasks)


def _alone(task: CellTask) -> Cell:
    """A cell in a process of its own."""
    with threadpool_limits(1):
        return run_cell(task)
