"""Patterns: each one is right for every number, and each is found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labcore import dtypes, ops, trace
from labcore.autodiff.patterns import Constant, Pattern, replace_patterns
from labcore.autodiff.simplify import PATTERNS, simplify
from labcore.graph import TensorMeta, verify
from labcore.ops.dispatch import interpreting
from labcore.ops.parts import Held, OnArrays

from .graphs import floats, graph_of, lines

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, -3.7, math.inf, -math.inf, math.nan, 1e-42, 3e38, 2.5e-39]
INTEGERS = [0, 1, -1, 7, -(2**31), 2**31 - 1]
TENSORS = {
    "float32": np.array(SPECIAL, np.float32),
    "float64": np.array([*SPECIAL[:-2], 1e300, 5e-324], np.float64),
    "int32": np.array(INTEGERS * 2, np.int32),
    "int64": np.array([*INTEGERS[:-2], 2**63 - 1, -(2**63)] * 2, np.int64),
    "bool": np.array([True, False] * 6),
}
CONSTANTS = {
    "halves": [{"c": c} for c in (2, 0.5, -4.0, 2.0**100, 3.0, 0.1)],
    "there_and_back": [
        {"wide": w, "last": n} for w in (dtypes.float64, dtypes.float32, dtypes.int64)
        for n in (dtypes.float32, dtypes.int32, dtypes.bool, dtypes.int64)
    ],
    "view_view": [{"first": (3, 4), "last": (2, 6)}, {"first": (12, 1), "last": (12,)}],
    "permute_permute": [{"first": (2, 0, 1), "last": (1, 0, 2)}],
    "expand_expand": [{"first": (3, 12), "last": (2, 3, 12)}],
}
CONSTANTS["cast_cast"] = CONSTANTS["there_and_back"]


def shaped(name, array):
    return array.reshape(2, 3, 2) if name == "permute_permute" else array


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
@pytest.mark.parametrize("kind", TENSORS)
def test_the_replacement_is_the_same_to_the_bit(pattern, kind):
    """For every type: where the pattern fits a graph, both functions give the same bytes."""
    x = shaped(pattern.name, TENSORS[kind])
    for constants in CONSTANTS.get(pattern.name, [{}]):
        given = {"x": x, "y": x[::-1].copy(), "c": TENSORS["bool"]}
        names = list(pattern.find.__code__.co_varnames[: pattern.find.__code__.co_argcount])
        arrays = {n: given[n] for n in names if n not in constants}
        try:
            graph = graph_of(
                lambda *nodes, held=arrays, more=constants: pattern.find(
                    **dict(zip(held, nodes)), **more),
                *[TensorMeta.contiguous(a.shape, dtypes.from_numpy(a.dtype))
                  for a in arrays.values()],
            )
        except (RuntimeError, NotImplementedError, TypeError):
            continue  # the operators refuse this type
        after = verify(replace_patterns(graph, [pattern], "test"))
        if lines(after) == lines(graph):
            continue
        before, now = (run(f, arrays, constants) for f in (pattern.find, pattern.make))
        assert before.dtype == now.dtype
        np.testing.assert_array_equal(before, now)  # nan equals nan
        if before.dtype.kind == "f":
            ordinary = ~np.isnan(before)
            np.testing.assert_array_equal(np.signbit(before[ordinary]), np.signbit(now[ordinary]))


def run(function, arrays, constants):
    with interpreting(OnArrays()), np.errstate(all="ignore"):
        return function(**{n: Held(a) for n, a in arrays.items()}, **constants).array


FOUND = {
    "times_one": lambda x: ops.neg(ops.mul(x, 1.0)),
    "over_one": lambda x: ops.neg(ops.div(x, 1)),
    "minus_zero": lambda x: ops.neg(ops.sub(x, 0)),
    "plus_negative_zero": lambda x: ops.neg(ops.add(x, -0.0)),
    "first_power": lambda x: ops.neg(ops.pow(x, 1)),
    "double_negation": lambda x: ops.sin(ops.neg(ops.neg(x))),
    "one_choice": lambda x: ops.sin(ops.where(ops.gt(x, 0), x, x)),
    "largest_of_one": lambda x: ops.sin(ops.maximum(x, x)),
    "smallest_of_one": lambda x: ops.sin(ops.minimum(x, x)),
    "there_and_back": lambda x: ops.sin(
        ops._to_copy(ops._to_copy(x, dtypes.float64), dtypes.float32)),
    "abs_abs": lambda x: ops.abs(ops.abs(x)),
    "relu_relu": lambda x: ops.relu(ops.relu(x)),
    "abs_neg": lambda x: ops.abs(ops.neg(x)),
    "cast_cast": lambda x: ops._to_copy(ops._to_copy(x, dtypes.float64), dtypes.int64),
    "view_view": lambda x: ops.sin(ops.view(ops.view(x, (6, 1)), (3, 2))),
    "permute_permute": lambda x: ops.sin(ops.permute(ops.permute(ops.view(x, (1, 2, 3)), (2, 0, 1)),
                                                     (2, 0, 1))),
    "expand_expand": lambda x: ops.sin(ops.expand(ops.expand(x, (4, 2, 3)), (5, 4, 2, 3))),
    "add_negated": lambda x: ops.add(ops.neg(x), ops.sin(x)),
    "subtract_negated": lambda x: ops.sub(x, ops.neg(ops.sin(x))),
    "square": lambda x: ops.pow(x, 2),
    "cube": lambda x: ops.pow(x, 3),
    "square_root": lambda x: ops.pow(x, 0.5),
    "halves": lambda x: ops.div(x, -8),
    "not_chosen": lambda x: ops.where(ops.logical_not(ops.gt(x, 0)), x, ops.sin(x)),
}


@pytest.mark.parametrize("name", FOUND)
def test_every_pattern_is_found(name):
    graph = graph_of(FOUND[name], floats(2, 3))
    with trace.record() as recorded:
        after = verify(simplify(graph))
    assert name in [event.why.split(":")[0] for event in recorded.of(trace.Rewrite)]
    assert len(after.calls) <= len(graph.calls) + (name == "cube")
    assert after.outputs[0].meta == graph.outputs[0].meta


def test_patterns_on_whole_numbers_and_bools():
    whole = graph_of(lambda x: ops.neg(ops.add(x, 0)), TensorMeta.contiguous((3,), dtypes.int64))
    assert lines(simplify(whole)) == ["neg = torch.neg(x)", "return (neg,)"]
    bits = graph_of(lambda x: ops.where(ops.bitwise_not(ops.bitwise_not(ops.logical_not(
        ops.logical_not(x)))), x, x), TensorMeta.contiguous((3,), dtypes.bool))
    assert [n.target_name for n in simplify(bits).calls] == ["where"]  # returned: not the input


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.neg(ops.add(x, 0)),  # -0.0 + 0.0 is 0.0
        lambda x: ops.neg(ops.sub(x, -0.0)),
        lambda x: ops.neg(ops.mul(x, 0)),  # inf * 0 is nan
        lambda x: ops.neg(ops.mul(x, -1)),
        lambda x: ops.mul(ops.mul(x, 0.1), 10.0),  # rounded twice
        lambda x: ops.log(ops.softmax(x, 0)),
        lambda x: ops.div(x, 3),
        lambda x: ops.div(x, 2.0**140),  # the reciprocal has fewer digits
        lambda x: ops._to_copy(ops._to_copy(x, dtypes.int64), dtypes.float32),
        lambda x: ops.mul(x, True),
    ],
)
def test_what_would_change_a_bit_stays(function):
    graph = graph_of(function, floats(4))
    assert lines(simplify(graph)) == lines(graph)


@pytest.mark.parametrize("wide", [dtypes.int64, dtypes.float32])
@pytest.mark.parametrize("function", [
    lambda x, y: ops.add(x, ops.neg(y)),
    lambda x, y: ops.sub(x, ops.neg(y)),
])
def test_the_smallest_integer_has_its_negative_in_a_wider_type_alone(function, wide):
    """-(-2**31) is -2**31 in 32 bits."""
    few, many = (TensorMeta.contiguous((3,), dtype) for dtype in (dtypes.int32, wide))
    graph = graph_of(function, many, few)
    assert lines(simplify(graph)) == lines(graph)
    assert len(simplify(graph_of(function, few, few)).calls) == 1
    assert len(simplify(graph_of(function, few, floats(3))).calls) == 1


def test_a_type_that_changes_stays():
    graph = graph_of(lambda x: ops.neg(ops.mul(x, 1.0)), TensorMeta.contiguous((3,), dtypes.int64))
    assert len(simplify(graph).calls) == 2


def test_what_is_returned_stays_a_tensor_of_its_own():
    graph = graph_of(lambda x: (ops.mul(x, 1), ops.view(ops.mul(x, 1), (4, 1))), floats(4))
    assert [n.target_name for n in simplify(graph).calls] == ["mul", "mul", "view"]


def test_a_layout_that_changes_stays():
    wide = lambda x: ops.neg(ops.mul(ops.expand(x, (3, 4)), 1))  # mul makes it contiguous
    assert len(simplify(graph_of(wide, floats(4))).calls) == 3


def test_replacements_are_looked_at_again():
    twice = lambda x: ops.neg(ops.neg(x))
    graph = graph_of(lambda x: ops.sin(twice(ops.mul(twice(x), 1))), floats(4))
    assert lines(simplify(graph)) == ["sin = torch.sin(x)", "return (sin,)"]


def test_a_pattern_of_ones_own():
    def scaled(x, a: Constant, b: Constant):
        return ops.mul(ops.mul(x, a), b)

    pattern = Pattern("scaled", scaled, lambda x, a, b: ops.mul(x, a * b), "not exact, for a test")
    graph = graph_of(lambda x: ops.mul(ops.mul(x, 2.0), 3.0), floats(4))
    assert lines(replace_patterns(graph, [pattern], "mine")) == [
        "mul_2 = torch.mul(x, 6.0)", "return (mul_2,)",
    ]


def test_a_replacement_is_told_with_its_reason():
    graph = graph_of(lambda x: ops.sin(ops.mul(x, 1)), floats(4))
    with trace.record() as recorded:
        simplify(graph)
    assert recorded.text("passes") == (
        "simplify: mul = torch.mul(x, 1) became x; times_one: a factor of 1 changes no\n"
        "    number, nor -0.0, an infinity or nan"
    )
