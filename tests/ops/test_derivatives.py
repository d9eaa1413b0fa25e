"""Each rule against numeric differentiation; kinks, broadcasting, types, what a tape keeps."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import dtypes, ops
from labcore.graph import Graph, TensorMeta, verify
from labcore.ops import derivatives, dispatch
from labcore.ops.arrays import meta_of

from .interpreter import analytic, compute
from .samples import CASES as SAMPLES

# Operators that consist of others have no rules to test here; test_samples.py differentiates all.
CASES = [
    case
    for case in SAMPLES
    if ops.OPS[case[0]].derivatives and case[0] != "_with_history"
]


def weighted(op, args, kwargs, weights):
    return float((compute(op, *args, **kwargs) * weights).sum())


def numeric(op, args, kwargs, target, weights, step=1e-6):
    """Central differences with respect to the array `target`, one of the arguments."""
    found = np.zeros(target.shape)
    for index in np.ndindex(target.shape):
        value = target[index]
        target[index] = value + step
        above = weighted(op, args, kwargs, weights)
        target[index] = value - step
        found[index] = (above - weighted(op, args, kwargs, weights)) / (2 * step)
        target[index] = value
    return found


def label(case):
    name, args, kwargs = case
    return (
        name
        + "-"
        + "-".join(
            str(np.shape(a)) if isinstance(a, np.ndarray) else type(a).__name__ for a in args
        )
    )


@pytest.mark.parametrize("case", CASES, ids=label)
def test_rule(case):
    name, args, kwargs = case
    op = ops.OPS[name]
    args = [
        [t.copy() for t in a]
        if isinstance(a, list)
        else a.copy(order="K")
        if isinstance(a, np.ndarray)
        else a
        for a in args
    ]
    weights = np.cos(np.arange(1.0, 1 + compute(op, *args, **kwargs).size)).reshape(
        compute(op, *args, **kwargs).shape
    )
    bound = op.bind(tuple(args), kwargs)
    wanted = [p for p in op.derivatives if isinstance(bound[p], (np.ndarray, list))]
    assert wanted
    found = analytic(op, tuple(args), kwargs, weights, wanted)
    for param in wanted:
        targets = bound[param] if isinstance(bound[param], list) else [bound[param]]
        results = found[param] if isinstance(bound[param], list) else [found[param]]
        assert len(targets) == len(results)
        for target, result in zip(targets, results):
            assert result.shape == target.shape and result.dtype == target.dtype
            if (name, param) == ("copy", "input"):
                assert not result.any()
                continue
            np.testing.assert_allclose(
                result, numeric(op, args, kwargs, target, weights), rtol=1e-6, atol=1e-7
            )


def test_every_rule_has_a_case():
    tried = {name for name, _, _ in CASES}
    untrue = {"_with_history"}  # its gradient is another tensor's
    assert {name for name, op in ops.OPS.items() if op.derivatives} - untrue == tried


def test_operators_without_slope_have_no_rule():
    names = "eq gt logical_and bitwise_or isnan floor_divide any all zeros full_like rand arange"
    for name in names.split():
        assert not ops.OPS[name].derivatives


def one(name, *args, wanted="input", grad=None, **kwargs):
    out = compute(ops.OPS[name], *args, **kwargs)
    return analytic(
        ops.OPS[name], args, kwargs, np.ones_like(out) if grad is None else grad, [wanted]
    )[wanted]


ZERO = np.array([0.0, -0.0])
INF = float("inf")


@pytest.mark.parametrize(
    ("name", "args", "wanted", "expected"),
    [
        ("relu", (ZERO,), "input", [0, 0]),
        ("abs", (ZERO,), "input", [0, 0]),
        ("sqrt", (ZERO,), "input", [INF, -INF]),
        ("maximum", (np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), "input", [0.5, 0, 1]),
        ("maximum", (np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), "other", [0.5, 1, 0]),
        ("minimum", (np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), "input", [0.5, 1, 0]),
        ("clamp", (np.array([-1.0, 0, 0.5, 1, 2]), 0.0, 1.0), "input", [0, 1, 1, 1, 0]),
        ("amax", (np.array([2.0, 1, 2, 2]),), "input", [1 / 3, 0, 1 / 3, 1 / 3]),
        ("amin", (np.array([[1.0, 1], [0, 2]]), 1), "input", [[0.5, 0.5], [1, 0]]),
        ("pow", (ZERO, 0), "input", [0, 0]),
        ("pow", (np.array([0.0, 2.0]), np.array([0.0, 0.0])), "input", [0, 0]),
        ("pow", (np.array([0.0, 0.0]), np.array([2.0, 0.0])), "exponent", [0, 0]),
        ("pow", (0.0, np.array([1.0, 0.0])), "exponent", [0, 0]),
        ("pow", (np.array([0.0]), 0.5), "input", [INF]),
        ("sign", (np.array([-2.0, 0.0]),), "input", [0, 0]),
        (
            "where",
            (np.array([True, False]), np.array([1.0, 2.0]), np.array([INF, INF])),
            "input",
            [1, 0],
        ),
    ],
)
def test_kinks_and_corners(name, args, wanted, expected):
    np.testing.assert_array_equal(one(name, *args, wanted=wanted), np.array(expected, np.float64))


def test_gradients_are_cast_back():
    single = np.ones(3, np.float32)
    found = analytic(ops.mul, (single, np.full((2, 3), 2.0)), {}, np.ones((2, 3)), ["input"])[
        "input"
    ]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [4, 4, 4])
    mixed = analytic(ops.cat, ([single, np.ones(2)],), {}, np.arange(5.0), ["tensors"])["tensors"]
    assert [g.dtype for g in mixed] == [np.float32, np.float64]


@pytest.mark.parametrize(
    ("name", "wanted", "kept"),
    [
        ("add", ["input", "other"], ()),
        ("mul", ["input"], ("other",)),
        ("mul", ["input", "other"], ("other", "input")),
        ("relu", ["input"], ("out",)),
        ("exp", ["input"], ("out",)),
        ("log", ["input"], ("input",)),
        ("matmul", ["other"], ("input",)),
        ("where", ["input"], ("condition",)),
        ("amax", ["input"], ("input", "out")),
    ],
)
def test_saves(name, wanted, kept):
    found = derivatives.saves(ops.OPS[name], wanted)
    assert tuple(n for n in found if n not in ("dim", "keepdim", "alpha")) == kept


def test_saves_nothing_of_a_sum():
    op = ops.sum
    assert not {"input", "out"} & set(derivatives.saves(op, ["input"]))


def test_a_rule_cannot_name_what_is_not_there():
    with pytest.raises(ValueError, match="no parameter"):
        derivatives.derivative("relu", input=lambda grad, weight: grad)


def test_the_same_rules_write_a_graph():
    graph = Graph()
    x = graph.placeholder("x", TensorMeta.contiguous((2, 3), dtypes.float32))
    bias = graph.placeholder("bias", TensorMeta.contiguous((3,), dtypes.float32))
    grad = graph.placeholder("grad", TensorMeta.contiguous((2, 3), dtypes.float32))
    with dispatch.interpreting(ops.Tracer(graph)):
        added = ops.add(x, bias)
        active = ops.relu(added)
        inner = derivatives.gradients(ops.relu, {"input": added.meta}, active, grad, ["input"])[
            "input"
        ]
        found = derivatives.gradients(
            ops.add, ops.add.bind((x, bias), {}), added, inner, ["input", "other"]
        )
    graph.output((active, found["input"], found["other"]))
    verify(graph, functional=True)
    assert [node.target_name for node in graph.calls] == [
        "add",
        "relu",
        "le",
        "where",
        "sum",
        "view",
    ]
    assert found["other"].meta == TensorMeta.contiguous((3,), dtypes.float32)
    assert found["input"] is inner


def test_tracing_can_take_composites_apart():
    graph = Graph()
    x = graph.placeholder("x", TensorMeta((3, 2), (1, 3), dtypes.float32))
    with dispatch.interpreting(ops.Tracer(graph, decompose=True)):
        out = ops.flatten(ops.to(x, dtypes.float64))
        assert ops.contiguous(out) is out
    assert [node.target_name for node in graph.calls] == ["_to_copy", "_reshape_copy"]
    assert meta_of(compute(ops.flatten, np.ones((2, 3)).T)).shape == (6,)


def test_the_gradient_of_a_transposed_matrix_lies_as_it_does():
    """A layer's weight comes transposed: its gradient is used as it is, not copied into order."""
    x = torch.randn(6, 5, dtype=torch.float64)
    w = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    given = torch.randn(6, 4, dtype=torch.float64)
    (found,) = torch.autograd.grad(x @ w.t(), [w], given)
    assert found.stride() == (5, 1)
    assert np.allclose(found.numpy(), given.numpy().T @ x.numpy(), rtol=1e-12)
    ones = torch.ones(4, 3, dtype=torch.float64)
    (found,) = torch.autograd.grad((w.t() @ ones).sum(), [w])
    assert found.stride() == (5, 1) and np.allclose(found.numpy(), 3.0)
