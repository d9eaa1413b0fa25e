"""The handle: what a tensor says of itself, what it shares, how it leaves the lab."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import labcore as torch


def test_layout_of_a_view():
    x = torch.arange(24).view(2, 3, 4)
    y = x.transpose(0, 2)[1]
    assert (y.shape, y.stride(), y.storage_offset()) == ((3, 2), (4, 12), 1)
    assert isinstance(y.shape, torch.Size) and y.shape.numel() == 6
    assert y._base is x._base and not y.is_contiguous() and y.contiguous().is_contiguous()
    assert y.data_ptr() == x.data_ptr() + y.element_size()
    assert (y.dim(), y.numel(), y.size(0), y.stride(-1)) == (2, 6, 3, 12)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        y.size(2)


def test_sizes_stay_sizes():
    size = torch.ones(2, 3).shape
    assert size + (4,) == (2, 3, 4) and isinstance(size + (4,), torch.Size)
    assert isinstance((4,) + size, torch.Size) and isinstance(size[1:], torch.Size)
    assert repr(size) == "torch.Size([2, 3])" and hash(size) == hash((2, 3))


def test_views_share_storage_and_version():
    x = torch.zeros(2, 2)
    row, column = x[0], x.t()[0]
    column.add_(1)
    assert x.tolist() == [[1, 0], [1, 0]] and row.tolist() == [1, 0]
    assert x._version == row._version == column._version == 1
    assert x.detach()._version == 1 and x.data._version == 0
    x.data.add_(1)
    assert x._version == 1, "a write through .data is not counted"
    assert x.clone()._version == 0


def test_type_is_exact_and_slots_are_closed():
    x = torch.ones(2)
    assert type(x) is torch.Tensor and type(x + 1) is torch.Tensor
    with pytest.raises(AttributeError):
        x.anything = 1
    assert torch.Tensor([1, 2]).dtype is torch.float32 and torch.Tensor(2, 3).shape == (2, 3)


def test_numpy_shares_memory():
    x = torch.ones(3)
    array = x.numpy()
    array[0] = 5
    x[1] = 7
    assert x.tolist() == [5, 7, 1] == array.tolist()
    assert np.asarray(x).base is not None and np.array(x).dtype == np.float32
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        torch.ones(3, requires_grad=True).numpy()
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.array(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: bool(x),
            RuntimeError,
            "Boolean value of Tensor with more than one value is ambiguous",
        ),
        (
            lambda x: bool(x[:0]),
            RuntimeError,
            "Boolean value of Tensor with no values is ambiguous",
        ),
        (
            lambda x: float(x),
            ValueError,
            "only one element tensors can be converted to Python scalars",
        ),
        (
            lambda x: x.item(),
            RuntimeError,
            "a Tensor with 3 elements cannot be converted to Scalar",
        ),
        (lambda x: [1, 2][x[0]], TypeError, "only integer tensors of a single element"),
        (lambda x: len(x[0]), TypeError, "len() of a 0-d tensor"),
        (lambda x: list(x[0]), TypeError, "iteration over a 0-d tensor"),
        (lambda x: x + "a", TypeError, "unsupported operand type(s) for +: 'Tensor' and 'str'"),
        (lambda x: f"{x:.2f}", TypeError, "unsupported format string passed to Tensor.__format__"),
        (lambda x: ~x, TypeError, "~ (operator.invert) is only implemented on integer and Boolean"),
        (
            lambda x: x + torch.ones(2),
            RuntimeError,
            "The size of tensor a (3) must match the size of tensor b (2)",
        ),
        (lambda x: x.to("cuda"), RuntimeError, "device 'cuda' is not available"),
        (lambda x: x.nothing, AttributeError, "nothing"),
        (lambda x: torch.add(x), TypeError, "add()"),
        (lambda x: torch.relu(x, inplace=True), TypeError, "relu()"),
        (lambda x: torch.add(x, x.numpy()), TypeError, "expected a Tensor but got a numpy.ndarray"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error) as caught:
        call(torch.ones(3))
    assert text in str(caught.value)


def test_to_numbers():
    assert float(torch.tensor([2.5])) == 2.5 and int(torch.tensor(2.9)) == 2
    assert ["a", "b"][torch.tensor(1)] == "b"
    assert torch.tensor([[1, 2]]).tolist() == [[1, 2]] and torch.tensor(True).item() is True
    assert f"{torch.tensor(3.14159):.2f}" == "3.14" and 2.0 in torch.tensor([1.0, 2.0])
    assert [t.item() for t in torch.tensor([4, 5])] == [4, 5]


def test_operands_on_both_sides():
    x = torch.tensor([1.0, 2.0])
    assert (1 - x).tolist() == [0, -1] and (2 / x).tolist() == [2, 1] and (2**x).tolist() == [2, 4]
    assert (
        (x // 2).tolist() == [0, 1] and (-x % 3).tolist() == [2, 1] and (5 // x).tolist() == [5, 2]
    )
    assert (x * np.float32(2)).dtype is torch.float32 and (np.float64(2) * x).tolist() == [2, 4]
    assert (x + np.ones(2)).dtype is torch.float64
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert (torch.tensor([1, 3]) & 1).tolist() == [1, 1] and (~torch.tensor([True])).tolist() == [
        False
    ]
    assert (torch.ones(2, 3) @ torch.ones(3)).tolist() == [3, 3]
    y, same = x, x.data_ptr()
    y += 1
    y *= 2
    y **= 2
    assert y is x and x.data_ptr() == same and x.tolist() == [16, 36]


def test_to_returns_itself_when_nothing_changes():
    x = torch.ones(2)
    assert x.to(torch.float32) is x and x.float() is x and x.cpu() is x and x.contiguous() is x
    assert x.to(torch.float32, copy=True) is not x
    assert x.double().dtype is torch.float64 and x.to(torch.tensor(1)).dtype is torch.int64
    assert x.long().bool().int().dtype is torch.int32


def test_copies():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.zeros(2)
    deep = copy.deepcopy({"a": x, "b": x})
    assert (
        deep["a"] is deep["b"] is not x and deep["a"].requires_grad and deep["a"].grad is not x.grad
    )
    assert copy.copy(x).data_ptr() == x.data_ptr()
    back = pickle.loads(pickle.dumps(x))
    assert back.requires_grad and back.tolist() == [1, 1] and back.dtype is torch.float32
    for function in (copy.deepcopy, pickle.dumps):
        with pytest.raises(RuntimeError):
            function(x * 2)


def test_deep_copies_share_memory_as_the_tensors_do():
    x = torch.arange(6.0).view(2, 3)
    column = x[:, ::2]
    whole, part, apart, detached = copy.deepcopy([x, column, x.clone(), x.data])
    whole.mul_(10)
    assert part.tolist() == [[0, 20], [30, 50]] and part.stride() == (3, 2)
    assert detached.tolist() == whole.tolist() != apart.tolist() == x.tolist()
    assert copy.deepcopy(torch.zeros(0, 3)).stride() == (3, 1)


def test_hash_is_identity():
    x, y = torch.ones(2), torch.ones(2)
    assert {x: 1, y: 2}[x] == 1 and len({x, y, x}) == 2


def test_as_strided_and_data():
    x = torch.arange(6.0)
    assert x.as_strided((2, 2), (3, 1), 1).tolist() == [[1, 2], [4, 5]]
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 24"):
        x.as_strided((7,), (1,))
    with pytest.raises(RuntimeError, match="not recorded"):
        torch.ones(2, requires_grad=True).as_strided((1,), (1,))
    x.data = torch.zeros(2)
    assert x.tolist() == [0, 0] and x.shape == (2,)


def test_empty_strided_has_exactly_this_layout():
    for shape, stride in [
        ((2, 3), (3, 1)),
        ((2, 3), (1, 2)),
        ((2, 0), (1, 1)),
        ((), ()),
        ((3,), (2,)),
    ]:
        x = torch.empty_strided(shape, stride, torch.float64)
        assert (x.shape, x.stride(), x._stride, x.dtype) == (shape, stride, stride, torch.float64)
        assert x.array.shape == shape and x.array.strides == tuple(8 * s for s in stride)
        assert x.fill_(2).tolist() == torch.full(shape, 2.0).tolist()
