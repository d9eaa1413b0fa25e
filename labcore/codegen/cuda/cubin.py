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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import prod
from types import FunctionType
from typing import Any

from ..build import show_without_file
from ..numba_ir import IN_MEMORY
from ..printer import pointee

CC = (9, 0)  # Hopper: H100, H200
MISSING = (
    "compiling for a card needs the extra `cuda` (numba-cuda and NVIDIA's compiler, no driver): "
    'make env EXTRAS="--extra cuda". Without it labcore.cuda.simulate() runs the same kernels'
)


@dataclass(frozen=True)
class Compiled:
    """One kernel for one architecture. `registers` of a thread; `stack` and `spills` are bytes of a
    thread that lie in memory; `shared` bytes of a block. `cubin` has all kernels of the text, each
    under its name."""

    name: str
    ptx: str
    cubin: bytes
    registers: int
    stack: int
    spills: int
    shared: int


class Refused(RuntimeError):
    """numba, NVVM or the assembler does not take a text that is Python."""


def compile_source(source: str, cc: tuple[int, int] = CC) -> dict[str, Compiled]:
    """Compile every kernel of a text. Raises Refused where a compiler does not take it, and
    RuntimeError where the extra is not installed."""
    functions = list(_kernels(source))
    if not functions:
        return {}
    try:
        return _compiled(functions, threads_of(source), cc)
    except _refusals() as error:
        raise Refused(f"{type(error).__name__}: {error}") from error


def _refusals() -> tuple[type[Exception], ...]:
    """What the three compilers raise."""
    from cuda.bindings import nvjitlink, nvvm
    from numba.core.errors import NumbaError

    return NumbaError, nvvm.nvvmError, nvjitlink.nvJitLinkError


def _compiled(functions: Sequence[FunctionType], threads: Mapping[str, int], cc: tuple[int, int]
              ) -> dict[str, Compiled]:
    ptx = {f.__name__: _ptx(f, threads[f.__name__], cc) for f in functions}
    architecture = f"sm_{cc[0]}{cc[1]}"
    cubin, log = _assembled(ptx, architecture)
    return {name: _reported(name, text, cubin, log, architecture) for name, text in ptx.items()}


def threads_of(source: str) -> dict[str, int]:
    """How many threads the blocks of each kernel have, as its launch in the text says: the
    registers of a multiprocessor must do for all of them."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and (
            isinstance(node.value, ast.Name)
        ):
            block = ast.literal_eval(node.slice.elts[1])
            found[node.value.id] = prod(block) if isinstance(block, tuple) else block
    return found


def _kernels(source: str) -> Iterator[FunctionType]:
    """The kernels of a text as functions of numba's words; device functions are inlined in them."""
    words, device = _words()
    functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    nodes = [n for n in functions if n.name != "call"]
    path = f"<kernels {hash(source):x}>"
    show_without_file(path, source)
    scope = {**words, "kernel": lambda function: function, "device": device, "resident": _resident}
    exec(compile(ast.Module(list(nodes), []), path, "exec", dont_inherit=True), scope)
    for node in nodes:
        if node.args.args and all(a.annotation is not None for a in node.args.args):
            yield scope[node.name]


def _resident(blocks: int) -> Callable[[FunctionType], FunctionType]:
    def mark(function: FunctionType) -> FunctionType:
        function.__dict__["resident"] = blocks
        return function

    return mark


@cache
def _words() -> tuple[dict[str, Any], Any]:
    import numpy as np

    if find_spec("numba_cuda") is None:  # numba's own CUDA target is an older one
        raise RuntimeError(MISSING)
    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it; numpy 2.5 has dropped it
        np.row_stack = np.vstack
    from .words import WORDS, device

    return WORDS, device


def _ptx(function: FunctionType, threads: int, cc: tuple[int, int]) -> str:
    """A kernel as PTX, under its own name."""
    from numba import cuda

    annotations = function.__annotations__.values()
    signature = tuple(_type(str(text)) for text in annotations)
    function.__annotations__ = {}
    ptx, _ = cuda.compile_ptx(function, signature, cc=cc)
    (mangled,) = re.findall(r"\.entry (\w+)", ptx)
    bounds = f".maxntid {threads}, 1, 1\n.minnctapersm {getattr(function, 'resident', 1)}"
    ptx = re.sub(r"\)\s*\{", f")\n{bounds}\n{{", ptx, count=1)
    return str(ptx).replace(mangled, function.__name__)


def _type(annotation: str) -> Any:
    """numba's type for "float32*", "const float32*" or "int64"; a bool is a byte in memory, a half
    is a word."""
    from numba.cuda import types as cuda_types

    from .pointers import Constant

    types: Any = cuda_types
    name = pointee(annotation)
    if not name:
        return getattr(types, annotation)
    element = getattr(types, IN_MEMORY.get(name, name))
    return Constant(element) if annotation.startswith("const ") else types.CPointer(element)


def _assembled(ptx: Mapping[str, str], architecture: str) -> tuple[bytes, str]:
    """The kernels as machine code, and the assembler's report."""
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(2, [f"-arch={architecture}", "-verbose"])
    try:
        for name, text in ptx.items():
            data = text.encode()
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), f"{name}.ptx")
        nvjitlink.complete(handle)
        code = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, code)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
    finally:
        nvjitlink.destroy(handle)
    return bytes(code), log.decode(errors="replace")


def _reported(name: str, ptx: str, cubin: bytes, log: str, architecture: str) -> Compiled:
    """What the report says of one kernel: the lines from its name to the next one's. Of several
    texts it sometimes leaves one out, which is then assembled alone."""
    said = re.split(r"entry function '(\w+)'", log)
    own = [text for entry, text in zip(said[1::2], said[2::2]) if entry == name]
    report = own[0] if own else _assembled({name: ptx}, architecture)[1]
    return Compiled(
        name, ptx, cubin,
        _number(r"Used (\d+) registers", report),
        _number(r"(\d+) bytes stack frame", report),
        _number(r"(\d+) bytes spill stores", report)
        + _number(r"(\d+) bytes spill loads", report),
        _number(r"(\d+) bytes smem", report),
    )


def _number(pattern: str, log: str) -> int:
    """The number in a line of the report; what it does not mention is 0."""
    found = re.search(pattern, log)
    return int(found[1]) if found else 0
