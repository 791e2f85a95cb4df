"""A GPU beside the threads of the same machine: bits, milliseconds and bytes.

`python benchmarks/gpu.py [--rows N] [--columns P] [--threads T] [--only STAGE ...]` prints stage by
stage; a stage that fails says so and the next one begins.  Figures are medians.

- environment: the device, the driver, versions;
- bits: answers of GPU and dense ledgers, value by value;
- steps: whole steps of a forward search (host and copies included), exact errors of all candidates,
  bytes on the device, upload, beside the threads;
- search: forward to 100 features;
- kernels: milliseconds of each kernel of a step;
- weights: `WeightedNaiveBayes`'s path to 30 terms;
- fits: whole fits, the same subset, and memory left over after 100 of them.
"""

import argparse
import datetime
import gc
import platform
import statistics
import time
import traceback
import warnings
from functools import partial

import numpy as np

from bayesieve import NaiveBayesSelector, WeightedNaiveBayes
from bayesieve.criteria import CRITERIA
from bayesieve.data.kernels.options import LANES
from bayesieve.engine import GpuEngine
from bayesieve.engine.contract import AS_IT_IS, NO_UNITS, WHOLE, Units
from bayesieve.engine.dense import DenseLedger, FixedTables
from bayesieve.engine.gpu.ledger import GpuLedger
from bayesieve.engine.gpu.weights import GpuWeightLedger
from bayesieve.engine.threads import Threads
from bayesieve.engine.weighted import WeightedLedger
from bayesieve.search import SEARCHES, Limits
from bayesieve.search.objective import Objective, SubsetScorer
from bayesieve.search.term_weights import TermObjective, WeightedProblem, WeightRules
from gpu_clocks import Watched, median, spoken, timed
from gpu_tables import (
    held_rows,
    lines_of,
    random_codes,
    rows_of,
    tables_of,
    weighted_parts,
)


def say(*words, end="\n"):
    """At once, so that a run that is cut off has said what it found."""
    print(*words, end=end, flush=True)


# -- stages ------------------------------------------------------------------------------------


def environment(args):
    """Where this runs."""
    import cupy

    runtime = cupy.cuda.runtime
    name = runtime.getDeviceProperties(0)["name"].decode()
    free, total = runtime.memGetInfo()
    say(datetime.datetime.now(datetime.UTC).date(), name, f"{total / 2**30:.0f} GiB")
    say(f"driver CUDA {runtime.driverGetVersion()}, runtime {runtime.runtimeGetVersion()},")
    say(f"CuPy {cupy.__version__}, numpy {np.__version__}, Python {platform.python_version()},")
    say(f"{args.threads} threads; free {free / 2**30:.1f} GiB")


def bits(args):
    """Answers of both, value by value; the CUDA source compiled for this device."""
    same = asked = inside = 0
    rng = np.random.default_rng(5)
    for n_classes, n_sets, spread, weighted in (
        (2, 1, 0.5, False),
        (2, 1, 9.0, False),
        (2, 5, 0.5, True),
        (3, 3, 2.0, True),
        (4, 1, 0.5, False),
        (4, 4, 4.0, True),
        (7, 1, 2.0, True),
        (12, 2, 0.5, False),
    ):
        for n_codes in (2, 9):
            n_columns, n_rows = 120, args.small_rows
            codes = random_codes(n_columns, n_rows, 7) if n_codes == 2 else None
            if codes is None:
                codes = rng.integers(0, n_codes, (n_columns, n_rows + LANES), dtype=np.uint8)
            weights = rng.integers(1, 4, n_rows) if weighted else None
            lines = lines_of(n_rows, n_classes, n_sets, weights)
            tables = tables_of(n_columns, n_classes, n_sets, n_codes, spread)
            units = Units((*((j,) for j in range(n_columns - 2)), (n_columns - 2, n_columns - 1)))
            which = np.arange(-1, len(units))
            with Threads(args.threads, GpuEngine()) as threads:
                rows = held_rows(lines, codes, n_codes == 2)
                given = tables, rows, (1,) * n_classes, threads
                ledgers = DenseLedger(*given), GpuLedger(*given, threads.accelerator.devices[0])
                for each in ledgers:
                    each.apply([3, 5, 8], WHOLE)
                for name in ("error", "probability", "log-likelihood"):
                    rule = CRITERIA[name].rule(ledgers[0])
                    for sign in (1, -1):
                        one, two = (
                            each.losses(rule, units, which, WHOLE * sign) for each in ledgers
                        )
                        same += int((one == two).sum())
                        asked += one.size
                        found = ledgers[1].bounds(rule, units, which[1:], WHOLE * sign)
                        truth = one[1:].sum(1) * 2.0**-rule.bits
                        inside += int((abs(found.losses - truth) <= found.doubts).all())
                (a,), (b,) = (each.scores((1,), (3,)) for each in ledgers)
                same += int((a.sums == b.sums).sum())
                asked += a.sums.size
    say(f"ledgers: {same} of {asked} integers equal; doubts hold in {inside} of {16 * 6} scans")
    same_weights(args)


def same_weights(args):
    """The same of weighted ledgers."""
    same = asked = 0
    for n_classes, weighted in ((2, False), (3, True), (5, False), (35, True)):
        tables, lines, cells = weighted_parts(args.small_rows // 4, 40, n_classes, weighted)
        with Threads(args.threads, GpuEngine()) as threads:
            given = tables, lines, cells, 36, threads
            ledgers = (
                WeightedLedger(*given),
                GpuWeightLedger(*given, threads.accelerator.devices[0]),
            )
            for step in range(3):
                for each in ledgers:
                    each.apply([step, 30], np.arange(2 * n_classes).reshape(2, -1) % 7 - 2)
                    each.shift(np.arange(n_classes) * (step + 1))
                one, two = (
                    np.concatenate([[log_loss(e)], e.balance().ravel(), e.slopes(range(40)).sums])
                    for e in ledgers
                )
                same += int((one == two).sum())
                asked += one.size
    say(f"weighted ledgers: {same} of {asked} integers equal")


def steps(args):
    """Whole steps at full size, beside the threads."""
    codes = random_codes(args.columns, args.rows)
    units = Units(tuple((j,) for j in range(args.columns)))
    for n_classes in (2, 4):
        lines, tables = lines_of(args.rows, n_classes), tables_of(args.columns, n_classes)
        with Threads(args.threads, GpuEngine()) as threads:
            gpu = threads.accelerator.devices[0]
            given = tables, rows_of(lines, codes), (1,) * n_classes, threads
            GpuLedger(tables_of(8, n_classes), rows_of(lines, codes[:8]), *given[2:], gpu)
            before, start = gpu.free_bytes(), time.perf_counter()
            ledger = GpuLedger(*given, gpu)
            ledger.losses(CRITERIA["error"].rule(ledger), units, np.array([-1]), WHOLE)
            upload = time.perf_counter() - start
            say(f"{n_classes} classes: upload and packing {upload:.2f} s")
            plain = args.rows * args.columns / 8 + args.rows * (12 * n_classes - 4)
            told = {}
            for name in ("probability", "log-likelihood", "error"):
                told[name] = one_step(ledger, CRITERIA[name], units, args.repeats)
            used = before - gpu.free_bytes()
            for name, (step, scan, size) in told.items():
                say(f"  {name}: step {1e3 * step:.2f} ms; the scan {1e3 * scan:.2f} ms ({size})")
            rule = CRITERIA["probability"].rule(ledger)
            for n in (1, 16):
                ask = partial(ledger.losses, rule, units, np.arange(n), WHOLE)
                say(f"  settle of {n}: {1e3 * median(ask, args.repeats):.2f} ms")
            say(f"  bytes {used / 1e9:.3f} GB, {used / plain:.3f} of the plain formula")
            compare_threads(args, given, codes, units, told)
            del ledger, ask
            gc.collect()


def log_loss(ledger):
    """The loss by which weights are fitted, as it stands."""
    return int(ledger.losses(ledger.offers.measure, NO_UNITS, np.array([AS_IT_IS]), WHOLE)[0, 0])


def one_step(ledger, criterion, units, repeats):
    """Seconds of best, apply and the new score; of the scan alone; and how many were settled."""
    settler, rule, which = SubsetScorer(ledger, criterion, units), criterion.rule(ledger), []

    def step():
        best, _ = settler.best(list(range(len(units))), 1)
        settler.apply((best,), 1)
        which.append(best)

    with timed(ledger, "bounds", "losses", "apply") as parts:
        seconds = median(step, repeats)
    for best in which:
        settler.apply((best,), -1)
    every = np.arange(len(units))
    if rule.kind == "error":
        scan = median(lambda: fresh(ledger).losses(rule, units, every, WHOLE), repeats)
        return seconds, scan, f"all are exact; within a step {spoken(parts)}"
    scan = median(lambda: fresh(ledger).bounds(rule, units, every, WHOLE), repeats)
    loss, doubt = ledger.bounds(rule, units, every, WHOLE)
    n_settled = int((loss - doubt <= (loss + doubt).min()).sum())
    return seconds, scan, f"{n_settled} settled; within a step {spoken(parts)}"


def fresh(ledger):
    """Nothing is known of the sums: they are as they were, but that must be found anew."""
    ledger.apply((0,), WHOLE)
    ledger.apply((0,), -WHOLE)
    return ledger


def compare_threads(args, given, codes, units, told):
    """The same steps on threads, on as many columns as there is time for."""
    tables, rows, *rest = given
    few = args.columns // 10
    part = FixedTables(
        tables.scale,
        tables.prior,
        tables.slots[:few],
        tables.n_codes[:few],
        tables.offsets[: few + 1],
        tables.table[: tables.offsets[few]],
    )
    ledger = DenseLedger(part, held_rows(rows.lines, codes[:few]), *rest)
    some, every = Units(units.members[:few]), list(range(few))
    for name in ("probability", "error"):
        settler = SubsetScorer(ledger, CRITERIA[name], some)
        seconds = 10 * median(lambda settler=settler: settler.best(every, 1), 3)
        ratio = seconds / told[name][0]
        say(f"  {name}: {args.threads} threads {1e3 * seconds:.0f} ms", end=" ")
        say(f"(ten times a tenth of the columns), {ratio:.0f} x")


def search(args):
    """A forward search to 100 features, after upload."""
    codes = random_codes(args.columns, args.rows)
    members = tuple((j,) for j in range(args.columns))
    for name in ("probability", "error"):
        lines, tables = lines_of(args.rows, 2), tables_of(args.columns, 2)
        with Threads(args.threads, GpuEngine()) as threads:
            given = tables, rows_of(lines, codes), (1, 1), threads
            ledger = GpuLedger(*given, threads.accelerator.devices[0])
            units = Units(members)
            objective = Objective(SubsetScorer(ledger, CRITERIA[name], units), units)
            start = time.perf_counter()
            for _ in SEARCHES["forward"].steps(objective, Limits(1, 100)):
                pass
            seconds = time.perf_counter() - start
        say(f"forward by {name} to {objective.size} features: {seconds:.2f} s after upload")


def kernels(args):
    """Milliseconds of each kernel of a step."""
    codes = random_codes(args.columns, args.rows)
    units = Units(tuple((j,) for j in range(args.columns)))
    for n_classes in (2, 4):
        lines, tables = lines_of(args.rows, n_classes), tables_of(args.columns, n_classes)
        with Threads(args.threads, GpuEngine()) as threads:
            watched = Watched(threads.accelerator.devices[0])
            given = tables, rows_of(lines, codes), (1,) * n_classes, threads
            ledger = GpuLedger(*given, watched)
            for name in ("probability", "log-likelihood", "error"):
                one_step(ledger, CRITERIA[name], units, args.repeats)
            del ledger
        for name, times in watched.told.items():
            say(f"{n_classes} classes, {name}: {statistics.median(times):.3f} ms")


def weights(args):
    """The path of weighted terms to 30, after upload."""
    n = args.weighted_columns
    for share_two, what in ((1.0, "binary"), (0.0, "60 codes")):
        tables, lines, cells = weighted_parts(args.weighted_rows, n, 2, share_two=share_two)
        units, free = tuple((j,) for j in range(n)), np.ones(n, bool)
        rules = WeightRules(4.0, 0.1, np.zeros(n), 30, units, free, n_rows=args.weighted_rows)
        with Threads(args.threads, GpuEngine()) as threads:
            start = time.perf_counter()
            given = tables, lines, cells, 30, threads
            ledger = GpuWeightLedger(*given, threads.accelerator.devices[0])
            log_loss(ledger)
            upload = time.perf_counter() - start
            problem = WeightedProblem(ledger, np.zeros(2, np.int64), rules)
            start, n_terms = time.perf_counter(), 0
            for step in TermObjective([problem], rules).walk():
                n_terms = len(step.terms)
            path = time.perf_counter() - start
            scan = median(lambda ledger=ledger: ledger.slopes(range(n)), 5)
            host = WeightedLedger(*given)
            log_loss(host)
            there = median(lambda host=host: host.slopes(range(n)), 1)
        say(f"weights, {args.weighted_rows} x {n} {what}: upload {upload:.2f} s,", end=" ")
        say(f"path to {n_terms} terms {path:.2f} s; slopes of all {1e3 * scan:.1f} ms,", end=" ")
        say(f"{args.threads} threads {1e3 * there:.0f} ms, {there / scan:.0f} x")


def fits(args):
    """Whole fits: the same subset, and nothing left on the device."""
    rng = np.random.default_rng(0)
    n_rows, n_columns = 10 * args.small_rows, 400
    y = rng.integers(0, 2, n_rows)
    X = (rng.random((n_rows, n_columns)) < 0.5).astype(np.uint8)
    for j in range(12):
        X[:, j] = rng.random(n_rows) < 0.4 + 0.02 * j * y
    named = {"search": "forward", "max_features": 12, "choice": "best", "cv": 5, "random_state": 0}
    found = {}
    for engine in (None, "gpu"):
        start = time.perf_counter()
        model = NaiveBayesSelector(engine=engine, n_jobs=args.threads, **named).fit(X, y)
        found[engine] = model.selected_.tolist(), repr(model.path_)
        say(f"fit {n_rows} x {n_columns}, engine={engine!r}: {time.perf_counter() - start:.1f} s")
    say("the same subset and path:", found[None] == found["gpu"])
    for engine in (None, "gpu"):
        start = time.perf_counter()
        given = {"max_terms": 12, "pairs": False, "price": 1.0}
        model = WeightedNaiveBayes(engine=engine, n_jobs=args.threads, **given).fit(X, y)
        found[engine] = model.selected_.tolist(), model.weights_.tolist()
        say(f"weighted fit, engine={engine!r}: {time.perf_counter() - start:.1f} s")
    say("the same terms and weights:", found[None] == found["gpu"])
    free = []
    with GpuEngine().opened() as gpus, warnings.catch_warnings(action="ignore"):
        for i in range(args.fits):
            quick = {"pairs": False, "price": 1.0, "max_terms": 4, "engine": "gpu"}
            model = WeightedNaiveBayes(**quick)
            if i % 2:
                model = NaiveBayesSelector(engine="gpu", choice="best", cv=3)
            model.fit(X[:500, :8], y[:500])
            free.append(gpus.devices[0].free_bytes())
    say(f"{args.fits} fits: free bytes after the third {free[2]}, after the last {free[-1]}")


STAGES = {
    each.__name__: each for each in (environment, bits, steps, search, weights, fits, kernels)
}


def main():
    """Stage by stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2**20)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--weighted-rows", type=int, default=10**6)
    parser.add_argument("--weighted-columns", type=int, default=1000)
    parser.add_argument("--small-rows", type=int, default=20_011)
    parser.add_argument("--fits", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", nargs="*", choices=STAGES, default=list(STAGES))
    args = parser.parse_args()
    for name in args.only:
        say(f"== {name}")
        start = time.perf_counter()
        try:
            STAGES[name](args)
        except Exception:
            say(traceback.format_exc())
        gc.collect()
        say(f"   ({name}: {time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
