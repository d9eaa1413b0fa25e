# ruff: noqa: E501  the texts are quoted whole
"""Errors have PyTorch's text and type, name the operator in a note, and come from kernel and meta."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import dtypes, ops
from labcore.ops.arrays import meta_of

F = np.ones((2, 3), np.float32)
D = np.ones((3, 2), np.float64)
I = np.arange(3)
B = np.array([True, False, True])
SINGLE = np.ones(3, np.float32)
EMPTY = np.ones(0, np.float32)

CASES = [
    ("add", (F, np.ones(4)), RuntimeError, "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"),
    ("sub", (B, B), RuntimeError, "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."),
    ("sub", (1, B), RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."),
    ("neg", (B,), RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."),
    ("relu", (B,), RuntimeError, "Boolean inputs not supported for relu"),
    ("abs", (B,), NotImplementedError, "\"abs_cpu\" not implemented for 'Bool'"),
    ("add", (I, I, 1.5), RuntimeError, "For integral input tensors, argument alpha must not be a floating point number."),
    ("add", (F, F, True), RuntimeError, "Boolean alpha only supported for Boolean results."),
    ("mul", (F, 2**70), OverflowError, "int too big to convert"),
    ("pow", (I, -1), RuntimeError, "Integers to negative integer powers are not allowed."),
    ("bitwise_and", (F, F), NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    ("where", (F, F, F), RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype Float"),
    ("where", (B, I.astype(np.int32), 2**40), RuntimeError, "value cannot be converted to type int without overflow"),
    ("clamp", (F,), RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
    ("mean", (I,), RuntimeError, "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long"),
    ("sum", (F, 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
    ("sum", (F, (0, -2)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
    ("amax", (EMPTY,), RuntimeError, "amax(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."),
    ("amin", (EMPTY, 0), IndexError, "amin(): Expected reduction dim 0 to have non-zero size."),
    ("view", (F, (4,)), RuntimeError, "shape '[4]' is invalid for input of size 6"),
    ("view", (F.T, (6,)), RuntimeError, "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead."),
    ("reshape", (F, (-1, -1)), RuntimeError, "only one dimension can be inferred"),
    ("expand", (SINGLE, (4,)), RuntimeError, "The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 0.  Target sizes: [4].  Tensor sizes: [3]"),
    ("transpose", (F, 0, 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
    ("permute", (F, (0, 0)), RuntimeError, "permute(): duplicate dims are not allowed."),
    ("select", (SINGLE, 0, 3), IndexError, "select(): index 3 out of range for tensor of size [3] at dimension 0"),
    ("slice", (SINGLE, 0, 1, 2, 0), RuntimeError, "slice step must be positive"),
    ("t", (np.ones((1, 1, 1)),), RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is 3D"),
    ("flatten", (F, 1, 0), RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim"),
    ("matmul", (F, F), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    ("matmul", (F, D), RuntimeError, "expected m1 and m2 to have the same dtype, but got: float != double"),
    ("matmul", (F, np.ones(4, np.float32)), RuntimeError, "size mismatch, got input (2), mat (2x3), vec (4)"),
    ("cat", ([],), ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    ("cat", ([F, F.T],), RuntimeError, "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for tensor number 1 in the list."),
    ("stack", ([F, F.T],), RuntimeError, "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [3, 2] at entry 1"),
    ("full", ((2,), 2**40, dtypes.int32), RuntimeError, "value cannot be converted to type int without overflow"),
    ("zeros", ((2, -1),), RuntimeError, "zeros: Dimension size must be non-negative."),
    ("arange", (0, 1, 0), RuntimeError, "step must be nonzero"),
    ("rand", ((2,), dtypes.int64), NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
    ("add_", (np.ones((1, 3), np.float32), F), RuntimeError, "output with shape [1, 3] doesn't match the broadcast shape [2, 3]"),
    ("add_", (I.copy(), SINGLE), RuntimeError, "result type Float can't be cast to the desired output type Long"),
    ("exp_", (I.copy(),), RuntimeError, "result type Float can't be cast to the desired output type Long"),
    ("mul_", (np.broadcast_to(SINGLE, (2, 3)), 2), RuntimeError, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation."),
    ("copy_", (np.ones((1, 3)), F), RuntimeError, "output with shape [1, 3] doesn't match the broadcast shape [2, 3]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "args", "kind", "text"), CASES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_text(name, args, kind, text):
    op = ops.OPS[name]
    for call, given in ((op.meta, meta_of(args)), (op.kernel, args)):
        with pytest.raises(kind) as caught:
            call(*given)
        assert type(caught.value) is kind
        assert str(caught.value) == text
        assert any(note.startswith(f"in {name}(") for note in caught.value.__notes__)


def test_the_note_shows_the_operands():
    with pytest.raises(RuntimeError) as caught:
        ops.mul.kernel(F, np.ones((2, 4)))
    assert caught.value.__notes__ == ["in mul(float32[2, 3], float64[2, 4])"]


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_integers_divided_by_zero(name):
    with pytest.raises(RuntimeError, match="^ZeroDivisionError$"):
        ops.OPS[name].kernel(I, 0)
    assert ops.OPS[name].kernel(I[:0], 0).shape == (0,)


def test_overlapping_writes_are_refused():
    memory = np.arange(5.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        ops.add_.kernel(memory[1:], memory[:-1])
    square = np.arange(4.0).reshape(2, 2)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        ops.copy_.kernel(square, square.T)
    np.testing.assert_array_equal(ops.add_.kernel(memory, memory), [0, 2, 4, 6, 8])


def test_wrong_arguments_name_the_operator():
    with pytest.raises(TypeError, match=r"add\(\): missing a required argument: 'other'"):
        ops.add.bind((F,), {})
    with pytest.raises(AttributeError, match="no operator 'fancy'"):
        ops.fancy


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_a_tensor_whose_gradient_would_be_lost_is_no_number(backend):
    def grown(x, slope):
        return torch.nn.functional.leaky_relu(x, slope)

    run = torch.compile(grown, backend=backend) if backend else grown
    x, slope = torch.tensor([-1.0, 1.0]), torch.tensor(0.5)
    assert run(x, slope).tolist() == [-0.5, 1.0]
    for wrong in (torch.tensor(0.5, requires_grad=True), torch.ones(1)):
        with pytest.raises(TypeError, match=r"'negative_slope' \(position 2\) must be Number, not T"):
            run(x, wrong)


def test_a_programs_own_operator_may_have_a_tensor_by_such_a_name(tables_as_before):
    @torch.library.operator
    def scaled_by(x, scale):
        return x * scale

    scale = torch.tensor(3.0, requires_grad=True)
    torch.compile(lambda x: scaled_by(x, scale), backend="aot_eager")(torch.ones(2)).sum().backward()
    assert scale.grad.item() == 2


def test_a_graph_says_an_operator_as_the_program_does():
    """Without the numbers that it left out."""
    told = []

    def backend(gm, inputs):
        told.extend((node.args[1:], node.kwargs) for node in gm.graph.calls)
        return gm.forward

    torch.compile(lambda x: torch.add(x + 1, 2, alpha=3), backend=backend)(torch.ones(2))
    assert told == [((1,), {}), ((2,), {"alpha": 3})]
