"""Small mistakes in the core, each of which the tests must notice.

Every mutation changes one line: a sign, a bound, a tie rule, a fold, a weight, a mask.  It is made
in a copy of the source, never in the source itself; then the tests of its room and the golden file
run until the first failure.

    python tests/mutations.py                  all of them
    python tests/mutations.py --only 3 17      those
    python tests/mutations.py --list           what they are
    python tests/mutations.py --tests ROOT     by the tests of another checkout

The exit status is the number of mutations that no test noticed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = "tests/test_golden.py"
LONGEST = 3600  # seconds: a search that goes round in circles is noticed too


class Mutation(NamedTuple):
    """One line of the source, changed."""

    file: str  #: within the package
    old: str  #: stands there exactly once
    new: str
    tests: tuple[str, ...]  #: of its room


LEDGERS = ("tests/engine", "tests/contracts/test_ledgers.py")
WEIGHTED_LEDGERS = ("tests/contracts/test_ledgers.py", "tests/search/test_weights.py")
SEARCHES = ("tests/search", "tests/contracts/test_searches.py")
MODELS = ("tests/models", "tests/contracts/test_feature_models.py")
CRITERIA = ("tests/contracts/test_criteria.py", "tests/search/test_choice.py")
DATA = ("tests/data",)
WEIGHTED = ("tests/search/test_weights.py", "tests/estimators/test_weighted.py")
RANKINGS = ("tests/rankings", "tests/contracts/test_ranking_methods.py")

MUTATIONS = (
    # Engine.
    Mutation(  # 0: a tie goes to the higher class
        "engine/kernels/dense.py", "tie = 1 if k < y else 0", "tie = 1 if k > y else 0", LEDGERS
    ),
    Mutation(  # 1: a column that leaves joins
        "engine/kernels/dense.py",
        "mine[i] += sign * table[base + code[i] * n_classes + k]",
        "mine[i] += table[base + code[i] * n_classes + k]",
        LEDGERS,
    ),
    Mutation(  # 2: losses are rounded down
        "engine/kernels/dense.py",
        "value[i] = np.int64(np.floor((top[i] + logs[i]) * grain + 0.5))",
        "value[i] = np.int64(np.floor((top[i] + logs[i]) * grain))",
        LEDGERS,
    ),
    Mutation(  # 3: a line's weight is forgotten
        "engine/kernels/dense.py",
        "out[j, y] += value[i] * weights[start + i]",
        "out[j, y] += value[i]",
        LEDGERS,
    ),
    Mutation(  # 4: a margin of exactly what is needed is too little
        "engine/kernels/two_classes.py",
        "right += np.int64(margin[t, i] >= (one if cells[t, i] != 0 else zero))",
        "right += np.int64(margin[t, i] > (one if cells[t, i] != 0 else zero))",
        LEDGERS,
    ),
    Mutation(  # 5: the table of another fold
        "engine/kernels/two_classes.py",
        "base = offsets[slot] + sets[s] * n_values * n_classes",
        "base = offsets[slot]",
        LEDGERS,
    ),
    Mutation(  # 6: one bit of a byte is another's
        "engine/kernels/two_classes.py",
        "_turned(odds[at, 7, i], byte & np.int32(128), zero, one),",
        "_turned(odds[at, 7, i], byte & np.int32(64), zero, one),",
        LEDGERS,
    ),
    Mutation(  # 7: a tie of two scores is a whole pair
        "engine/kernels/sparse.py",
        "return np.int64(gap > 0) + np.int64(gap >= 0)",
        "return 2 * np.int64(gap >= 0)",
        (*LEDGERS, "tests/search/test_sparse_searches.py"),
    ),
    Mutation(  # 8: moved lines are looked for beyond where they may be
        "engine/kernels/sparse.py",
        "if values[middle] < x:",
        "if values[middle] <= x:",
        (*LEDGERS, "tests/search/test_sparse_searches.py"),
    ),
    Mutation(  # 9: the curvature has a sign
        "engine/kernels/weighted.py",
        "curve[k, r] -= both * term * other",
        "curve[k, r] += both * term * other",
        WEIGHTED_LEDGERS,
    ),
    Mutation(  # 10: weights may exceed one
        "engine/kernels/weighted.py",
        "new = min(max(step[k] + left / steep, -now[k]), 1.0 - now[k])",
        "new = min(max(step[k] + left / steep, -now[k]), 2.0 - now[k])",
        WEIGHTED_LEDGERS,
    ),
    Mutation(  # 11: a line is not left out of its own table
        "engine/kernels/weighted.py",
        "mine[c] = moved[c] + steps[k] * own[c, k]",
        "mine[c] = moved[c]",
        WEIGHTED_LEDGERS,
    ),
    # Search.
    Mutation(  # 12: bounds rule out what they may not
        "search/objective.py",
        "which = which[~(loss - doubt > (loss + doubt).min())]",
        "which = which[~(loss > loss.min())]",
        SEARCHES,
    ),
    Mutation(  # 13: of equals the highest unit
        "search/objective.py",
        "key, unit = min(zip(keys, (int(unit) for unit in units), strict=True))",
        "key, unit = min(zip(keys, (-int(unit) for unit in units), strict=True)); unit = -unit",
        SEARCHES,
    ),
    Mutation(  # 14: the column that gains was not asked
        "search/objective.py",
        "return Gain(at + i, key, tried + i + 1, max(LEAST_BLOCK, 2 * (i + 1)))",
        "return Gain(at + i, key, tried + i, max(LEAST_BLOCK, 2 * (i + 1)))",
        SEARCHES,
    ),
    Mutation(  # 15: the best subset seen is the last of equals
        "search/strategies/greedy.py",
        "if self.rank is not None and not rank < self.rank:",
        "if self.rank is not None and not rank <= self.rank:",
        SEARCHES,
    ),
    Mutation(  # 16: a step that gains nothing is made
        "search/strategies/greedy.py",
        "if until_worse and objective.size >= limits.least and not key < objective.score():",
        "if until_worse and objective.size >= limits.least and not key <= objective.score():",
        SEARCHES,
    ),
    Mutation(  # 17: patience ends one step late
        "search/strategies/greedy.py",
        "if self.patience is not None and at - last >= self.patience:",
        "if self.patience is not None and at - last > self.patience:",
        SEARCHES,
    ),
    Mutation(  # 18: of subsets as good, the first and not the smallest
        "search/strategies/exhaustive.py",
        "rank = (key, _size(objective, units), tuple(sorted(units)))",
        "rank = (key, 0, tuple(sorted(units)))",
        SEARCHES,
    ),
    Mutation(  # 19: one pair of dependent columns instead of two
        "search/strategies/dependency.py",
        "named = sorted({unit for pair in pairs[:2] for unit in pair})",
        "named = sorted({unit for pair in pairs[:1] for unit in pair})",
        SEARCHES,
    ),
    # Models.
    Mutation(  # 20: a row that is left out stays in its class's total
        "models/counts.py",
        "total = np.maximum(raw.sum(0) - 1, 0)[None]",
        "total = raw.sum(0)[None]",
        MODELS,
    ),
    Mutation(  # 21: missing values count among the rows
        "models/counts.py",
        "terms = self._log_share(counts, counts.sum(-2, keepdims=True), settings)",
        "terms = self._log_share(counts, statistics.sum(-2, keepdims=True), settings)",
        MODELS,
    ),
    Mutation(  # 22: means of two blocks are joined the other way round
        "models/gaussian.py",
        "mean = one.mean + apart * share",
        "mean = other.mean + apart * share",
        MODELS,
    ),
    Mutation(  # 23: a cut need not pay for its place
        "models/counts.py",
        "if whole - best <= (np.log2(max(n - 1, 1)) + extra) / n:",
        "if whole - best <= extra / n:",
        (*MODELS, "tests/data/test_grids.py"),
    ),
    Mutation(  # 24: a silent code of one column alone is heard
        "models/base.py",
        "return np.where((a == n_a) | (b == n_b), n_a * n_b, a * n_b + b)",
        "return np.where((a == n_a) & (b == n_b), n_a * n_b, a * n_b + b)",
        (*MODELS, *WEIGHTED),
    ),
    Mutation(  # 25: a row leaves its cell but not its columns
        "models/kernels/density.py",
        "moved = both * log_positive(chance_own[k] / chance[k]) + share * (less - table[k])",
        "moved = share * (less - table[k])",
        (*MODELS, *WEIGHTED),
    ),
    # Criteria.
    Mutation(  # 26: every class counts alike
        "criteria/base.py",
        "sum(factor * int(cell) for factor, cell in zip(self.factors, line, strict=True))",
        "sum(int(cell) for factor, cell in zip(self.factors, line, strict=True))",
        CRITERIA,
    ),
    Mutation(  # 27: the price of a column is a gift
        "criteria/auc.py",
        "score -= self.penalty(size) * self._unit",
        "score += self.penalty(size) * self._unit",
        CRITERIA,
    ),
    Mutation(  # 28: equal scores count for the positive
        "criteria/auc.py",
        "below.append(2 * np.cumsum(counts) - counts)",
        "below.append(2 * np.cumsum(counts))",
        CRITERIA,
    ),
    Mutation(  # 29: groups are as many as they are, not one fewer
        "criteria/base.py",
        "few = by_group.size / max(by_group.size - 1, 1)",
        "few = 1.0",
        (*CRITERIA, "tests/estimators/test_groups.py"),
    ),
    # Data.
    Mutation(  # 30: one row fewer is later
        "data/sample.py", "return time >= cut", "return time > cut", DATA
    ),
    Mutation(  # 31: guiding and validation rows change places
        "data/sample.py",
        "guiding, validating = np.flatnonzero(~here), np.flatnonzero(here)",
        "guiding, validating = np.flatnonzero(here), np.flatnonzero(~here)",
        DATA,
    ),
    Mutation(  # 32: copies of a row are left out one too few
        "data/sample.py",
        "np.flatnonzero(copy >= np.bincount(train, minlength=n_rows)[rows]) for train in trains",
        "np.flatnonzero(copy > np.bincount(train, minlength=n_rows)[rows]) for train in trains",
        DATA,
    ),
    Mutation(  # 33: rows that do not guide are taken for others that do
        "data/sample.py", "return at[theirs[at] == rows]", "return at", DATA
    ),
    # Weighted terms.
    Mutation(  # 34: squared weights cost nothing
        "search/term_weights.py",
        "penalty = self._rules.ridge * squares / (2 * WEIGHT_STEPS**2)",
        "penalty = 0.0 * squares / (2 * WEIGHT_STEPS**2)",
        WEIGHTED,
    ),
    Mutation(  # 35: constants that make it worse are kept
        "search/term_weights.py",
        "if self._loss() >= before:",
        "if self._loss() < before:",
        WEIGHTED,
    ),
    Mutation(  # 36: folds of groups count as if they were independent
        "search/term_weights.py",
        "spread = np.sqrt(2 * n_folds) * moved.std(1, ddof=1)",
        "spread = np.sqrt(n_folds) * moved.std(1, ddof=1)",
        (*WEIGHTED, "tests/estimators/test_weighted_rows.py", "tests/estimators/test_groups.py"),
    ),
    Mutation(  # 37: the price of a term is not asked for
        "search/term_weights.py",
        "net = self.gains(terms, self.is_late) - rules.extra[terms] - price",
        "net = self.gains(terms, self.is_late) - rules.extra[terms]",
        WEIGHTED,
    ),
    # Rankings.
    Mutation(  # 38: a row is its own neighbour
        "rankings/kernels/relief.py",
        "if j == i or (count[c] == k and apart[j] >= far[c, k - 1]):",
        "if count[c] == k and apart[j] >= far[c, k - 1]:",
        RANKINGS,
    ),
    Mutation(  # 39: a repetition counts for what it is not
        "rankings/kernels/counts.py",
        "return rounded(max(alone - given / total, 0.0)) if total > 0.0 else 0.0",
        "return rounded(alone - given / total) if total > 0.0 else 0.0",
        RANKINGS,
    ),
)


def mutate(mutation: Mutation, source: Path) -> None:
    """Change one line of a copy of the source; compiled kernels that may hold it go."""
    path = source / "bayesieve" / mutation.file
    text = path.read_text() if path.is_file() else ""
    if text.count(mutation.old) != 1:
        raise SystemExit(
            f"{mutation.file} must hold this exactly once, and holds it {text.count(mutation.old)} "
            f"times; write the mutation down anew:\n{mutation.old}"
        )
    path.write_text(text.replace(mutation.old, mutation.new))
    if "/kernels/" in mutation.file:
        for stale in _callers(path, source):
            for cached in (stale.parent / "__pycache__").glob(f"{stale.stem}.*.nb?"):
                cached.unlink()


def _callers(kernel: Path, source: Path) -> set[Path]:
    """A module and all that import it in the end: numba does not see that a callee changed."""
    texts = {path: path.read_text() for path in source.rglob("*.py") if "kernels" in path.parts}
    found, left = set(), [kernel]
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            reads = re.compile(rf"^from \.[\w.]*\b{module.stem} import ", re.MULTILINE)
            left += [path for path, text in texts.items() if reads.search(text)]
    return found


def is_caught(mutation: Mutation, root: Path) -> tuple[bool, str]:
    """Do the tests notice it?  And what they say last."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as place:
        source = Path(place) / "src"
        shutil.copytree(root / "src", source)
        mutate(mutation, source)
        told = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": ""}
        options = ["-q", "-x", "--no-header", "-p", "no:cacheprovider"]
        # The golden file first: it is quick, and most mistakes end there.
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "pytest", *options, GOLDEN, *mutation.tests],
                cwd=root,
                env=told,
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST,
            )
        except subprocess.TimeoutExpired:
            return True, "the tests came to no end"
    if ran.returncode not in (0, 1):
        raise SystemExit(f"the tests could not run:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    said = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return ran.returncode == 1, (said or ran.stdout.splitlines()[-1:])[0]


def say(line: str) -> None:
    """At once: a run takes minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run mutations; how many were missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="numbers of mutations")
    parser.add_argument("--list", action="store_true", help="say what they are")
    parser.add_argument("--tests", type=Path, default=ROOT, help="a checkout, instead of this one")
    asked = parser.parse_args()
    missed = 0
    for number, mutation in enumerate(MUTATIONS):
        if asked.only and number not in asked.only:
            continue
        if asked.list:
            say(f"{number:2d} {mutation.file}\n   - {mutation.old}\n   + {mutation.new}")
            continue
        start = time.perf_counter()
        caught, said = is_caught(mutation, asked.tests.resolve())
        missed += not caught
        took = time.perf_counter() - start
        say(f"{number:2d} {'caught' if caught else 'MISSED'} {took:4.0f} s  {said}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
