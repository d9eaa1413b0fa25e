"""Every operator on its samples beside PyTorch: values and gradients, in each float type, and on
awkward values; and what both refuse.
"""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import labcore as lab
from labcore import ops
from tests.ops.samples import CASES
from tests.ops.test_samples import IDS

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

# Operators that PyTorch has under no public name, or that draw.
OURS = {name for name, op in ops.OPS.items() if name.startswith("_") or op.kind == "random"}
OURS |= {"copy", "contiguous", "to", "im2col", "slice"}
RTOL = {"float32": 3e-5, "float64": 1e-10}
LOOSE = {"hardsigmoid": 1e-7}  # a float32 constant in PyTorch's gradient
# What the lab takes and PyTorch refuses: a number for a tensor, an option by position.
BEYOND = {"maximum", "minimum", "remainder", "round", "gelu", "unfold"}


def places(name: str) -> tuple[Any, Any]:
    """The function of that name in the lab and in PyTorch."""
    homes = ops.OPS[name].homes
    if "F" in homes:
        return getattr(lab.nn.functional, name), getattr(torch.nn.functional, name)
    if hasattr(torch, name) and hasattr(lab, name) and name not in ("trace", "view", "slice"):
        return getattr(lab, name), getattr(torch, name)
    return getattr(lab.Tensor, name), getattr(torch.Tensor, name)


def both(value: Any, module: Any, dtype: str, leaves: list[Any]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            value = value.astype(dtype)
        made = module.from_numpy(value.copy(order="K"))
        if value.dtype.kind == "f":
            leaves.append(made.requires_grad_())
        return made
    if isinstance(value, (list, tuple)):
        return type(value)([both(v, module, dtype, leaves) for v in value])
    if isinstance(value, lab.dtype):
        return getattr(module, value.name)
    return value


def run(module: Any, function: Any, case: tuple, dtype: str, recorded: bool = True) -> Any:
    """(result, gradients), or the error."""
    _, args, kwargs = case
    leaves: list[Any] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = [both(a, module, dtype, leaves) for a in args]
            named = {key: both(v, module, dtype, leaves) for key, v in kwargs.items()}
            with module.set_grad_enabled(recorded):
                out = function(*given, **named)
            if not out.requires_grad:
                return out, []
            weights = np.cos(np.arange(1.0, 1 + out.numel())).reshape(tuple(out.shape))
            scale = module.from_numpy(weights.astype(dtype)).to(out.dtype)
            return out, module.autograd.grad(out, leaves, scale, allow_unused=True)
    except Exception as error:
        return error


def compare(case: tuple, dtype: str) -> None:
    ours, theirs = places(case[0])
    found, wanted = run(lab, ours, case, dtype), run(torch, theirs, case, dtype)
    if isinstance(wanted, Exception):  # perhaps only its gradient is refused
        wanted = run(torch, theirs, case, dtype, recorded=False)
        found = run(lab, ours, case, dtype, recorded=False)
        assert not isinstance(wanted, TypeError) or case[0] in BEYOND, wanted
        if isinstance(wanted, TypeError):
            return
    assert not isinstance(found, Exception), found
    assert not isinstance(wanted, Exception), wanted
    tolerance = LOOSE.get(case[0], RTOL[dtype])
    same(found[0], wanted[0], tolerance)
    assert len(found[1]) == len(wanted[1])
    for a, b in zip(found[1], wanted[1]):
        if a is None or b is None:  # one side knows that it is 0 without computing it
            assert a is b or not (b if a is None else a).any()
        else:
            same(a, b, tolerance, strides=False)


def same(ours: Any, theirs: Any, tolerance: float, strides: bool = True) -> None:
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    if strides and theirs.numel():
        assert tuple(ours.stride()) == tuple(theirs.stride())
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_sample(case: tuple, dtype: str) -> None:
    if case[0] not in OURS:
        compare(case, dtype)


# ---- awkward values ------------------------------------------------------------------------------

AWKWARD = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 2.5])
# Where nan and inf go another way: which of several nans a pool chooses, products of zeros and nan,
# a row of attention with both; and values that PyTorch refuses on the CPU.
OTHERWISE = {
    "prod", "cumprod", "max_pool2d", "scaled_dot_product_attention", "binary_cross_entropy",
    "gaussian_nll_loss", "hardsigmoid",
}


def replaced(value: Any, turn: int) -> Any:
    """Arrays of floats filled with awkward values, beginning at another one in each turn."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.resize(np.roll(AWKWARD, turn), value.shape)
    if isinstance(value, list):
        return [replaced(v, turn + k) for k, v in enumerate(value)]
    return value


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_awkward_values(case: tuple, turn: int) -> None:
    name, args, kwargs = case
    if name not in OURS | OTHERWISE:
        given = tuple(replaced(a, turn + k) for k, a in enumerate(args))
        compare((name, given, {k: replaced(v, turn) for k, v in kwargs.items()}), "float64")


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "sum", "var", "cumsum"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (0, 3), (1,)], ids=repr)
def test_of_little_or_nothing(name: str, shape: tuple) -> None:
    for dim in (0, -1):
        compare((name, (np.full(shape, 0.5), dim), {}), "float64")


@pytest.mark.parametrize("dtype", ["int64", "bool"])
@pytest.mark.parametrize("name", [
    "gelu", "silu", "softplus", "elu", "leaky_relu", "mish", "hardswish", "hardtanh", "relu6",
    "floor", "round", "frac", "logaddexp", "argmax", "cumsum", "prod", "var", "logsumexp",
])
def test_other_types(name: str, dtype: str) -> None:
    """The same values and types, or the same refusal, in the same words."""
    array = np.array([[1, 0, 2], [3, 1, 0]]).astype(dtype)
    more = {"logaddexp": (array,), "cumsum": (1,), "logsumexp": (1,)}.get(name, ())
    found, wanted = (run(m, f, (name, (array, *more), {}), "float64")
                     for m, f in zip((lab, torch), places(name)))
    if isinstance(wanted, Exception):
        assert (type(found), str(found)) == (type(wanted), str(wanted).splitlines()[0])
    else:
        same(found[0], wanted[0], 1e-6)
