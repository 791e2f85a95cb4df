"""A GPU that is none: the same CUDA source, compiled for the host."""

import contextlib
import ctypes
import hashlib
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bayesieve.engine import GpuEngine
from bayesieve.engine.gpu.engine import Gpus

COMPILER = shutil.which("g++")
# Shared memory is a static of a template: without -fno-gnu-unique all loaded programs have one.
FLAGS = ("-O2", "-std=c++17", "-w", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-fno-gnu-unique")
EXACT = ("-ffp-contract=off",)
CONTRACTED = ("-mfma", "-ffp-contract=fast")
GUARD, MARK = 4096, 0xA5
SHIM = Path(__file__).with_name("host_shim.h")

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no g++ on this machine")


class HostPrograms:
    """Compiles into a folder."""

    def __init__(self, folder, contraction=EXACT):
        self.folder, self.contraction = Path(folder), contraction

    @cache  # noqa: B019
    def compile(self, source):
        name = hashlib.sha256((source + str(self.contraction)).encode()).hexdigest()[:16]
        text, library = self.folder / f"{name}.cpp", self.folder / f"{name}.so"
        text.write_text(f'#include "{SHIM}"\n{source}\n{entries(source)}', "utf-8")
        if not library.exists():
            command = [COMPILER, *FLAGS, *self.contraction, "-o", str(library), str(text)]
            subprocess.run(command, check=True)
        return HostKernels(ctypes.CDLL(str(library)))


def entries(source):
    """A function of plain pointers for every kernel."""
    whole = source.replace("\\\n", "\n")
    macro = re.search(r"#define SCAN_WORDS.*?__global__ void NAME\((.*?)\) \{", whole, re.S)
    found = re.findall(r'extern "C" __global__ void (\w+)\((.*?)\)', whole, re.S)
    kernels = [pair for pair in found if pair[0] != "NAME"]
    if macro is not None:
        names = re.findall(r"^SCAN_WORDS\((\w+)", whole, re.M)
        kernels += [(name, macro.group(1)) for name in names]
    lines = []
    for name, parameters in kernels:
        kinds = [re.sub(r"\s*\w+$", "", each.strip()) for each in parameters.split(",")]
        values = ", ".join(f"*({kind}*)args[{i}]" for i, kind in enumerate(kinds))
        lines.append(
            f'extern "C" void run_{name}(const unsigned* grid, unsigned size, void** args) '
            f"{{ run_grid(grid, size, [&] {{ {name}({values}); }}); }}"
        )
    return "\n".join(lines)


class HostKernels:
    """Kernels of a library."""

    def __init__(self, library):
        self._library = library

    def launch(self, name, grid, block, args):
        kept, pointers = [], []
        for each in args:
            if isinstance(each, np.ndarray):
                assert each.flags.c_contiguous
                kept.append(ctypes.c_void_p(each.ctypes.data))
                pointers.append(ctypes.addressof(kept[-1]))
            else:
                number = np.array(each if isinstance(each, np.generic) else np.float64(each))
                kept.append(number)
                pointers.append(number.ctypes.data)
        grid = (ctypes.c_uint * 3)(*grid, *[1] * (3 - len(grid)))
        all_args = (ctypes.c_void_p * len(pointers))(*pointers)
        self._library[f"run_{name}"](grid, ctypes.c_uint(block), all_args)
        for each in args:
            if isinstance(each, Guarded):
                each.check()


class Guarded(np.ndarray):
    """An array with marks before and behind it."""

    whole = None

    @classmethod
    def of(cls, whole, size, dtype):
        found = whole[GUARD : GUARD + size].view(dtype).view(cls)
        found.whole = whole
        return found

    def __array_finalize__(self, other):
        self.whole = getattr(other, "whole", None)

    def check(self):
        if self.whole is not None:
            assert (self.whole[:GUARD] == MARK).all(), "written before its beginning"
            assert (self.whole[-GUARD:] == MARK).all(), "written beyond its end"


class HostDevice:
    """The host's memory, by the words of a device."""

    number = 0

    def __init__(self, programs, free=1 << 40):
        self._programs, self._free = programs, free

    def compile(self, source):
        return self._programs.compile(source)

    def empty(self, shape, dtype):
        # Nobody may trust memory that is new, nor write beyond it.
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        whole = np.full(size + 2 * GUARD, MARK, np.uint8)
        return Guarded.of(whole, size, dtype).reshape(shape)

    def write(self, array, values):
        assert array.shape == values.shape
        assert array.dtype == values.dtype
        array[...] = values

    def read(self, array):
        return np.array(array, subok=False)

    def free_bytes(self):
        return self._free

    def watch(self, store):
        pass


def put_in_place(monkeypatch, device):
    """Whoever asks for GPUs gets this one."""

    @contextlib.contextmanager
    def opened(self):
        yield Gpus([device] * len(self.numbers()))

    monkeypatch.setattr(GpuEngine, "judged", lambda self: (None, self.numbers()))
    monkeypatch.setattr(GpuEngine, "opened", opened)
