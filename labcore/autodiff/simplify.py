"""Operators that can be left out, or be replaced by cheaper ones, without changing one bit.

In: a graph after differentiation.  Out: a simpler one.
Invariant: results stay what they were for every input, -0.0, infinities and nan included; only
which bits a nan has is left open. So x + 0 stays, as -0.0 + 0.0 is 0.0; x * 0 stays, as inf * 0 is
nan; and no sum is taken in another order.
To add one: write what to find and what to make as functions of operators.
Inductor has some hundred patterns of this kind, and simplifies indices by sympy.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import Graph
from ..ops.op import Table
from ..ops.promote import result_type
from .patterns import Constant, Pattern, drawn, replace_patterns

ops = Table()


def simplify(graph: Graph) -> Graph:
    """Replace what `PATTERNS` find, until they find nothing more."""
    return replace_patterns(graph, PATTERNS, "simplify")


# ---- conditions ----------------------------------------------------------------------------------


def _whole(x: Any) -> bool:
    return not x.meta.dtype.is_floating_point


def _power_of_two(x: Any, c: Any) -> bool:
    """Is 1 / c an ordinary number of the tensor's type, and exact?"""
    if type(c) not in (int, float) or not x.meta.dtype.is_floating_point:
        return False
    part, exponent = math.frexp(c)
    return abs(part) == 0.5 and abs(exponent) < 120


def _negates_alike(x: Any, y: Any) -> bool:
    """Is -y the same in the type of x and y together? The smallest integer has a negative only in
    a wider type."""
    return y.meta.dtype.is_floating_point or result_type(x.meta, y.meta) is y.meta.dtype


def _lossless(x: Any, wide: dtypes.dtype, **_: Any) -> bool:
    """Does the wide type hold every number of the tensor's?"""
    narrow = x.meta.dtype
    if narrow is dtypes.int64 and wide is dtypes.float64:  # numpy calls that safe
        return False
    return np.can_cast(narrow.numpy, wide.numpy, "safe")


# ---- patterns that have constants among their parameters -----------------------------------------


def _divide(x: Any, c: Constant) -> Any:
    return ops.div(x, c)


def _cast_twice(x: Any, wide: Constant, last: Constant) -> Any:
    return ops._to_copy(ops._to_copy(x, wide), last)


def _view_twice(x: Any, first: Constant, last: Constant) -> Any:
    return ops.view(ops.view(x, first), last)


def _permute_twice(x: Any, first: Constant, last: Constant) -> Any:
    return ops.permute(ops.permute(x, first), last)


def _expand_twice(x: Any, first: Constant, last: Constant) -> Any:
    return ops.expand(ops.expand(x, first), last)


PATTERNS = (
    # ---- nothing happens ----
    Pattern("times_one", lambda x: ops.mul(x, 1), lambda x: x,
            "a factor of 1 changes no number, nor -0.0, an infinity or nan"),
    Pattern("over_one", lambda x: ops.div(x, 1), lambda x: x,
            "a divisor of 1 changes no number, nor -0.0, an infinity or nan"),
    Pattern("minus_zero", lambda x: ops.sub(x, 0), lambda x: x,
            "-0.0 - 0.0 is -0.0, and 0 changes no other number either"),
    Pattern("plus_negative_zero", lambda x: ops.add(x, -0.0), lambda x: x,
            "0.0 + -0.0 is 0.0 and -0.0 + -0.0 is -0.0"),
    Pattern("plus_zero", lambda x: ops.add(x, 0), lambda x: x,
            "whole numbers have no -0, which + 0 would turn into 0", when=_whole),
    Pattern("first_power", lambda x: ops.pow(x, 1), lambda x: x, "the first power is the number"),
    Pattern("double_negation", lambda x: ops.neg(ops.neg(x)), lambda x: x,
            "the sign is turned twice"),
    Pattern("not_not", lambda x: ops.logical_not(ops.logical_not(x)), lambda x: x,
            "of bools, not is its own inverse", when=lambda x: x.meta.dtype is dtypes.bool),
    Pattern("all_bits_twice", lambda x: ops.bitwise_not(ops.bitwise_not(x)), lambda x: x,
            "each bit is turned twice"),
    Pattern("one_choice", lambda c, x: ops.where(c, x, x), lambda c, x: x,
            "both choices are the same", when=lambda c, x: not drawn(c)),
    Pattern("largest_of_one", lambda x: ops.maximum(x, x), lambda x: x, "they are the same"),
    Pattern("smallest_of_one", lambda x: ops.minimum(x, x), lambda x: x, "they are the same"),
    Pattern("there_and_back", _cast_twice, lambda x, wide, last: x,
            "the type between holds every number of the first", when=_lossless),
    # ---- once is enough ----
    Pattern("abs_abs", lambda x: ops.abs(ops.abs(x)), lambda x: ops.abs(x), "once is enough"),
    Pattern("relu_relu", lambda x: ops.relu(ops.relu(x)), lambda x: ops.relu(x),
            "once is enough"),
    Pattern("abs_neg", lambda x: ops.abs(ops.neg(x)), lambda x: ops.abs(x),
            "the sign does not matter"),
    Pattern("cast_cast", _cast_twice, lambda x, wide, last: ops._to_copy(x, last),
            "the type between holds every number of the first", when=_lossless),
    Pattern("view_view", _view_twice, lambda x, first, last: ops.view(x, last),
            "the last shape alone says how the elements are seen"),
    Pattern("permute_permute", _permute_twice,
            lambda x, first, last: ops.permute(x, tuple([first[k] for k in last])),
            "the order of an order is an order"),
    Pattern("expand_expand", _expand_twice, lambda x, first, last: ops.expand(x, last),
            "what repeats can repeat at once"),
    # ---- the same, cheaper ----
    Pattern("add_negated", lambda x, y: ops.add(x, ops.neg(y)), lambda x, y: ops.sub(x, y),
            "x - y is defined as x + -y", when=_negates_alike),
    Pattern("subtract_negated", lambda x, y: ops.sub(x, ops.neg(y)), lambda x, y: ops.add(x, y),
            "x - -y is x + y, rounded alike", when=_negates_alike),
    Pattern("square", lambda x: ops.pow(x, 2), lambda x: ops.mul(x, x),
            "eager mode multiplies, too"),
    Pattern("cube", lambda x: ops.pow(x, 3), lambda x: ops.mul(ops.mul(x, x), x),
            "eager mode multiplies, too"),
    Pattern("square_root", lambda x: ops.pow(x, 0.5), lambda x: ops.sqrt(x),
            "eager mode takes the root, too"),
    Pattern("halves", _divide, lambda x, c: ops.mul(x, 1 / c),
            "the reciprocal of a power of two is exact, so both round the same number",
            when=_power_of_two),
    Pattern("not_chosen", lambda c, x, y: ops.where(ops.logical_not(c), x, y),
            lambda c, x, y: ops.where(c, y, x), "the choices change places"),
)
