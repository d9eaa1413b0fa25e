"""float16 and bfloat16 beside PyTorch's: every word there is, the edges between them, numbers
beside them, what computes in float32 inside, gradients, modules."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import HALVES, check, lab, pair, same, torch

WORDS = np.arange(2**16, dtype=np.uint16)
EXACT = ["neg", "abs", "relu", "sqrt", "floor", "ceil", "trunc", "round", "sign", "square",
         "reciprocal", "isnan", "isinf", "isfinite"]
CUBE = np.random.default_rng(3).standard_normal((4, 6, 5)).astype(np.float32)


def words(dtype: str):
    """All 65,536 numbers of a type."""
    theirs = torch.from_numpy(WORDS.view(np.int16).copy()).view(getattr(torch, dtype))
    return lab.from_dlpack(theirs.clone()), theirs


def between() -> np.ndarray:
    """float32 numbers at, between and beside all numbers of both types."""
    near = [theirs.float().numpy() for _, theirs in map(words, HALVES)]
    middle = [((a[:-1].astype(np.float64) + a[1:]) / 2).astype(np.float32) for a in near]
    at = np.concatenate([*near, *middle, [65519.99, 65520, 3.4e38, 1e-45, 1e-40, 5.96e-8, 2.98e-8]])
    at = at.astype(np.float32)
    return np.concatenate([at, np.nextafter(at, np.float32(np.inf)),
                           np.nextafter(at, np.float32(-np.inf))])


@pytest.mark.parametrize("dtype", HALVES)
def test_every_word_is_the_same_number(dtype: str) -> None:
    ours, theirs = words(dtype)
    same(ours.float(), theirs.float(), ulps=0)
    for name in EXACT:
        check(lambda m, x: getattr(m, name)(x), (ours, theirs), ulps=0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", HALVES)
def test_rounding(dtype: str) -> None:
    singles = between()
    for values in (singles, singles.astype(np.float64) * (1 + 1e-9)):
        numbers = pair(values, str(values.dtype))
        check(lambda m, x: x.to(getattr(m, dtype)), numbers, ulps=0)
    check(lambda m, x: x.to(getattr(m, dtype)), pair([2049, 257, -259, 2**24 + 1, 70000]), ulps=0)
    check(lambda m: m.tensor([1 + 2**-11 + 2**-30, 1e-8, 1e39], dtype=getattr(m, dtype)), ulps=0)
    check(lambda m: m.full((2,), 70000.5, dtype=getattr(m, dtype)), ulps=0)
    check(lambda m: m.full((2,), 3.4e38, dtype=getattr(m, dtype)), ulps=0)
    check(lambda m: m.arange(0, 3, 0.1, dtype=getattr(m, dtype)), ulps=0)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("text", [
    "x + 0.1", "x - 257", "1.001 - x", "x * 257", "x * 1.001", "x / 3.3", "x > 0.1", "x == 1.001",
    "x % 3.3", "m.fmod(x, 0.1)", "x + i", "x * i", "x > i", "m.where(x > 1, x, 0.1)",
    "m.clamp(x, -0.1, 3.3)", "m.maximum(x, y)", "x + m.tensor(0.1)",
    "x * m.tensor(257)", "x + y.float()", "x + y.double()", "x ** 3", "x ** 2", "x ** 0.5",
])
def test_numbers_and_tensors_beside_halves(text: str, dtype: str) -> None:
    x, y = (pair(values, dtype) for values in ([0.1, 1, 3, 200, 1000, -7.3], [5, -1, 0, 1, 2, 3]))
    whole = pair([257, 1000, 3, 5, 7, 259])
    check(eval(f"lambda m, x, y, i: {text}"), x, y, whole, ulps=0)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_factor_is_rounded_by_neither_or_by_one(dtype: str) -> None:
    """PyTorch rounds `alpha` for one of the two types and some lengths."""
    check(lambda m, x: m.add(x, x, alpha=3.3), pair([0.1, 1, 3, 200], dtype), ulps=1)


def test_both_halves_together_are_float32() -> None:
    check(lambda m, x, y: (x + y, m.cat([x, y]), x < y), pair([1.5], "float16"),
          pair([2.5], "bfloat16"))


INSIDE = [
    "x.sum()", "x.sum(0)", "x.mean((0, 2))", "x.amax(1)", "x.var(1)", "x.std()",
    "x.cumsum(1)", "x.softmax(-1)", "x.log_softmax(1)", "x @ x.transpose(1, 2)", "x.argmax(1)",
    "m.nn.functional.gelu(x)", "m.nn.functional.gelu(x, approximate='tanh')",
    "m.nn.functional.silu(x)", "m.nn.functional.softplus(x)", "m.nn.functional.elu(x)",
    "m.nn.functional.layer_norm(x, (5,))", "m.nn.functional.leaky_relu(x, 0.1)",
    "m.logsumexp(x, 1)", "m.tanh(x)", "m.sigmoid(x)", "m.erf(x)", "m.exp(x)", "x.norm()",
    "m.sort(x, 1).values", "m.nn.functional.softmax(x, 1, dtype=m.float32)",
    "x.sum(dtype=m.float32)",
]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("text", INSIDE)
def test_what_computes_in_float32_rounds_once(text: str, dtype: str) -> None:
    check(eval(f"lambda m, x: {text}"), pair(CUBE, dtype), ulps=1)


SMOOTH = [text for text in INSIDE if "argmax" not in text]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("text", SMOOTH)
def test_gradients_are_halves(text: str, dtype: str) -> None:
    """They are PyTorch's to two units in the last place of the largest."""
    def gradient(m, x):
        out = eval(text, {"m": m, "x": x})
        weights = m.arange(out.numel(), dtype=m.float32).reshape(out.shape) % 7 - 2
        (out.float() * weights).sum().backward()
        return x.grad

    (ours, theirs) = pair(CUBE, dtype, requires_grad=True)
    got, want = gradient(lab, ours), gradient(torch, theirs)
    assert str(got.dtype) == str(want.dtype) == f"torch.{dtype}"
    got, want = got.float().numpy(), want.float().numpy()
    bound = 2 * torch.finfo(theirs.dtype).eps * max(1, np.abs(want).max())
    np.testing.assert_allclose(got, want, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_module_and_an_optimizer(dtype: str) -> None:
    def train(m):
        layer = m.nn.Linear(5, 3)
        with m.no_grad():
            layer.weight.copy_(m.arange(15.0).reshape(3, 5) / 15)
            layer.bias.zero_()
        layer = layer.to(getattr(m, dtype))
        x = m.arange(10.0).reshape(2, 5).to(getattr(m, dtype)) / 10
        for optimizer in (m.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9),
                          m.optim.Adam(layer.parameters(), lr=0.01)):
            for _ in range(2):
                optimizer.zero_grad()
                layer(x).square().sum().backward()
                optimizer.step()
        return [p.detach() for p in layer.parameters()]

    for ours, theirs in zip(train(lab), train(torch)):
        assert str(ours.dtype) == str(theirs.dtype)
        bound = 8 * torch.finfo(theirs.dtype).eps
        np.testing.assert_allclose(ours.float().numpy(), theirs.float().numpy(), atol=bound)


@pytest.mark.parametrize("dtype", HALVES)
def test_names_text_and_python_numbers(dtype: str) -> None:
    numbers = pair([0.1, 1 / 3, 1e-5, -2.5], dtype)
    check(lambda m, x: (repr(x), x.tolist(), x[0].item(), f"{x[0]:.3f}", str(x.half().dtype),
                        str(x.bfloat16().dtype), m.nan_to_num(x / 0)), numbers)
    check(lambda m, x: x.to(m.half) is x.half() or x.half().dtype is m.half, numbers)


@pytest.mark.parametrize("dtype", HALVES)
def test_memory_is_shared_both_ways(dtype: str) -> None:
    ours, theirs = pair([0.5, 1.5, 2.5], dtype)
    seen, back = torch.from_dlpack(ours), lab.from_dlpack(theirs)
    assert str(seen.dtype) == str(back.dtype) == f"torch.{dtype}"
    ours[1], theirs[2] = 7, 9
    assert seen.tolist() == [0.5, 7, 2.5] and back.tolist() == [0.5, 1.5, 9]


def test_a_default_type_of_two_bytes() -> None:
    def program(m):
        before = m.get_default_dtype()
        try:
            m.set_default_dtype(m.bfloat16)
            return m.tensor([1.5]), m.zeros(2), m.arange(3) / 3, m.ones(1, dtype=m.half) + 1.5
        finally:
            m.set_default_dtype(before)

    check(program, ulps=1)
