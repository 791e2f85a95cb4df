"""One line says that kernels are compiled, to those who sit before a terminal."""

import os
import pty
import subprocess
import sys

CODE = "from bayesieve.data.kernels.exact import log_fixed; log_fixed(2.0)"


def said(cache, terminal):
    """What a kernel writes to standard error."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    env.pop("NUMBA_DISABLE_JIT", None)
    with subprocess.Popen([sys.executable, "-c", CODE], stderr=theirs, env=env) as run:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end of a terminal is gone
                break
            if not part:
                break
            text += part
    os.close(ours)
    assert run.returncode == 0
    return text.decode()


def test_it_is_said_once_and_on_a_terminal_only(tmp_path):
    assert said(tmp_path / "one", terminal=True).count("kernels are compiled") == 1
    assert said(tmp_path / "one", terminal=True) == ""
    assert said(tmp_path / "two", terminal=False) == ""
