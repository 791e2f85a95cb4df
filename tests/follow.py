"""Which files of the package a call runs through: as without the compiler, in less time.

A compiled kernel hides what it calls.  So kernels that call others of other files run as Python;
one that stays within its file crosses that file and no other, whatever it does, and is left as it
is: it is where the time goes.
"""

import sys
from contextlib import contextmanager
from pathlib import Path

from numba.core.dispatcher import Dispatcher

import bayesieve

ROOT = str(Path(bayesieve.__file__).parent)


def _files(kernel, seen):
    """Files of a kernel, and of all that it may call; `seen` are those on the way to it."""
    function = kernel.py_func
    found = {function.__code__.co_filename}
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, Dispatcher) and called not in seen:
            found |= _files(called, seen | {called})
    return found


@contextmanager
def as_python():
    """Run kernels of several files uncompiled, wherever they are imported."""
    spaces = [vars(m) for name, m in list(sys.modules.items()) if name.startswith("bayesieve")]
    kernels = [
        (space, name, value)
        for space in spaces
        for name, value in space.items()
        if isinstance(value, Dispatcher)
    ]
    wide = [each for each in kernels if len(_files(each[2], {each[2]})) > 1]
    for space, name, kernel in wide:
        space[name] = kernel.py_func
    try:
        yield
    finally:
        for space, name, kernel in wide:
            space[name] = kernel


def crossed(call):
    """Files of the package that a call runs through; numba tells of compiled kernels as well."""
    seen = set()
    sys.setprofile(lambda frame, event, arg: seen.add(frame.f_code.co_filename))
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(name for name in seen if name.startswith(ROOT))
