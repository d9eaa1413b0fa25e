"""Python's arithmetic on numbers that are inputs: the same functions, on symbolic operands.

Invariant: what cannot be said with symbols is None here, and then computed from the numbers
themselves, under guards (see `fold.py`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ...shapes import (
    MATH_FUNCTIONS,
    bitwise,
    inverted,
    largest,
    left_shift,
    of_math,
    right_shift,
    smallest,
    to_float,
    to_index,
    to_int,
)
from ...tensor.size import Size
from ..breaks import Break, WouldRaise
from ..numbers import lifted
from ..variables import Constant, NumberVariable, TupleVariable, Variable
from .core import Interpreter

_OPERATORS = "add sub mul truediv floordiv mod pow neg pos lt le eq ne gt ge"
OF_TUPLES = *(getattr(operator, name) for name in "lt le eq ne gt ge".split()), math.prod
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
SYMBOLIC: dict[Any, Callable[..., Any]] = {
    **{f: f for f in (getattr(operator, name) for name in _OPERATORS.split())},
    **{f: f for f in (abs, round, divmod, pow, bool)},
    **{f: partial(bitwise, sign, f) for sign, f in BITS.items()},
    **{f: f for f in OF_TUPLES},
    **{getattr(math, name): partial(of_math, name) for name in MATH_FUNCTIONS},
    **{f: f for f in (math.floor, math.ceil, math.trunc)},
    int: to_int,
    float: to_float,
    operator.index: to_index,
    min: smallest,
    max: largest,
    operator.lshift: left_shift,
    operator.rshift: right_shift,
    operator.invert: inverted,
}


def symbolic(
    vm: Interpreter, function: Callable[..., Any], variables: list[Variable]
) -> Variable | None:
    """function(*variables) when some of them are symbolic numbers, and all are numbers."""
    if not any(map(_is_symbolic, variables)):
        return None
    meaning = SYMBOLIC.get(function)
    values = [_number(variable) for variable in variables]
    if meaning is None or any(value is None for value in values):
        return None
    if function is pow and len(values) > 2:  # with a modulus it is no polynomial
        return None
    if function not in OF_TUPLES and any(isinstance(value, tuple) for value in values):
        return None
    try:
        return lifted(meaning(*values))
    except Break:
        raise
    except Exception as error:
        raise WouldRaise(error) from None


def _is_symbolic(variable: Variable) -> bool:
    if isinstance(variable, TupleVariable):
        return any(map(_is_symbolic, variable.items))
    return isinstance(variable, NumberVariable)


def _number(variable: Variable) -> Any:
    """The operand, a number or a tuple of numbers, or None for what is neither."""
    if isinstance(variable, NumberVariable):
        return variable.number
    if isinstance(variable, TupleVariable):
        items = [_number(item) for item in variable.items]
        return None if any(item is None for item in items) else tuple(items)
    if isinstance(variable, Constant) and type(variable.value) in (tuple, Size):
        return variable.value
    plain = isinstance(variable, Constant) and type(variable.value) in (int, float, bool)
    return variable.value if plain else None  # type: ignore[attr-defined]
