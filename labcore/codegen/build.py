"""A program's text to machine code in this process: from disk if it is there, else through numba,
then kept.

In: the text of an output code.  Out: a launcher for each kernel, the file the text stands in, and
why it had to be compiled.
Invariant: kernels are compiled from the text alone, so what a reader sees is what runs.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from types import FunctionType
from typing import Any

from .. import trace
from ..runtime.loader import Launcher, LoadError, load
from . import cache, kernel_math
from .apart import sums_apart
from .folder import enabled
from .jit import NOTHING, Effort, ObjectFile, compile_kernels
from .lengths import Rows, by_length, in_one_block, row_length, rows_in, text_for
from .phases import in_phases
from .ranges import Loops, as_range, loops_of
from .strips import in_strips


@dataclass(frozen=True)
class Built:
    """Kernels ready to launch. `reason`: why they had to be compiled; empty if found on disk.
    `effort`: what that took. `evicted`: the keys of what had to make room for them."""

    launchers: dict[str, Launcher]
    path: str
    key: str
    reason: str = ""
    effort: Effort = NOTHING
    evicted: tuple[str, ...] = ()

    @property
    def cached(self) -> bool:
        return not self.reason


def build(source: str) -> Built:
    """Find or compile the kernels of a program; a new program is kept on disk. Those whose rows are
    of unknown length choose at each call."""
    built = _built(source)
    if '"int64"' not in source:  # no kernel is told a number
        return built
    for node, form in zip(kernel_nodes(source), forms(source)):
        if form.length:
            text = ast.get_source_segment(source, node)
            assert text is not None
            built.launchers[node.name] = by_length(
                node, form.length, form.loops.work, built.launchers[node.name],
                partial(_for_rows, node.name, text, trace.current_compile_id()))
    return built


def _for_rows(kernel: str, text: str, compile_id: str, rows: Rows) -> Launcher:
    """What launches a kernel on rows of one length alone."""
    begin = perf_counter()
    built = _built(text_for(text, rows))
    linecache.cache.pop(built.path, None)
    if trace.listening():
        outcome, seconds = "hit" if built.cached else "miss", perf_counter() - begin
        with trace.compiling(compile_id):
            trace.emit(trace.RowsCompiled(
                kernel, rows.length, rows.size, outcome, built.reason, seconds))
    return built.launchers[kernel]


def _built(source: str) -> Built:
    """As the text says."""
    key, names = cache.key_of(source), [node.name for node in kernel_nodes(source)]
    reason = "off: LAB_CACHE=0"
    if enabled():
        try:
            code = cache.lookup(source, names)
            return Built(_loaded(code), str(cache.show_source(source)), key)
        except (cache.Miss, LoadError) as miss:
            reason = str(miss)
    evicted: tuple[str, ...] = ()
    path = str(cache.path_of(key)) if enabled() else f"<output code {key}>"
    show_without_file(path, source)  # numba and the debugger read the text before there is a file
    code = compile_source(source, path)
    if enabled():
        try:
            evicted = cache.store(source, code)
            linecache.cache.pop(path, None)
        except OSError as error:  # a disk that takes nothing costs the next process time, no more
            reason += f"; not kept: {error}"
    return Built(_loaded(code), path, key, reason, code.effort, evicted)


def _loaded(code: ObjectFile) -> dict[str, Launcher]:
    return load(code.data, code.kernels, code.externals) if code.kernels else {}


def show_without_file(path: str, source: str) -> None:
    """Let tracebacks and debuggers find a text that is not, or not yet, in a file."""
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)


# ---- text to functions ---------------------------------------------------------------------------


def compile_source(source: str, path: str) -> ObjectFile:
    """Machine code for all kernels in a program's text."""
    found = forms(source)
    if not found:
        return ObjectFile(b"", [], [])
    kernels, rows = [form.kernel for form in found], rows_in(source)
    if rows is not None:
        kernels = [in_one_block(kernel) for kernel in kernels]
    loops = {form.kernel.name: form.loops for form in found}
    return compile_kernels(list(_functions(kernels, path).values()), loops, rows)


def compiled_kernels(source: str, path: str) -> dict[str, FunctionType]:
    """The kernels as they are compiled: one that threads share takes a range of its turns, one with
    phases their number, and rows that may be short are worked on in strips."""
    return _functions([form.kernel for form in forms(source)], path)


def rows_in_strips(source: str) -> list[tuple[str, str, str]]:
    """The short rows that are worked on in strips: of which kernel, how long they are, and when."""
    return [(form.kernel.name, *found) for form in forms(source) for found in form.strips]


def rows_of_any_length(source: str) -> list[tuple[str, str]]:
    """The kernels whose rows are of unknown length, and the number that says how long they are."""
    return [(form.kernel.name, form.length) for form in forms(source) if form.length]


@dataclass(frozen=True)
class Form:
    """A kernel as it is compiled, its loops, its short rows that are worked on in strips, and the
    number that says how long its rows are, "" where there is none."""

    kernel: ast.FunctionDef
    loops: Loops
    strips: list[tuple[str, str]]
    length: str


@lru_cache(maxsize=1)  # what was compiled last is told of next
def forms(source: str) -> list[Form]:
    """How each kernel of a text is compiled."""
    return [_as_compiled(node) for node in kernel_nodes(source)]


def _as_compiled(kernel: ast.FunctionDef) -> Form:
    """Changes the kernel."""
    loops = loops_of(kernel)
    part, strips = in_strips(kernel if loops.turns is None else as_range(kernel), loops.turns)
    part = sums_apart(part)
    return Form(in_phases(part), loops, strips, row_length(part, loops.turns))


def unrolls(source: str) -> bool:
    """Of a text with one kernel: see `Loops`."""
    (kernel,) = kernel_nodes(source)
    return loops_of(kernel).unroll


def python_kernels(source: str, path: str = "<kernels>") -> dict[str, FunctionType]:
    """The kernels of a text as plain Python functions of anything that can be indexed."""
    return _functions(kernel_nodes(source), path)


def _functions(nodes: list[ast.FunctionDef], path: str) -> dict[str, FunctionType]:
    for node in nodes:
        node.decorator_list = []
    scope: dict[str, Any] = {n: v for n, v in vars(kernel_math).items() if not n.startswith("_")}
    exec(compile(ast.Module(list(nodes), []), path, "exec", dont_inherit=True), scope)
    return {node.name: scope[node.name] for node in nodes}


def kernel_nodes(source: str) -> list[ast.FunctionDef]:
    """The functions of a text whose parameters have types."""
    found = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    return [n for n in found if n.args.args and all(a.annotation is not None for a in n.args.args)]
