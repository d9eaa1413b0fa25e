"""Numbers that are inputs of a graph: known by name, not by value.

    expr.py       polynomials with integer coefficients, the form of sizes, strides and offsets
    number.py     SymInt and SymFloat, which compute as Python's numbers do
    functions.py  Python's functions of them: int, min, math.sqrt ...
    env.py        what was seen, what is known, and what had to be assumed

In: the numbers of one call.  Out: expressions over their names, and the conditions under which
decisions that were taken on the way hold for other numbers too.
Invariant: whoever asks for a truth gets the one of the numbers seen, and leaves an assumption.
PyTorch builds SymInt and SymFloat on sympy; sizes are nearly always polynomials.
"""

from .env import (
    SYMBOL as SYMBOL,
    ShapeEnv as ShapeEnv,
    Undecided as Undecided,
    Values as Values,
    condition as condition,
    renamed as renamed,
)
from .expr import Expr as Expr, is_index as is_index
from .functions import (
    MATH_FUNCTIONS as MATH_FUNCTIONS,
    bitwise as bitwise,
    inverted as inverted,
    largest as largest,
    left_shift as left_shift,
    of_math as of_math,
    right_shift as right_shift,
    smallest as smallest,
    to_float as to_float,
    to_index as to_index,
    to_int as to_int,
)
from .number import (
    FLOATS as FLOATS,
    INTS as INTS,
    SymFloat as SymFloat,
    SymInt as SymInt,
    SymNumber as SymNumber,
    bare as bare,
    hint as hint,
    number_like as number_like,
    surely_equal as surely_equal,
)
