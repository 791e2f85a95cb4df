"""One script, its kernels compiled in this process and interpreted in another."""

import contextlib
import io
import os
import subprocess
import sys
import warnings

import pytest


def printed_both_ways(script, *arguments):
    """What it prints with the compiler, and what without."""
    compiled = io.StringIO()
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(sys, "argv", ["-c", *arguments])
        with contextlib.redirect_stdout(compiled):
            exec(script, {"__name__": "__main__"})
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments],
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return compiled.getvalue(), done.stdout
