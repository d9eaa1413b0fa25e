"""Capture: Python bytecode to a graph, guards, and the text of a variant.

    bytecode.py       three Pythons, one dialect
    frame.py          frames of variables, while a region is captured
    frames.py         frames of values, between regions
    liveness.py       what is still read
    interpreter/      one handler an instruction
    variables/        what is known of a value
    looking.py        values, bought with guards
    effects.py        what a region changes of what was there before
    aliases.py        what has to stay different
    classes.py, objects.py, attributes.py       attributes, as CPython finds them
    binding.py, callables.py                    Python's rules of calls
    operators.py, lab_functions.py              tensors: the lab's own code on stand-ins
    library_functions.py                        some of Python's library
    traced.py         tensors without numbers
    memory.py, scattering.py, refusals.py, overwriting.py    tensors that are written in place
    tape_facts.py, modes.py                     what is recorded for a backward
    own_derivatives.py                          and the program's own derivative of a step
    polyfills/        builtins in Python, read like the user's code
    peeking.py, remaking.py                     real iterators, read and made
    exit.py           making what leaves a region
    leaving.py        its end: the result or the frames, and the effects
    numbers.py, layouts.py, marked.py           numbers and sizes that are inputs of the graph
    breaks.py, reasons.py                       stopping, and every reason to
    unused.py         what nobody reads
    region.py         all of it put together
    steps.py          what CPython does between regions
    pieces.py         small code objects cut from the user's
"""

from . import lab_functions as lab_functions, library_functions as library_functions
from .breaks import Break as Break, WouldRaise as WouldRaise
from .callables import (
    means as means,
    means_constant as means_constant,
    means_operator as means_operator,
)
from .frames import Frame as Frame, Stop as Stop, leave as leave
from .reasons import REASONS as REASONS, Reason as Reason
from .region import Region as Region, capture as capture
from .steps import run_rest as run_rest, step as step
