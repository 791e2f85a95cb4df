"""NVIDIA's compiler as a library: no GPU and no driver is needed to compile for one."""

import ctypes
import ctypes.util
import sys
from functools import cache
from pathlib import Path

import pytest


@cache
def _library():
    places = [
        found
        for folder in sys.path
        for found in sorted(Path(folder).glob("nvidia/*/lib/libnvrtc.so.*"))
        if "builtins" not in found.name
    ]
    named = ctypes.util.find_library("nvrtc")
    for place in [*map(str, places), *([named] if named else [])]:
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def compiled(source, options):
    """The binary of a source; the test is skipped where there is no compiler."""
    library = _library()
    if library is None:
        pytest.skip("NVRTC is not installed")
    program = ctypes.c_void_p()
    named = source.encode(), b"bayesieve.cu", 0, None, None
    assert not library.nvrtcCreateProgram(ctypes.byref(program), *named)
    given = (ctypes.c_char_p * len(options))(*(each.encode() for each in options))
    failed = library.nvrtcCompileProgram(program, len(options), given)
    assert not failed, _log(library, program)
    size = ctypes.c_size_t()
    assert not library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    assert not library.nvrtcGetCUBIN(program, code)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


def _log(library, program):
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    return log.value.decode()
