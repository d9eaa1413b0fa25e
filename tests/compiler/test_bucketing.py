"""Padding to a few sizes: the same results, few variants, a bill, and refusal where it shows."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, strategies as st

import labcore as torch
from labcore.compiler import bucketed
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.exc import PaddingError
from labcore.testing import assert_close


def scaled(x):
    return torch.relu(x * 2 + 1)


def pooled(x, mask):
    y = x * mask.unsqueeze(1)
    return y + 1, y.sum(0) / mask.sum()


def softmax(x):
    e = (x - x.amax(0, True)).exp()
    return e / e.sum(0, True)


def ready(fn, **told):
    return bucketed(fn, **{"sizes": (4, 8), "pad": {"x": 0.0}, "backend": "eager", **told})


def test_the_bill():
    counter = CompileCounter()
    fn = bucketed(scaled, sizes=(128, 256, 512), pad={"x": 0.0}, backend=counter)
    for n in (100, 120, 200, 90, 256, 300):
        x = torch.randn(n)
        assert_close(fn(x), scaled(x))
    costs = fn.costs()
    assert (costs.calls, costs.variants, costs.elements, costs.padding) == (6, 3, 1066, 342)
    assert counter.frame_count == 3
    assert str(costs).split("\n")[1].split() == "128 3 1 310 74 24 %".split()
    assert str(costs).split("\n")[-1].split() == "in all 6 3 1066 342 32 %".split()


def test_the_padded_axis_is_static_and_the_others_are_dynamic():
    fn = ready(scaled, sizes=(4,))
    for rows, columns in ((3, 5), (4, 5), (2, 6), (3, 7), (1, 8)):
        x = torch.randn(rows, columns)
        assert_close(fn(x), scaled(x))
    assert fn.costs().variants == 2


def test_hot_lengths_and_those_beyond_are_not_padded():
    fn = ready(scaled, hot=(3,))
    for n in (3, 3, 9, 10, 25, 0):
        assert_close(fn(torch.ones(n)), scaled(torch.ones(n)))
    assert [(b.size, b.calls, b.padding) for b in fn.costs().buckets] == [
        (3, 2, 0), (4, 0, 0), (8, 0, 0), (None, 4, 0),
    ]  # fmt: skip
    assert fn.costs().buckets[-1].variants == 2  # 9, 10 and 25 are one; nothing is another


def test_several_arguments_and_results():
    fn = ready(pooled, pad={"x": 0.0, "mask": 0.0}, cut=(0, None))
    for n in (3, 4, 7):
        x, mask = torch.randn(n, 2), torch.ones(n)
        assert_close(fn(x, mask=mask), pooled(x, mask))


def test_another_axis():
    fn = ready(lambda x: softmax(x.t()).t(), axis=-1, cut=-1, pad={"x": -math.inf})
    for n in (3, 5, 8):
        x = torch.randn(2, n)
        assert_close(fn(x), softmax(x.t()).t())


def test_gradients_are_those_of_the_unpadded_call():
    fn = bucketed(softmax, sizes=(8,), pad={"x": -math.inf})
    for n in (3, 5, 8):
        gradients = []
        for function in (softmax, fn):
            x = torch.arange(n).float().requires_grad_()
            (function(x) * torch.arange(n)).sum().backward()
            gradients.append(x.grad)
        assert_close(*gradients)


def test_it_is_a_decorator():
    @bucketed(sizes=(4,), pad={"x": 0.0}, backend="eager")
    def named(x):
        return x + 1

    assert named.__name__ == "named" and named(torch.ones(3)).tolist() == [2.0] * 3


# ---- where padding shows ------------------------------------------------------------------------


def adds_in_place(x):
    x.add_(1)
    return x * 2


@pytest.mark.parametrize(
    ("fn", "told", "said"),
    [
        (softmax, {}, "Tensor-likes are not close"),
        (lambda x: x.mean(), {"cut": None}, "Scalars are not close"),
        (lambda x: x.amax(), {"cut": None}, "Scalars are not close"),  # only for negative numbers
        (lambda x: x.clone(), {"cut": None}, "'shape' do not match"),
        (lambda x: x.sum(), {}, "a result of shape () has no 4 at 0"),
        (lambda x: x * x.shape[0], {}, "Tensor-likes are not close"),
        (lambda x: x.shape[0], {}, "a result of type int cannot be cut back"),
        (lambda x: (x, x), {}, "a result of type tuple cannot be cut back"),
        (lambda x: (x, x), {"cut": (0,)}, "cut=(0,) is for as many results"),
        (adds_in_place, {}, "it changes x"),
    ],
)
def test_padding_that_shows_is_an_error(fn, told, said):
    with pytest.raises(PaddingError) as caught:
        ready(fn, **told)(torch.tensor([1.0, 2.0, 3.0]))
    text = str(caught.value)
    assert "padding x from 3 to 4 along axis 0 changes" in text and "What to do: pad with" in text
    assert re.search(re.escape(said), text.replace("\n", " "), re.I)


def test_each_bucket_and_each_kind_is_checked_once():
    eagerly = []

    def counted(x):
        torch.compiler.is_compiling() or eagerly.append(len(x))
        return x + 1

    fn = ready(counted)
    for x in (torch.ones(3), torch.ones(2), torch.ones(4), torch.ones(5), torch.ones(3).double()):
        fn(x)
    assert eagerly == [3, 3, 4, 5, 5, 8, 3, 3, 4]  # twice, and padded once, for 3, 5 and double
    fn = ready(counted, always_check=True)
    eagerly.clear()
    fn(torch.ones(3)), fn(torch.ones(2))
    assert eagerly == [3, 3, 4, 2, 2, 4]


def test_a_check_that_failed_is_made_again():
    fn = ready(lambda x: x.mean(), cut=None)
    for _ in range(2):
        with pytest.raises(PaddingError):
            fn(torch.ones(3))


def test_a_function_that_is_not_for_negative_numbers():
    def careful(x):
        if (x < 0).any().item():
            raise ValueError("negative")
        return x + 1

    assert ready(careful)(torch.ones(3)).tolist() == [2.0] * 3


# ---- what makes no sense ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "error", "said"),
    [
        ({"sizes": ()}, ValueError, "sizes are positive integers"),
        ({"sizes": (4, 0)}, ValueError, "sizes are positive integers"),
        ({"pad": {}}, ValueError, "say what to pad"),
        ({"pad": {"y": 0.0}}, TypeError, "there is no parameter 'y'"),
    ],
)
def test_wrong_words(told, error, said):
    with pytest.raises(error, match=said):
        ready(scaled, **told)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="x is to be padded, and is a list"):
        ready(scaled)([1.0])
    with pytest.raises(ValueError, match="differ in length at axis 0"):
        ready(pooled, pad={"x": 0.0, "mask": 0.0})(torch.ones(3, 2), torch.ones(4))


LENGTHS = st.lists(st.integers(0, 40), min_size=1, max_size=8)


@given(LENGTHS, st.sets(st.integers(1, 30), min_size=1))
def test_any_lengths_and_buckets(lengths, sizes):
    fn = ready(scaled, sizes=sorted(sizes), hot=(7,))
    for n in lengths:
        x = torch.randn(n)
        assert_close(fn(x), scaled(x))
    padded = [n for n in lengths if n not in (0, 7)]
    padding = sum(min([s for s in sizes if s >= n], default=n) - n for n in padded)
    assert fn.costs().padding == padding and fn.costs().elements == sum(lengths)
    assert fn.costs().variants <= len(sizes) + 3
