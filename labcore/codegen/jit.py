"""Kernels to an object file, by numba and LLVM.  Only when something must be compiled.

In: the kernels of one graph, as functions whose parameters are annotated with pointer types
("float32*"), or with "int64" or "float64" for numbers.
Out: one self-contained object file with every kernel and its launcher, and the names of what it
calls outside.
Invariant: kernels that are alike but for names are compiled once, by the first one's name; each has
a launcher of its own. The layers of a network are alike, and so are the parameters of an optimizer.
Inductor hands C++ to gcc or clang, a file for all kernels; it takes seconds.
"""

from __future__ import annotations

import platform
import threading
import time
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

from ..runtime.loader import PYTHON_SYMBOLS
from . import numba_ir
from .launch import Launched, launchers
from .lengths import Rows
from .phases import PHASE
from .progress import Progress
from .ranges import BEGIN, END, Loops

_lock = threading.Lock()


@dataclass(frozen=True)
class Effort:
    """What compiling took: `units` kernels went through numba, the others were like one of them;
    seconds in numba, importing it included, and in LLVM, which makes machine code of all."""

    units: int
    numba: float
    llvm: float


NOTHING = Effort(0, 0.0, 0.0)


@dataclass(frozen=True)
class ObjectFile:
    """Machine code of one graph's kernels; `externals` are functions it needs from the process."""

    data: bytes
    kernels: list[str]
    externals: list[str]
    effort: Effort = NOTHING


def compile_kernels(
    functions: list[FunctionType], loops: dict[str, Loops], rows: Rows | None = None
) -> ObjectFile:
    """Compile plain Python kernels, those with a `prange` as functions of a range of it. `rows`:
    for those of one length alone."""
    with _lock:
        begin = time.perf_counter()
        lowered, units = _lower(functions, loops, rows)
        middle = time.perf_counter()
        module = _link(
            {each.symbol: each.bitcode for each in lowered},
            [
                Launched(f.__name__, each.symbol, _kinds(f), loops[f.__name__])
                for f, each in zip(functions, lowered)
            ],
        )
        externals = [
            f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")
        ]
        data = numba_ir.machine().emit_object(module)
        return ObjectFile(
            data,
            [f.__name__ for f in functions],
            sorted(set(externals) - set(PYTHON_SYMBOLS)),
            Effort(units, middle - begin, time.perf_counter() - middle),
        )


def _lower(
    functions: list[FunctionType], loops: dict[str, Loops], rows: Rows | None
) -> tuple[list[numba_ir.Lowered], int]:
    """LLVM code of each kernel, and for how many of them numba was asked."""
    units = 0
    found = []
    with Progress(len(functions)) as progress, numba_ir.wrapping_integers():
        for number, function in enumerate(functions):
            progress.at(number, function.__name__)
            units += not numba_ir.known(function, rows)
            found.append(numba_ir.lowered(function, loops[function.__name__].unroll, rows))
    return found, units


def _kinds(function: FunctionType) -> dict[str, str]:
    """For each parameter that the launcher is given "array", "int64" or "float64"."""
    return {
        name: "array" if text.endswith("*") else text
        for name, text in function.__annotations__.items()
        if name not in (BEGIN, END, PHASE)
    }


def _link(modules: dict[str, bytes], kernels: list[Launched]) -> Any:
    """All kernels and their launchers as one LLVM module."""
    import llvmlite.binding as binding

    whole = binding.parse_assembly(launchers(kernels))
    for bitcode in modules.values():
        whole.link_in(binding.parse_bitcode(bitcode))
    whole.verify()
    return whole


# ---- to be read ----------------------------------------------------------------------------------


def assembly_text(
    function: FunctionType, lines: bool, vectorize: bool = True, unroll: bool = True
) -> str:
    """One kernel's machine code as an assembler reads it, in Intel's syntax on x86. `lines`: with a
    `.loc` where a new line of the kernel begins. Not `vectorize`: no vectors, no unrolling.
    `unroll`: see `Loops`."""
    import llvmlite.binding as binding

    _intel_syntax()
    with _lock, numba_ir.wrapping_integers():
        lowered = numba_ir.lower(function, unroll, lines, vectorize)
        return numba_ir.machine().emit_assembly(binding.parse_bitcode(lowered.bitcode))


@cache
def _intel_syntax() -> None:
    """Of all assembly that LLVM prints in this process from now on; it can be said only once."""
    import llvmlite.binding as binding

    if platform.machine().lower() in ("x86_64", "amd64"):
        binding.set_option("labcore", "-x86-asm-syntax=intel")
