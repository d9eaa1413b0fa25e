"""The launcher of a kernel, as LLVM text: the bridge from Python's calling convention to the
kernel's.

In: a kernel's name, its symbol, its number of arguments.  Out: LLVM IR to be linked into the same
object file. `runtime/loader.py` makes a launcher into a built-in function of numpy arrays:
`launch(x.array, bias.array, mul.array)`.  It reads each array's data address out of the array
object itself, at the place that numpy's C interface fixes, and calls the kernel: some 30 ns in all,
against 500 ns through ctypes and 2,000 ns for asking one array for its address in Python.
Invariant: what is no array, or too few of them, is a TypeError, and a kernel that gave up is a
SystemError (none should).  Whether dtype, shape and strides are those the kernel was printed for,
the launcher does not ask: guards have checked the inputs, and the wrapper made the rest. A kernel
that runs long lets go of the interpreter lock meanwhile; for a short one that would cost more than
it gives.
"""

from __future__ import annotations

from ..runtime.loader import ARRAY_TYPE, launch_symbol

LONG = 16384  # iterations from which the lock is released: some 5 microseconds
HEADER = object.__basicsize__  # an array object starts with this; its data address follows
TYPE = HEADER - 8  # and this is where an object keeps its type

COMMON = f"""
@{ARRAY_TYPE} = global ptr null

declare ptr @PyLong_FromLong(i64)
declare i32 @PyErr_BadArgument()
declare void @PyErr_BadInternalCall()
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
  call void @PyErr_BadInternalCall()
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
  %p{k} = call ptr @array_data(ptr %object{k})
  %bad{k} = icmp eq ptr %p{k}, null
  br i1 %bad{k}, label %wrong, label %arg{next}"""

HOLDING = "  %status = call i32 @{symbol}({arguments})"
RELEASING = """\
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 @{symbol}({arguments})
  call void @PyEval_RestoreThread(ptr %thread)"""


def launchers(kernels: list[tuple[str, str, int, int]]) -> str:
    """One LLVM module with a launcher for each (name, symbol, number of arguments, iterations)."""
    pointers = {symbol: ", ".join(["ptr"] * (count + 2)) for _, symbol, count, _ in kernels}
    declared = "".join(f'declare i32 @"{symbol}"({types})\n' for symbol, types in pointers.items())
    return COMMON + declared + "".join(_launcher(*kernel) for kernel in kernels)


def _launcher(name: str, symbol: str, count: int, iterations: int) -> str:
    # numba's convention puts two addresses first, for a result and for an exception; a kernel has
    # neither.
    arguments = ", ".join(["ptr %nothing", "ptr %error", *(f"ptr %p{k}" for k in range(count))])
    call = (RELEASING if iterations >= LONG else HOLDING).format(
        symbol=f'"{symbol}"', arguments=arguments
    )
    reads = "\n".join(READ.format(k=k, next=k + 1) for k in range(count))
    return LAUNCHER.format(launch=launch_symbol(name), count=count, reads=reads, call=call)
