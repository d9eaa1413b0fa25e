"""Kernel text to PTX and to machine code for a card, without a card and without its driver.

In: the text of an output code for CUDA.  Out: for each kernel its PTX, its cubin, and what the
assembler says of it: registers, spills, stack.
numba-cuda makes PTX of the text by NVVM, nvJitLink assembles it. Both come with the extra `cuda`;
no other module of the lab imports numba.cuda, which its makers only maintain.
Invariant: the text that is compiled is the very text that the simulator runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from ..build import show_without_file

CC = (9, 0)  # Hopper: H100, H200
MISSING = (
    "compiling for a card needs the extra `cuda` (numba-cuda and NVIDIA's compiler, no driver): "
    'make env EXTRAS="--extra cuda". Without it labcore.cuda.simulate() runs the same kernels'
)


@dataclass(frozen=True)
class Compiled:
    """One kernel for one architecture. `registers` of a thread; `stack` and `spills` are bytes of a
    thread that lie in memory; `shared` bytes of a block."""

    name: str
    ptx: str
    cubin: bytes
    registers: int
    stack: int
    spills: int
    shared: int


def compile_source(
    source: str, threads: Mapping[str, int], cc: tuple[int, int] = CC
) -> dict[str, Compiled]:
    """Compile every kernel of a text; `threads` are those of its blocks, for the registers of a
    multiprocessor must do for all of them. Raises RuntimeError where the extra is not installed."""
    functions = list(_kernels(source))
    return {f.__name__: _compiled(f, threads[f.__name__], cc) for f in functions}


def _kernels(source: str) -> Iterator[FunctionType]:
    """The kernels of a text as functions of numba's words; device functions are inlined in them."""
    words, device = _words()
    functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    nodes = [n for n in functions if n.name != "call"]
    path = f"<kernels {hash(source):x}>"
    show_without_file(path, source)
    scope = {**words, "kernel": lambda function: function, "device": device}
    exec(compile(ast.Module(list(nodes), []), path, "exec", dont_inherit=True), scope)
    for node in nodes:
        if node.args.args and all(a.annotation is not None for a in node.args.args):
            yield scope[node.name]


@cache
def _words() -> tuple[dict[str, Any], Any]:
    import numpy as np

    if find_spec("numba_cuda") is None:  # numba's own CUDA target is an older one
        raise RuntimeError(MISSING)
    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it; numpy 2.5 has dropped it
        np.row_stack = np.vstack
    from .words import WORDS, device

    return WORDS, device


def _compiled(function: FunctionType, threads: int, cc: tuple[int, int]) -> Compiled:
    from numba import cuda

    annotations = function.__annotations__.values()
    signature = tuple(_type(str(text)) for text in annotations)
    function.__annotations__ = {}
    ptx, _ = cuda.compile_ptx(function, signature, cc=cc)
    ptx = re.sub(r"\)\s*\{", f")\n.maxntid {threads}, 1, 1\n{{", ptx, count=1)
    cubin, log = _assembled(ptx, f"sm_{cc[0]}{cc[1]}")
    return Compiled(
        function.__name__, ptx, cubin,
        _number(r"Used (\d+) registers", log),
        _number(r"(\d+) bytes stack frame", log),
        _number(r"(\d+) bytes spill stores", log) + _number(r"(\d+) bytes spill loads", log),
        _number(r"(\d+) bytes smem", log),
    )


def _type(annotation: str) -> Any:
    """numba's type for "float32*" or "int64"; a bool is a byte in memory."""
    from numba.cuda import types as cuda_types

    types: Any = cuda_types
    name = annotation.removesuffix("*")
    if name == annotation:
        return getattr(types, name)
    return types.CPointer(types.uint8 if name == "bool" else getattr(types, name))


def _assembled(ptx: str, architecture: str) -> tuple[bytes, str]:
    """PTX as machine code, and the assembler's report."""
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(2, [f"-arch={architecture}", "-verbose"])
    try:
        data = ptx.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
        nvjitlink.complete(handle)
        code = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, code)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
    finally:
        nvjitlink.destroy(handle)
    return bytes(code), log.decode(errors="replace")


def _number(pattern: str, log: str) -> int:
    """The number in a line of the report; what it does not mention is 0."""
    found = re.search(pattern, log)
    return int(found[1]) if found else 0
