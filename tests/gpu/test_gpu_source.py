"""The CUDA source: the host's bits, never contracted, and compiled for a real architecture."""

import platform

import numpy as np
import pytest
from hosts import CONTRACTED, EXACT, HostPrograms, needs_compiler
from nvrtc import compiled

from bayesieve.data.kernels.exact import exp_fixed, log_fixed
from bayesieve.engine.gpu.device import OPTIONS, selection_source, weights_source
from bayesieve.engine.kernels.sparse import line_value

# Finer than any ledger rounds: a bit that is off is seen more often.
GRAIN = 2.0**46

PROBE = """
extern "C" __global__ void probe(int kind, const Int64* ahead, int own, double unit, double grain,
                                 Int64* out, Int64 n) {
  Int64 line = this_thread();
  if (line < n) out[line] = line_value(kind, ahead + line * CLASSES, own, unit, grain);
}
extern "C" __global__ void probe_exp(const double* x, double* out, Int64 n) {
  Int64 i = this_thread();
  if (i < n) out[i] = exp_fixed(x[i]);
}
extern "C" __global__ void probe_log(const double* x, double* out, Int64 n) {
  Int64 i = this_thread();
  if (i < n) out[i] = log_fixed(x[i]);
}
"""


def margins(n_lines, n_classes, spread):
    """Integers of up to `spread` nat, the own class (the second) at 0."""
    rng = np.random.default_rng(int(spread))
    ahead = (rng.normal(size=(n_lines, n_classes)) * spread * 2.0**40).astype(np.int64)
    ahead[:, 1] = 0
    return ahead


def values(device_program, ahead, kind):
    out = np.zeros(len(ahead), np.int64)
    numbers = np.int32(1), 2.0**-40, GRAIN
    args = (np.int32(kind), ahead, *numbers, out, np.int64(out.size))
    device_program.launch("probe", (-(-out.size // 256),), 256, args)
    return out


def n_different(program, n_classes=3):
    found = 0
    for kind in (0, 1, 2):
        for spread in (0.5, 4.0, 40.0):
            ahead = margins(4000, n_classes, spread)
            twin = [line_value(kind, line, 1, 2.0**-40, GRAIN) for line in ahead]
            found += int((values(program, ahead, kind) != np.array(twin)).sum())
    return found


@needs_compiler
@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_values_are_the_hosts(programs, n_classes):
    assert n_different(programs.compile(selection_source(n_classes) + PROBE), n_classes) == 0


@needs_compiler
def test_exponentials_and_logarithms_are_the_hosts(programs):
    program = programs.compile(selection_source(2) + PROBE)
    rng = np.random.default_rng(0)
    for name, twin, x in (
        ("probe_exp", exp_fixed, rng.uniform(-50, 50, 3000)),
        ("probe_log", log_fixed, np.exp(rng.uniform(0, 40, 3000))),
    ):
        out = np.empty_like(x)
        program.launch(name, (12,), 256, (x, out, np.int64(x.size)))
        np.testing.assert_array_equal(out, [twin(each) for each in x])


@needs_compiler
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the flags are those of x86-64")
def test_contraction_would_be_seen(tmp_path):
    """The comparison bites: joined products and sums change values."""
    source = selection_source(3) + PROBE
    assert n_different(HostPrograms(tmp_path, EXACT).compile(source)) == 0
    assert n_different(HostPrograms(tmp_path, CONTRACTED).compile(source)) > 0
    assert "--fmad=false" in OPTIONS


SOURCES = {
    "two classes": lambda: selection_source(2),
    "four classes": lambda: selection_source(4),
    "many classes": lambda: selection_source(12),
    "more classes": lambda: selection_source(60, scans=False),
    "weights": lambda: weights_source(2, True, False),
    "weights of weighted lines": lambda: weights_source(5, True, True),
    "weights of many classes": lambda: weights_source(40, False, True),
}


@pytest.mark.parametrize(
    ("name", "architecture"),
    [*((name, "sm_90") for name in SOURCES), ("two classes", "sm_75"), ("weights", "sm_75")],
)
def test_kernels_compile_for_a_real_architecture(name, architecture):
    code = compiled(SOURCES[name](), [*OPTIONS, f"--gpu-architecture={architecture}"])
    assert code[:4] == b"\x7fELF"
    for kernel in ("turn_words", "settle" if "weights" not in name else "slopes_of_bytes"):
        assert kernel.encode() in code
