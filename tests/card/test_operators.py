"""Every operator on its samples, on a card, gives what it gives on the host; also written in place,
and in the other layouts."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import labcore as torch
from labcore import dtypes, ops
from labcore.tensor import Tensor, from_numpy
from labcore.tensor.cuda import card_in_use
from tests.ops.samples import CASES
from tests.ops.test_samples import DRAWN, IDS, OF_CAPTURE

from .cards import KINDS, card_of

# A sum of squares that cancels out has its error from the largest square.
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}
ELSEWHERE = DRAWN | OF_CAPTURE | {"_to_device"}
WRITTEN = [name for name, op in ops.OPS.items() if op.mutates]


@pytest.fixture(params=KINDS[1:], autouse=True)
def card(request, monkeypatch, tmp_path):
    with card_of(request.param, monkeypatch, tmp_path / "cache"):
        yield request.param


def mapped(value, change):
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(v, change) for v in value])
    return value


def single(array):
    return array.astype(np.float32) if array.dtype == np.float64 else array


def results(value):
    return [value] if isinstance(value, Tensor) else [v for v in value if isinstance(v, Tensor)]


def same(found, want):
    for ours, theirs in zip(results(found), results(want), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert all(a == b for n, a, b in zip(ours.shape, ours.stride(), theirs.stride()) if n > 1)
        tolerance = TOLERANCE.get(theirs.dtype.name, 0)
        assert str(ours.device) == "cuda:0"
        torch.testing.assert_close(ours.cpu(), theirs, rtol=tolerance, atol=tolerance,
                                   equal_nan=True, check_stride=False)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_sample(case):
    name, args, kwargs = case
    if name in ELSEWHERE or not any(isinstance(a, np.ndarray) for a in args):
        pytest.skip("makes something from nothing, goes elsewhere, or is for capture alone")
    op = ops.OPS[name]
    for change in (lambda a: a, single):
        made = []
        for place in ("cpu", "cuda"):
            given, named = [mapped(v, lambda a: from_numpy(change(a).copy("K")).to(place))
                            for v in (args, tuple(kwargs.items()))]
            with torch.no_grad(), np.errstate(all="ignore"):
                made.append(op(*given, **dict(named)))
        same(made[1], made[0])


@pytest.mark.parametrize("name", WRITTEN)
def test_written_in_place(name):
    """Into all of a tensor, and into parts of it that lie apart."""
    op = ops.OPS[name]
    rng = np.random.default_rng(0)
    for view in (lambda t: t, lambda t: t[1:, ::2], lambda t: t.t()[::3]):
        base = np.abs(rng.standard_normal((6, 8))).astype(np.float32) + 0.5
        if name.startswith("bitwise"):
            base = rng.integers(0, 50, (6, 8))
        base = base > 0.9 if name == "logical_not_" else base
        other = np.ascontiguousarray(base[::-1, ::-1])
        made = []
        for place in ("cpu", "cuda"):
            x = from_numpy(base.copy()).to(place)
            y = view(from_numpy(other.copy()).to(place))
            wants = op.functional.parameters
            if name == "fill_":
                op(view(x), 3)
            elif name == "clamp_":
                op(view(x), 0.6, 1.0)
            else:
                op(view(x), *[y] * (len(wants) > 1 and wants[1] in ("other", "src", "exponent")))
            made.append(x)
        same(made[1], made[0])


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda t: t.name)
def test_types_go_there_and_back(dtype):
    x = torch.tensor([[0, 1, 2], [3, 0, 5]]).to(dtype)
    for tensor in (x, x.t(), x[:, 1:], x[0, 0], x[:0]):
        there = tensor.to("cuda")
        assert there.cpu().tolist() == tensor.tolist() == there.tolist()
        assert there.dtype is dtype


def test_what_numpy_would_read():
    """What the host is told goes over the bus."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).cuda()
    assert x[1, 0].item() == 3.0 and float(x[0, 1]) == 2.0 and bool((x > 0).all())
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]] and 3.0 in x
    assert repr(x[0]) == "tensor([1., 2.], device='cuda:0')" and f"{x[0, 0]:.1f}" == "1.0"
    assert torch.equal(x, x.clone()) and torch.allclose(x, x + 1e-9)
    assert torch.tensor(x).tolist() == x.tolist() and x.numpy(force=True).sum() == 10.0
    import copy
    import pickle

    copies = copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x)), copy.deepcopy(x.t())
    for other in copies:
        assert str(other.device) == "cuda:0" and sorted(sum(other.tolist(), [])) == [1, 2, 3, 4]
    assert [float(v) for v in x.reshape(-1)] == [1.0, 2.0, 3.0, 4.0]


def test_between_devices_in_place():
    x, y = torch.zeros(2, 3), torch.arange(6.0).reshape(2, 3)
    there = x.cuda()
    there.copy_(y)
    x.copy_(there * 2)
    assert there.cpu().tolist() == y.tolist() and x.tolist() == (y * 2).tolist()
    there[:, 1] = torch.tensor([7.0, 8.0]).cuda()
    there[0].copy_(there[1].clone())
    assert there.tolist() == [[3.0, 8.0, 5.0]] * 2


@pytest.mark.parametrize(("a", "b"), [
    ((4, 5), (5, 6)), ((5,), (5,)), ((4, 5), (5,)), ((5,), (5, 6)), ((2, 4, 5), (5, 6)),
    ((2, 4, 5), (2, 5, 6)), ((3, 2, 4, 5), (2, 5, 6)), ((3, 1, 4, 5), (1, 2, 5, 3)),
    ((0, 5), (5, 6)), ((4, 0), (0, 6)), ((1, 1), (1, 1)), ((2, 4, 5), (5,)),
])
def test_matrix_products(a, b):
    rng = np.random.default_rng(0)
    x, y = [from_numpy(rng.standard_normal(s).astype(np.float32)) for s in (a, b)]
    turned = [lambda t: t, lambda t: t.transpose(-1, -2).contiguous().transpose(-1, -2)
              if t.ndim > 1 else t, lambda t: torch.cat([t, t], -1)[..., ::2][..., : t.shape[-1]]]
    for left in turned:
        for right in turned:
            u, v = left(x), right(y)
            if u.shape[-1] == v.shape[-2 if v.ndim > 1 else 0]:
                torch.testing.assert_close((u.cuda() @ v.cuda()).cpu(), u @ v, rtol=1e-5, atol=1e-5)
    i = torch.arange(6).reshape(2, 3)
    assert (i.cuda() @ i.cuda().t()).tolist() == (i @ i.t()).tolist()


def test_what_was_compiled_for_a_card_goes_with_it(monkeypatch, tmp_path):
    """Kernels are in the memory of one card, and the next card may lie at its address."""
    with card_of("of paper", monkeypatch, tmp_path / "another"):
        torch.ones(3, device="cuda") + 1
        another = weakref.ref(card_in_use())
        assert len(another().kept) == 1
    gc.collect()
    assert another() is None
