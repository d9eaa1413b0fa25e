"""Import statements of modules that are loaded already: reading `sys.modules`.

Invariant: a first import runs a module, and is CPython's.
"""

from __future__ import annotations

import builtins
import sys
from importlib.util import resolve_name
from types import ModuleType

from ...guards import source
from ..attributes import attribute
from ..breaks import Break
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..variables import Variable
from .core import Interpreter
from .fold import python_value
from .table import opcode

IMPORT = builtins.__import__


@opcode("IMPORT_NAME")
def import_name(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    level, names = (python_value(vm, variable) for variable in frame.pop(2))
    name = str(ins.original.argval)
    if level:
        name = resolve_name("." * level + name, str(frame.namespace.get("__package__")))
    loaded = sys.modules.get(name)
    complete = type(loaded) is ModuleType and not _is_loading(loaded)
    if not complete or builtins.__import__ is not IMPORT:
        raise Break("side-effect-call", name=f"import {name}")
    if any(part not in vars(loaded) for part in names or ()):
        raise Break("side-effect-call", name=f"from {name} import {', '.join(names)}")
    frame.stack.append(_module(vm, name if names else name.partition(".")[0]))


def _is_loading(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _module(vm: Interpreter, name: str) -> Variable:
    table = source.constant("sys.modules", vm.builder.constant(sys.modules, "modules"))
    return vm.lazy(table.item(name), sys.modules[name])


@opcode("IMPORT_FROM")
def import_from(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(attribute(vm, frame.stack[-1], str(ins.original.argval)))
