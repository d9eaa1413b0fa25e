"""From an object file to functions that can be called: machine code in, launchers out, without
numba.

In: the bytes of an object file that `codegen/jit.py` emitted, and how many arguments each kernel
takes.
Out: for each kernel a launcher, a built-in function of arrays: `launch(x.array, bias.array,
mul.array)`.
Invariants: the code stays mapped as long as any launcher does (a launcher's `__self__` is the
code). A launcher checks that it is given arrays, as many as its kernel takes, and nothing else:
whoever calls it has checked dtype, shape, strides and device (for inputs, guards did).

`codegen/launch.py` has the code that a launcher consists of; that of a kernel of many iterations
calls `threads.py`. Inductor compiles C++ with the system's compiler and loads a shared library; no
compiler is needed here.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy

from .threads import driver

Launcher = Callable[..., int]

# What launchers call in CPython. Given to LLVM by address: a statically linked Python need not
# export them.
PYTHON_SYMBOLS = (
    "PyLong_FromLong",
    "PyErr_BadArgument",
    "PyErr_SetString",
    "PyErr_Occurred",
    "PyFloat_AsDouble",
    "PyLong_AsLongLong",
    "PyType_IsSubtype",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)
# Variables of the object file: numpy's array type in this process, what a kernel raises, and what
# runs a loop on several threads.
ARRAY_TYPE, INDEX_ERROR, PARALLEL = "ndarray_type", "index_error", "parallel"
METH_FASTCALL = 0x80

_lock = threading.Lock()
_target: Any = None


class LoadError(Exception):
    """The object needs a function that this process does not have."""


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class Code:
    """One loaded object file: freed, code and all, when no launcher refers to it any more."""

    def __init__(self, object_file: bytes, externals: list[str]) -> None:
        binding, target = _llvm()
        # An engine wants a module to start from; everything real is in the object file.
        machine = target.create_target_machine(opt=3, jit=True)
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        # Only now: LLVM knows no function of the process before it has made its first engine.
        missing = [name for name in externals if not binding.address_of_symbol(name)]
        if missing:
            raise LoadError(f"this process has no function {', '.join(missing)}")
        self._engine.add_object_file(binding.ObjectFileRef.from_data(object_file))
        self._engine.finalize_object()
        self._set(ARRAY_TYPE, id(numpy.ndarray))
        self._set(INDEX_ERROR, id(IndexError))
        if self._engine.get_global_value_address(PARALLEL):
            self._set(PARALLEL, driver(binding, target))
        self._methods: list[_MethodDef] = []

    def _set(self, variable: str, value: int) -> None:
        """An address that the code needs. Raises LoadError where it has no place for it."""
        place = self._engine.get_global_value_address(variable)
        if not place:
            raise LoadError("the object file was not made by this lab")
        ctypes.c_void_p.from_address(place).value = value

    def launcher(self, name: str) -> Launcher:
        """The built-in function for a kernel. Raises LoadError when there is none of that name."""
        address = self._engine.get_function_address(launch_symbol(name))
        if not address:
            raise LoadError(f"the object file has no kernel {name!r}")
        method = _MethodDef(
            name.encode(), address, METH_FASTCALL, b"A compiled kernel; takes numpy arrays."
        )
        self._methods.append(method)
        return _new_function(ctypes.addressof(method), self, None)


def launch_symbol(name: str) -> str:
    """What the launcher of a kernel is called inside the object file."""
    return f"launch_{name}"


def load(object_file: bytes, kernels: list[str], externals: list[str]) -> dict[str, Launcher]:
    """Map an object file into this process and make a launcher for each kernel.

    `externals` are the functions it calls that it does not contain (expf, ...).  Raises LoadError
    when one is missing, rather than letting LLVM end the process.
    """
    with _lock:
        code = Code(object_file, externals)
        return {name: code.launcher(name) for name in kernels}


@cache
def host() -> tuple[str, str]:
    """The processor to compile for, name and features, as LLVM spells them.

    It is this one, unless numba's own variables NUMBA_CPU_NAME and NUMBA_CPU_FEATURES name another.
    """
    binding, _ = _llvm()
    name = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES") or binding.get_host_cpu_features().flatten()
    return name, features


def _llvm() -> tuple[Any, Any]:
    """llvmlite's binding and the target for this machine, prepared at the first use."""
    global _target
    import llvmlite.binding as binding

    if _target is None:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        for name in PYTHON_SYMBOLS:
            function = getattr(ctypes.pythonapi, name)
            binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
        _target = binding.Target.from_default_triple()
    return binding, _target


_new_function: Any = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
