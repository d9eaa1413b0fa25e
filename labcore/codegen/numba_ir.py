"""One kernel through numba's front end: from a Python function to optimized LLVM code.

In: a kernel as a function whose parameters are annotated with pointer types ("float32*"), or with
"int64" or "float64" for numbers.  Out: LLVM bitcode with this one function, and its symbol.
Invariants: strict IEEE arithmetic (no fastmath); only `radd`, the add of a sum, may be reordered.
Integers wrap round.  Kernels that differ in nothing but names and lines are lowered once a process.

What takes numba's time is its own Python: some 70 ms a kernel, four times what LLVM takes. So of
its passes only those are run that a kernel has need of (no closures, no rewrites, no calls from
Python), LLVM's optimizer runs once, not three times, and machine code is made once, by `jit.py`,
of all kernels of a graph together; `numba.njit` makes it of each function as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from ..runtime.loader import host
from .lengths import Rows
from .ranges import WRITTEN_OUT

IN_MEMORY = {"bool": "uint8", "float16": "uint16", "bfloat16": "uint16"}
KEPT = 512  # lowered kernels that a process remembers


@dataclass(frozen=True)
class Lowered:
    """A kernel's LLVM code; `symbol` is what it is called by."""

    symbol: str
    bitcode: bytes


_lowered: dict[tuple, Lowered] = {}
_read: dict[tuple, Lowered] = {}  # as numba made them, for what is then told of their rows


def key_of(function: FunctionType) -> tuple:
    """What a kernel's machine code depends on: its bytecode and the types of its parameters, not
    what anything is called. Constants as text, which tells 0.0 from -0.0, and 1 from True."""
    code = function.__code__
    return code.co_code, repr(code.co_consts), code.co_names, (*function.__annotations__.values(),)


def lowered(
    function: FunctionType, unroll: bool = True, rows: Rows | None = None
) -> Lowered:
    """LLVM code of a kernel, or that of one like it, which has the same loops; see `lower`. For
    `rows` of one length it is optimized anew, from what numba made once for all. Call it under
    `wrapping_integers`."""
    if rows is None:
        return _remembered(_lowered, function, lambda: lower(function, unroll))
    shared = _remembered(_read, function, lambda: lower(function, optimize=False))
    place = [*function.__annotations__].index(rows.length)
    module = _with_constant(shared, place, rows.size)
    unroll = unroll and rows.size not in WRITTEN_OUT
    return Lowered(shared.symbol, _optimized(module, True, unroll))


def _remembered(
    kept: dict[tuple, Lowered], function: FunctionType, make: Callable[[], Lowered]
) -> Lowered:
    key = key_of(function)
    found = kept.pop(key, None) or make()
    kept[key] = found  # the latest one used stands last
    if len(kept) > KEPT:
        del kept[next(iter(kept))]
    return found


@contextmanager
def nothing_remembered() -> Iterator[None]:
    """As in a new process; what was remembered before is so again afterwards."""
    before = dict(_lowered), dict(_read)
    _lowered.clear()
    _read.clear()
    try:
        yield
    finally:
        _lowered.update(before[0])
        _read.update(before[1])


def known(function: FunctionType, rows: Rows | None = None) -> bool:
    """Is there a kernel like this one?"""
    return key_of(function) in (_lowered if rows is None else _read)


def lower(
    function: FunctionType, unroll: bool = True, lines: bool = False, vectorize: bool = True,
    optimize: bool = True,
) -> Lowered:
    """LLVM code of a kernel. `unroll`: may LLVM write out several turns of a loop? `lines`: it
    is told the line of each statement, but nothing of variables, which would have to be kept
    somewhere for a debugger. Not `vectorize`: no vectors, no unrolling. Not `optimize`: as
    numba makes it. Raises numba's errors for what it does not understand."""
    from numba.core import compiler, types
    from numba.core.registry import cpu_target

    from .kernel_math_numba import IN_KERNELS

    typing, target = cpu_target.typing_context, cpu_target.target_context
    typing.refresh()
    target.refresh()
    code: CodeType = function.__code__
    bound = FunctionType(code, {**function.__globals__, **IN_KERNELS}, function.__name__)
    module = _module_class()(target.codegen(), function.__name__)
    result = compiler.compile_extra(
        typing,
        target,
        bound,
        tuple(map(_type, function.__annotations__.values())),
        types.void,
        _flags(lines),
        {},
        library=module,
        pipeline_class=_pipeline(),
    )
    name = result.fndesc.llvm_func_name
    whole = module.gathered()
    if not optimize:
        return Lowered(name, whole.as_bitcode())
    return Lowered(name, _optimized(whole, vectorize, unroll and vectorize))


def _with_constant(lowered: Lowered, place: int, value: int) -> Any:
    """The module of a kernel in which its parameter at `place` is a constant. Two that numba puts
    first, for a result and for an exception, come before the kernel's own."""
    import llvmlite.binding as binding

    text = str(binding.parse_bitcode(lowered.bitcode))
    name = re.escape(lowered.symbol)
    found = re.search(rf'^(define [^\n]*@"?{name}"?\([^\n]*\n)(.*?^}}\n)', text, re.M | re.S)
    assert found is not None
    head, body = found.groups()
    parameter = re.findall(r'%(?:"[^"]+"|[\w.]+)(?=[,)])', head)[2 + place]
    constant = re.sub(rf"{re.escape(parameter)}(?![\w.])", str(value), body)
    return binding.parse_assembly(text.replace(head + body, head + constant))


def _type(annotation: str) -> Any:
    """numba's type for "float32*" or "float64". A bool is a byte in memory; kernels load it by
    `bool(x[i0])`. A half is a word, which they make a number of by `of_float16`."""
    from numba import types

    name = annotation.removesuffix("*")
    if name == annotation:
        return getattr(types, name)
    return types.CPointer(getattr(types, IN_MEMORY.get(name, name)))


def _flags(lines: bool) -> Any:
    """`noalias`: pointers do not overlap. Graphs are functional, so what a kernel writes was
    allocated by the wrapper and overlaps nothing else.  Saying so spares loops the check; with many
    buffers LLVM would rather not vectorise than check them all."""
    from numba.core.compiler import Flags

    flags: Any = Flags()
    flags.error_model = "numpy"
    flags.noalias = flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.debuginfo = flags.dbg_directives_only = lines
    flags.dbg_extend_lifetimes = False
    return flags


@cache
def _pipeline() -> type:
    """The passes of numba that a kernel needs."""
    from numba.core import typed_passes as typed, untyped_passes as untyped
    from numba.core.compiler import CompilerBase
    from numba.core.compiler_machinery import PassManager

    passes = (
        untyped.TranslateByteCode,
        untyped.FixupArgs,
        untyped.IRProcessing,
        untyped.ReconstructSSA,
        typed.NopythonTypeInference,
        typed.PreLowerStripPhis,
        typed.IRLegalization,
        typed.NativeLowering,
    )

    class Kernels(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            manager = PassManager("kernel")
            for each in passes:
                manager.add_pass(each, each._name)
            manager.finalize()
            return [manager]

    return Kernels


@cache
def _module_class() -> type:
    """Where numba puts what it lowers."""
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.runtime import rtsys

    class Module(CPUCodeLibrary):
        """Gathers, and never becomes machine code by itself."""

        def add_llvm_module(self, module: Any) -> None:
            self._final_module.link_in(module)

        def add_linking_library(self, library: Any) -> None:
            if library is not rtsys.library:  # that counts references, which kernels have none of
                super().add_linking_library(library)

        def gathered(self) -> Any:
            module = self._final_module
            for library in dict.fromkeys(self._linking_libraries):
                module.link_in(library._get_module_for_linking(), preserve=True)
            module.data_layout = self._codegen._data_layout
            return module

    return Module


def _optimized(module: Any, vectorize: bool, unroll: bool) -> bytes:
    import llvmlite.binding as binding

    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.loop_unrolling = vectorize, unroll
    options.slp_vectorization = False
    passes = binding.create_pass_builder(machine(), options)
    passes.getModulePassManager().run(module, passes)
    module.verify()
    return module.as_bitcode()


@contextmanager
def wrapping_integers() -> Iterator[None]:
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


def machine() -> Any:
    """What LLVM makes code for. Not numba's own, which was made when something was first compiled
    with numba in this process, and may have narrower vectors."""
    import llvmlite.binding as binding

    cpu, features = target()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, jit=True
    )


def target() -> tuple[str, str]:
    """The processor to compile for.

    LLVM prefers 256 bits on most processors that have 512; for loops that stream through memory the
    wider ones measured up to 1.4 times faster.
    """
    name, features = host()
    return name, features + (",-prefer-256-bit" if "+avx512f" in features.split(",") else "")
