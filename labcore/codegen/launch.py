"""The launcher of a kernel, as LLVM text: the bridge from Python's calling convention to the
kernel's.

In: a kernel's name, its symbol, its arguments' kinds.  Out: LLVM IR to be linked into the same
object file. `runtime/loader.py` makes a launcher into a built-in function of numpy arrays:
`launch(x.array, bias.array, mul.array)`.  It reads each array's data address out of the array
object itself, at the place that numpy's C interface fixes, and calls the kernel: some 30 ns in all,
against 500 ns through ctypes and 2,000 ns for asking one array for its address in Python.
Numbers are converted by CPython's own functions, with their errors.
Invariant: what is no array, or too few of them, is a TypeError, and a kernel that gave up met an
index that does not exist: an IndexError.  Whether dtype, shape and strides are those the kernel was
printed for, the launcher does not ask: guards have checked the inputs, and the wrapper made the
rest. A kernel that runs long lets go of the interpreter lock meanwhile; for a short one that would
cost more than it gives. One whose loop threads may share is handed to `runtime/threads.py`, with
its arguments in a row; one with phases is handed over for each, and then called for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..runtime.loader import ARRAY_TYPE, INDEX_ERROR, PARALLEL, launch_symbol
from ..shapes import Expr
from .ranges import LONG, Loops

HEADER = object.__basicsize__  # an array object starts with this; its data address follows
TYPE = HEADER - 8  # and this is where an object keeps its type



@dataclass(frozen=True)
class Launched:
    """A kernel: its symbol; for each argument, by name, a word of KINDS; its loops."""

    name: str
    symbol: str
    kinds: Mapping[str, str]
    loops: Loops

    @property
    def long(self) -> bool:
        """Is it worth letting go of the lock? Where sizes are symbols, yes."""
        work = self.loops.work.const
        return work is None or work >= LONG


COMMON = f"""
@{ARRAY_TYPE} = global ptr null
@{INDEX_ERROR} = global ptr null

declare ptr @PyLong_FromLong(i64)
declare i32 @PyErr_BadArgument()
declare void @PyErr_SetString(ptr, ptr)
@out.of.range = internal constant [25 x i8] c"an index is out of range\\00"
declare i32 @PyType_IsSubtype(ptr, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

; the address of an array's first element, or null when the object is no array
define internal ptr @array_data(ptr %object) {{
entry:
  %type.at = getelementptr i8, ptr %object, i64 {TYPE}
  %type = load ptr, ptr %type.at
  %array = load ptr, ptr @{ARRAY_TYPE}
  %same = icmp eq ptr %type, %array
  br i1 %same, label %read, label %ask
ask:
  %derived = call i32 @PyType_IsSubtype(ptr %type, ptr %array)
  %other = icmp eq i32 %derived, 0
  br i1 %other, label %wrong, label %read
read:
  %data.at = getelementptr i8, ptr %object, i64 {HEADER}
  %data = load ptr, ptr %data.at
  ret ptr %data
wrong:
  ret ptr null
}}
"""

LAUNCHER = """
define ptr @{launch}(ptr %self, ptr %args, i64 %count) {{
entry:
  %nothing = alloca ptr
  %error = alloca ptr
  %right = icmp eq i64 %count, {count}
  br i1 %right, label %arg0, label %wrong
{reads}
arg{count}:
{call}
  %done = icmp eq i32 %status, 0
  br i1 %done, label %good, label %failed
good:
  %zero = call ptr @PyLong_FromLong(i64 0)
  ret ptr %zero
failed:
  %kind = load ptr, ptr @{index_error}
  call void @PyErr_SetString(ptr %kind, ptr @out.of.range)
  ret ptr null
wrong:
  %ignored = call i32 @PyErr_BadArgument()
  ret ptr null
}}
"""

READ = """\
arg{k}:
  %slot{k} = getelementptr ptr, ptr %args, i64 {k}
  %object{k} = load ptr, ptr %slot{k}
  %p{k} = call {type} @{convert}(ptr %object{k})
  %bad{k} = {bad}
  br i1 %bad{k}, label %{failure}, label %arg{next}"""

# A number that is none, or too large, has set an exception; but -1 may be what it is.
ASK = """
ask{k}:
  %raised{k} = call ptr @PyErr_Occurred()
  %fine{k} = icmp eq ptr %raised{k}, null
  br i1 %fine{k}, label %arg{next}, label %raised"""

RAISED = """\
raised:
  ret ptr null
"""
NUMBERS = """
declare i64 @PyLong_AsLongLong(ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyErr_Occurred()
"""
# What an argument is -> its LLVM type, what reads it, what to be suspicious of.
KINDS = {
    "array": ("ptr", "array_data", "icmp eq ptr %p{k}, null"),
    "int64": ("i64", "PyLong_AsLongLong", "icmp eq i64 %p{k}, -1"),
    "float64": ("double", "PyFloat_AsDouble", "fcmp oeq double %p{k}, -1.0"),
}

DRIVER = f"@{PARALLEL} = global ptr null\n"
CALL = "  %status = call i32 @{symbol}({arguments})\n"
RELEASE = "  %thread = call ptr @PyEval_SaveThread()\n"
TAKE_BACK = "  call void @PyEval_RestoreThread(ptr %thread)\n"
SHARED = """\
  %driver = load ptr, ptr @{parallel}
  %status = call i32 %driver(ptr @"{piece}", ptr %packed, i64 {turns}, i64 {work})
"""
PIECE = """
define internal i32 @"{piece}"(ptr %packed, i64 %begin, i64 %end) {{
  %nothing = alloca ptr
  %error = alloca ptr
{reads}
  %status = call i32 @{symbol}({arguments}, i64 %begin, i64 %end{phase})
  ret i32 %status
}}
"""
PHASES = """\
  %driver = load ptr, ptr @{parallel}
  %work.each = udiv i64 {work}, {count}
  br label %phase.0
{phases}
phase.{count}:
  %status.{count} = call i32 @{symbol}({arguments}, i64 0, i64 0, i64 {count})
  br label %over
over:
  %status = phi i32 {statuses}
"""
A_PHASE = """\
phase.{k}:
  %status.{k} = call i32 %driver(ptr @"{piece}.{k}", ptr %packed, i64 {turns}, i64 %work.each)
  %good.{k} = icmp eq i32 %status.{k}, 0
  br i1 %good.{k}, label %phase.{next}, label %over"""


def launchers(kernels: list[Launched]) -> str:
    """One LLVM module with a launcher for each kernel."""
    kinds = {kind for kernel in kernels for kind in kernel.kinds.values()}
    shared = any(kernel.loops.turns is not None for kernel in kernels)
    head = COMMON + (NUMBERS if kinds - {"array"} else "") + (DRIVER if shared else "")
    declared = {kernel.symbol: _declared(kernel) for kernel in kernels}  # some are alike
    return head + "".join(declared.values()) + "".join(
        (_pieces(kernel) if kernel.loops.turns is not None else "")
        + _launcher(kernel)
        for kernel in kernels
    )


def _llvm_type(kind: str) -> str:
    return KINDS[kind][0]


def _declared(kernel: Launched) -> str:
    types = ["ptr", "ptr", *map(_llvm_type, kernel.kinds.values())]
    types += ["i64", "i64"] * (kernel.loops.turns is not None)
    types += ["i64"] * (kernel.loops.phases > 0)
    return f'declare i32 @"{kernel.symbol}"({", ".join(types)})\n'


def _arguments(kernel: Launched) -> str:
    """numba's convention puts two addresses first, for a result and for an exception; a kernel has
    neither."""
    given = [f"{_llvm_type(kind)} %p{k}" for k, kind in enumerate(kernel.kinds.values())]
    return ", ".join(["ptr %nothing", "ptr %error", *given])


def _launcher(kernel: Launched) -> str:
    kinds = list(kernel.kinds.values())
    if kernel.loops.turns is not None:
        call = _shared(kernel)
    else:
        call = CALL.format(symbol=f'"{kernel.symbol}"', arguments=_arguments(kernel))
    text = LAUNCHER.format(
        launch=launch_symbol(kernel.name),
        count=len(kinds),
        reads="\n".join(_read(k, kind) for k, kind in enumerate(kinds)),
        call=(RELEASE + call + TAKE_BACK if kernel.long else call).rstrip(),
        index_error=INDEX_ERROR,
    )
    numbers = any(kind != "array" for kind in kinds)
    return text.replace("\nwrong:", "\n" + RAISED + "wrong:") if numbers else text


def _read(k: int, kind: str) -> str:
    """Argument number k: a pointer, or a number."""
    type_, convert, bad = KINDS[kind]
    failure = "wrong" if kind == "array" else f"ask{k}"
    text = READ.format(
        k=k, next=k + 1, type=type_, convert=convert, bad=bad.format(k=k), failure=failure
    )
    return text if kind == "array" else text + ASK.format(k=k, next=k + 1)


# ---- kernels whose loop threads share ------------------------------------------------------------


def _pieces(kernel: Launched) -> str:
    """The kernel for a range, or each of its phases for one, as the driver calls it: with the
    address of its arguments."""
    reads = []
    for k, kind in enumerate(kernel.kinds.values()):
        reads.append(f"  %at{k} = getelementptr i64, ptr %packed, i64 {k}")
        reads.append(f"  %p{k} = load {_llvm_type(kind)}, ptr %at{k}")
    phases = [(f".{k}", f", i64 {k}") for k in range(kernel.loops.phases)] or [("", "")]
    return "".join(PIECE.format(
        piece=f"piece.{kernel.name}{ending}",
        symbol=f'"{kernel.symbol}"',
        reads="\n".join(reads),
        arguments=_arguments(kernel),
        phase=phase,
    ) for ending, phase in phases)


def _shared(kernel: Launched) -> str:
    """Its arguments in a row, how often its loop turns, how much work that is; then the driver."""
    assert kernel.loops.turns is not None
    lines = [f"  %packed = alloca [{len(kernel.kinds)} x i64]"]
    for k, kind in enumerate(kernel.kinds.values()):
        lines.append(f"  %at{k} = getelementptr i64, ptr %packed, i64 {k}")
        lines.append(f"  store {_llvm_type(kind)} %p{k}, ptr %at{k}")
    places = {name: f"%p{k}" for k, name in enumerate(kernel.kinds)}
    turns = _polynomial(kernel.loops.turns, places, "turns", lines)
    work = _polynomial(kernel.loops.work, places, "work", lines)
    piece = f"piece.{kernel.name}"
    if kernel.loops.phases:
        call = _in_phases(kernel, piece, turns, work)
    else:
        call = SHARED.format(parallel=PARALLEL, piece=piece, turns=turns, work=work)
    return "\n".join(lines) + "\n" + call


def _in_phases(kernel: Launched, piece: str, turns: str, work: str) -> str:
    """Phase after phase by the driver, then the rest; none of them after one that gave up."""
    count = kernel.loops.phases
    phases = [A_PHASE.format(k=k, piece=piece, turns=turns, next=k + 1) for k in range(count)]
    statuses = ", ".join(f"[ %status.{k}, %phase.{k} ]" for k in range(count + 1))
    return PHASES.format(
        parallel=PARALLEL, work=work, count=count, phases="\n".join(phases), statuses=statuses,
        symbol=f'"{kernel.symbol}"', arguments=_arguments(kernel),
    )


def _polynomial(
    expr: Expr, places: Mapping[str, str], name: str, lines: list[str]
) -> str:
    """The LLVM value of a polynomial of numbers; appends the instructions that it takes."""
    if expr.const is not None:
        return str(expr.const)
    total = "0"
    for i, (symbols, factor) in enumerate(expr.terms):
        term = str(factor)
        for j, symbol in enumerate(symbols):
            lines.append(f"  %{name}.{i}.{j} = mul i64 {term}, {places[symbol]}")
            term = f"%{name}.{i}.{j}"
        lines.append(f"  %{name}.{i} = add i64 {total}, {term}")
        total = f"%{name}.{i}"
    return total
