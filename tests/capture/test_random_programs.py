"""Random straight-line programs with calls, tuples, lists and branches on constants, against
eager."""

from __future__ import annotations

import linecache
from itertools import count

import pytest
from hypothesis import given, strategies as st

import labcore as torch

from .differential import captured

NAMES = ("x", "y", "z")
UNARY = (
    "-{}",
    "{}.relu()",
    "torch.sigmoid({})",
    "abs({})",
    "({},)[0]",
    "[{}][-1]",
    "{}[:]",
    "scale({})",
    "scale({}, k=2.5)",
    "{}.view(2, 2).T.reshape(4)",
    "(lambda t: t * K)({})",
    "{}[None][0]",
    "first({}, n)",
)
BINARY = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "torch.maximum({}, {})",
    "torch.where({} > 0, {}, 1.5)",
    "combine({}, {})",
    "combine(b={}, a={})",
    "({} if n > 2 else {})",
    "sum([{}, {}], start=0.5)",
    "variadic({}, {}, n)",
)
SCALARS = (
    "n",
    "2",
    "-1.5",
    "K",
    "n + 1",
    "len(x)",
    "x.shape[0] * 0.5",
    "True",
    "(n, 2)[1]",
    "n // 2",
    "-0.0",
)
PREAMBLE = """\
def scale(t, k=3):
    return t * k + 1

def combine(a, b):
    c, d = b, a
    return (c - d, [c, d])[0]

def first(t, *rest):
    return t if not rest else t + rest[0]

def variadic(*parts):
    total = 0
    for i, part in enumerate(parts):
        total = total + part * i
    return total

"""
_numbers = count()


@st.composite
def expressions(draw, depth=2):
    if depth == 0:
        return draw(st.sampled_from(NAMES))
    sub = expressions(depth - 1)
    kind = draw(st.integers(0, 2))
    if kind == 0:
        return draw(st.sampled_from(UNARY)).format(draw(sub))
    if kind == 1:
        return "(" + draw(st.sampled_from(BINARY)).format(draw(sub), draw(sub)) + ")"
    return f"({draw(sub)} {draw(st.sampled_from('+-*'))} {draw(st.sampled_from(SCALARS))})"


@st.composite
def statements(draw, indent="    ", depth=1):
    name, other = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
    kind = draw(st.integers(0, 6 if depth else 3))
    if kind <= 2:
        return f"{indent}{name} = {draw(expressions())}\n"
    if kind == 3:
        return f"{indent}{name}, {other} = {draw(expressions(1))}, {draw(expressions(1))}\n"
    body = "".join(draw(st.lists(statements(indent + "    ", depth - 1), min_size=1, max_size=2)))
    if kind == 4:
        sign, number = draw(st.sampled_from((">", "==", "<="))), draw(st.integers(0, 4))
        return f"{indent}if n {sign} {number}:\n{body}"
    if kind == 5:
        return f"{indent}for i in range({draw(st.integers(0, 3))}):\n{body}"
    return f"{indent}for {name} in ({draw(expressions(1))}, {other}):\n{body}"


@st.composite
def programs(draw):
    body = "".join(draw(st.lists(statements(), min_size=1, max_size=4)))
    result = draw(
        st.sampled_from(("x", "(x, y, z)", "[x, (y, n)]", "{'a': x, 'b': [y, z]}", "(x, x, K)"))
    )
    return f"{PREAMBLE}def f(x, y, z, n):\n{body}    return {result}\n"


@pytest.mark.fuzz
@given(programs(), st.integers(0, 4))
def test_random_programs(source, n):
    path = f"<random program {next(_numbers)}>"
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    scope = {"torch": torch, "K": 2}
    exec(compile(source, path, "exec"), scope)
    tensors = [torch.tensor([1.0, -2.0, 0.5, -0.0]) * (k + 1) for k in range(3)]
    captured(scope["f"], *tensors, n)
    captured(scope["f"], tensors[0], tensors[1], tensors[0], n)
