"""Capture: Python bytecode to a graph, guards, and the text of a variant.

    bytecode.py       three Pythons, one dialect
    frame.py          frames of variables
    interpreter/      one handler an instruction
    variables/        what is known of a value
    looking.py        values, bought with guards
    attributes.py, binding.py, callables.py     Python's rules
    operators.py, lab_functions.py              tensors: the lab's own code on stand-ins
    exit.py           making the result
    breaks.py         every reason to stop
    region.py         all of it put together
"""

from . import lab_functions as lab_functions
from .breaks import REASONS as REASONS, Break as Break, Reason as Reason, WouldRaise as WouldRaise
from .callables import (
    means as means,
    means_constant as means_constant,
    means_operator as means_operator,
)
from .region import Region as Region, capture as capture
