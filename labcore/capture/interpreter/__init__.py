"""The symbolic interpreter: one handler an instruction, one file a family of instructions.

core.py     the loop            locals.py   variables and the stack    operators.py  + < is in not
calls.py    CALL, functions     control.py  jumps, loops, return       containers.py tuples, lists, subscripts, attributes
"""
from . import calls, containers, control, locals, operators  # noqa: F401  (they register their handlers)
from .core import Captured as Captured, Interpreter as Interpreter
