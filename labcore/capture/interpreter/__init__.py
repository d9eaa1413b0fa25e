"""The symbolic interpreter: one handler an instruction, one file a family of instructions.

core.py     the loop            locals.py   variables and the stack    operators.py  + < is in not
calls.py    CALL, functions     control.py  jumps, loops, return       containers.py tuples,
lists, subscripts, attributes
"""

# Importing a family registers its handlers.
from . import (
    calls as calls,
    containers as containers,
    control as control,
    locals as locals,
    operators as operators,
    type_calls as type_calls,
)
from .core import Captured as Captured, Interpreter as Interpreter
