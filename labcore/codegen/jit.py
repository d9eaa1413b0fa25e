"""Kernel text to an object file, by numba.  The only module that imports numba, and only when
something must be compiled.

In: the kernels of one graph, as functions whose parameters are annotated with pointer types
("float32*"), or with "int64" or "float64" for numbers.
Out: one self-contained object file with every kernel and its launcher, and the names of what it
calls outside.
Invariant: strict IEEE arithmetic (no fastmath); only `radd`, the add of a sum, may be reordered.
Integers wrap round.
Inductor hands C++ to gcc or clang (seconds); numba takes 30 ms a kernel once it is imported.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

from ..runtime.loader import PYTHON_SYMBOLS, host
from .launch import Launched, launchers
from .ranges import BEGIN, END, Loops

_lock = threading.Lock()


@dataclass(frozen=True)
class ObjectFile:
    """Machine code of one graph's kernels; `externals` are functions it needs from the process."""

    data: bytes
    kernels: list[str]
    externals: list[str]


def compile_kernels(functions: list[FunctionType], loops: dict[str, Loops]) -> ObjectFile:
    """Compile plain Python kernels, those with a `prange` as functions of a range of it."""
    with _lock, _wrapping_integers():
        numba = _numba()
        compiled = [_compile(numba, function) for function in functions]
        module = _link(
            [ir for ir, _ in compiled],
            [
                Launched(f.__name__, symbol, _kinds(f), loops[f.__name__])
                for f, (_, symbol) in zip(functions, compiled)
            ],
        )
        externals = [
            f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")
        ]
        return ObjectFile(
            _machine().emit_object(module),
            [f.__name__ for f in functions],
            sorted(set(externals) - set(PYTHON_SYMBOLS)),
        )


@contextmanager
def _wrapping_integers() -> Iterator[None]:
    """Integers wrap round, as eager mode's do.

    numba promises LLVM that signed arithmetic never overflows; from that LLVM concludes that
    x + 1 > x, and that x * 2 // 2 is x.
    """
    from numba.cpython import numbers

    promise, numbers._int_arith_flags = numbers._int_arith_flags, lambda type_: []
    try:
        yield
    finally:
        numbers._int_arith_flags = promise


def assembly_text(function: FunctionType, lines: bool, vectorize: bool = True) -> str:
    """One kernel's machine code as an assembler reads it, in Intel's syntax on x86. `lines`: with a
    `.loc` where a new line of the kernel begins. Not `vectorize`: no vectors, no unrolling."""
    import llvmlite.binding as binding

    _intel_syntax()
    with _lock, _wrapping_integers(), nullcontext() if vectorize else _one_at_a_time():
        pipeline = _pipeline_with_lines() if lines else _pipeline()
        ir, _ = _compile(_numba(), function, pipeline)
        return _machine().emit_assembly(binding.parse_assembly(ir))


@cache
def _intel_syntax() -> None:
    """Of all assembly that LLVM prints in this process from now on; it can be said only once."""
    import llvmlite.binding as binding

    if platform.machine().lower() in ("x86_64", "amd64"):
        binding.set_option("labcore", "-x86-asm-syntax=intel")


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """LLVM's passes leave loops as they are written."""
    from numba.core import codegen

    def builder(*args: Any, **kwargs: Any) -> Any:
        import llvmlite.binding as binding

        made = binding.create_pipeline_tuning_options()
        made.speed_level = 3
        made.loop_vectorization = made.slp_vectorization = made.loop_unrolling = False
        return binding.create_pass_builder(args[0], made)

    usual, codegen.create_pass_builder = codegen.create_pass_builder, builder
    try:
        yield
    finally:
        codegen.create_pass_builder = usual


def _compile(
    numba: Any, function: FunctionType, pipeline: Callable[..., Any] | None = None
) -> tuple[str, str]:
    """One kernel's optimized LLVM text and the symbol it is called by."""
    from .kernel_math_numba import IN_KERNELS

    scope = {**function.__globals__, **IN_KERNELS}
    bound = FunctionType(function.__code__, scope, function.__name__)
    signature = numba.void(*map(_type, function.__annotations__.values()))
    dispatcher = numba.njit(
        signature,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=pipeline or _pipeline(),
    )(bound)
    (result,) = dispatcher.overloads.values()
    return result.library.get_llvm_str(), result.fndesc.llvm_func_name


def _type(annotation: str) -> Any:
    """numba's type for "float32*" or "float64". A bool is a byte in memory; kernels load it by
    `bool(x[i0])`."""
    from numba import types

    name = annotation.removesuffix("*")
    if name == annotation:
        return getattr(types, name)
    return types.CPointer(types.uint8 if name == "bool" else getattr(types, name))


def _kinds(function: FunctionType) -> dict[str, str]:
    """For each parameter that the launcher is given "array", "int64" or "float64"."""
    return {
        name: "array" if text.endswith("*") else text
        for name, text in function.__annotations__.items()
        if name not in (BEGIN, END)
    }


def _link(modules: list[str], kernels: list[Launched]) -> Any:
    """All kernels and their launchers as one LLVM module."""
    import llvmlite.binding as binding

    whole = binding.parse_assembly(launchers(kernels))
    for text in modules:
        whole.link_in(binding.parse_assembly(text))
    whole.verify()
    return whole


@cache
def _numba() -> Any:
    """numba, told to use the processor's full vectors."""
    import numba

    config: Any = numba.core.config
    config.CPU_NAME, config.CPU_FEATURES = _target()
    return numba


def _target() -> tuple[str, str]:
    """The processor to compile for.

    LLVM prefers 256 bits on most processors that have 512; for loops that stream through memory the
    wider ones measured up to 1.4 times faster.
    """
    name, features = host()
    return name, features + (",-prefer-256-bit" if "+avx512f" in features.split(",") else "")


def _machine() -> Any:
    import llvmlite.binding as binding

    cpu, features = _target()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, jit=True
    )


@cache
def _pipeline() -> Callable[..., Any]:
    """numba's pipeline, with pointers declared not to overlap.

    Graphs are functional, so what a kernel writes was allocated by the wrapper and overlaps nothing
    else.  Saying so spares loops the check; with many buffers LLVM would rather not vectorise than
    check them all.
    """
    from numba.core.compiler import Compiler

    class NoOverlap(Compiler):
        def define_pipelines(self) -> list[Any]:
            self.state.flags.noalias = True
            return super().define_pipelines()

    return NoOverlap


@cache
def _pipeline_with_lines() -> Callable[..., Any]:
    """The same, and LLVM is told the line of each statement, but nothing of variables, which would
    have to be kept somewhere for a debugger."""
    from numba.core.compiler import Compiler

    class WithLines(Compiler):
        def __init__(self, typing: Any, target: Any, library: Any, args: Any, result: Any,
                     flags: Any, locals: Any) -> None:
            flags.noalias = flags.debuginfo = flags.dbg_directives_only = True
            flags.dbg_extend_lifetimes = flags.boundscheck = False
            super().__init__(typing, target, library, args, result, flags, locals)

    return WithLines
