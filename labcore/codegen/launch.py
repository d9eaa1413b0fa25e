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
cost more than it gives.
"""

from __future__ import annotations

from ..runtime.loader import ARRAY_TYPE, INDEX_ERROR, launch_symbol

Launched = tuple[str, str, tuple[str, ...], int]

LONG = 16384  # iterations from which the lock is released: some 5 microseconds
HEADER = object.__basicsize__  # an array object starts with this; its data address follows
TYPE = HEADER - 8  # and this is where an object keeps its type

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

HOLDING = "  %status = call i32 @{symbol}({arguments})"
RELEASING = """\
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 @{symbol}({arguments})
  call void @PyEval_RestoreThread(ptr %thread)"""


def launchers(kernels: list[Launched]) -> str:
    """One LLVM module with a launcher for each (name, symbol, kinds of arguments, iterations)."""
    declared = "".join(
        f'declare i32 @"{symbol}"({", ".join(["ptr", "ptr", *map(_llvm_type, kinds)])})\n'
        for _, symbol, kinds, _ in kernels
    )
    numbers = NUMBERS if any({*kinds} - {"array"} for _, _, kinds, _ in kernels) else ""
    return COMMON + numbers + declared + "".join(_launcher(*kernel) for kernel in kernels)


def _llvm_type(kind: str) -> str:
    return KINDS[kind][0]


def _launcher(name: str, symbol: str, kinds: tuple[str, ...], iterations: int) -> str:
    # numba's convention puts two addresses first, for a result and for an exception; a kernel has
    # neither.
    given = [f"{_llvm_type(kind)} %p{k}" for k, kind in enumerate(kinds)]
    call = (RELEASING if iterations >= LONG else HOLDING).format(
        symbol=f'"{symbol}"', arguments=", ".join(["ptr %nothing", "ptr %error", *given])
    )
    reads = "\n".join(_read(k, kind) for k, kind in enumerate(kinds))
    text = LAUNCHER.format(
        launch=launch_symbol(name),
        count=len(kinds),
        reads=reads,
        call=call,
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
