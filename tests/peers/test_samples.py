"""Every operator on its samples beside PyTorch: values and gradients, in each float type, and on
awkward values; and what both refuse.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
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
OTHERWISE = {
    "prod": "where two factors are 0 PyTorch's gradients are 0, whatever nan there is besides",
    "cumprod": "the same for what lies behind a 0",
    "max_pool2d": "of several nans in a window the last gets the gradient there, here the first",
    "scaled_dot_product_attention": "its kernel leaves out some weights of 0, which times nan is "
    "nan",
    "binary_cross_entropy": "PyTorch looks at the values, and raises outside [0, 1]",
    "gaussian_nll_loss": "PyTorch looks at the values, and raises for a negative variance",
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
    if name not in OURS | OTHERWISE.keys():
        given = tuple(replaced(a, turn + k) for k, a in enumerate(args))
        compare((name, given, {k: replaced(v, turn) for k, v in kwargs.items()}), "float64")


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "sum", "var", "cumsum"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (0, 3), (1,)], ids=repr)
def test_of_little_or_nothing(name: str, shape: tuple) -> None:
    for dim in (0, -1):
        compare((name, (np.full(shape, 0.5), dim), {}), "float64")


# ---- other types and layouts ---------------------------------------------------------------------


def _turned(array: np.ndarray) -> np.ndarray:
    return np.array(array.swapaxes(-1, -2), order="C").swapaxes(-1, -2)


TYPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "int64": lambda array: np.round(array * 3).astype("int64"),
    "int32": lambda array: np.round(array * 3).astype("int32"),
    "bool": lambda array: array > 0,
}
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "transposed": lambda array: _turned(array) if array.ndim > 1 else array,
    "no rows": lambda array: array[:0] if array.ndim else array,
    "no columns": lambda array: array[..., :0] if array.ndim else array,
    "one element": lambda array: array[(slice(1),) * array.ndim],
    "a number": lambda array: array.reshape(-1)[:1].reshape(()) if array.size else array,
}
# Where both refuse, PyTorch refuses something else first: the type where the lab refuses the shape.
REFUSED_FIRST = {
    "embedding", "index_add", "index_select", "mv", "batch_norm", "baddbmm", "avg_pool2d",
    "nll_loss", "cross_entropy", "tensordot", "adaptive_avg_pool2d", "pad", "unfold",
}
# Strides of what has no neighbours in PyTorch's own order: its kernels keep that of the channels.
OTHER_STRIDES = {"batch_norm", "conv1d", "max_pool1d", "avg_pool1d"}
# What PyTorch has no kernel for, or a view that it cannot take; masks that do not broadcast, sizes
# of 0 that only some of its kernels refuse.
NOT_THE_SAME = {
    ("int32", "conv2d"),
    ("no rows", "scaled_dot_product_attention"), ("no columns", "scaled_dot_product_attention"),
    ("no columns", "conv2d"), ("no columns", "conv3d"), ("no columns", "avg_pool2d"),
    ("transposed", "take_along_dim"),
}


def formed(value: Any, form: Callable[[np.ndarray], np.ndarray], kinds: str) -> Any:
    """Arrays of these kinds in another form."""
    if isinstance(value, np.ndarray) and value.dtype.kind in kinds:
        return np.asarray(form(value))
    if isinstance(value, (list, tuple)):
        return type(value)([formed(v, form, kinds) for v in value])
    return value


def alike(case: tuple, form: str) -> None:
    """The same values, types, sizes and gradients, or the same kind of refusal."""
    name, args, kwargs = case
    known = form in TYPES
    made, kinds = (TYPES[form], "f") if known else (LAYOUTS[form], "fib")
    given = tuple([formed(a, made, kinds) for a in args])
    case = name, given, {key: formed(v, made, kinds) for key, v in kwargs.items()}
    ours, theirs = places(name)
    for recorded in (True, False):  # perhaps only its gradient is refused
        found = run(lab, ours, case, "float64", recorded)
        wanted = run(torch, theirs, case, "float64", recorded)
        if not isinstance(wanted, Exception):
            break
    if isinstance(wanted, TypeError) and name in BEYOND:
        return
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"PyTorch raises {wanted!r}, the lab gives {found[0]}"
        assert type(found) is type(wanted) or name in REFUSED_FIRST, (found, wanted)
        return
    assert not isinstance(found, Exception), found
    same(found[0], wanted[0], 1e-6, strides=name not in OTHER_STRIDES)
    for a, b in zip(found[1], wanted[1], strict=True):
        if a is None or b is None:
            assert a is b or not (b if a is None else a).any()
        else:
            same(a, b, 1e-6, strides=False)


@pytest.mark.parametrize("form", [*TYPES, *LAYOUTS])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_other_forms(case: tuple, form: str) -> None:
    if case[0] not in OURS and (form, case[0]) not in NOT_THE_SAME:
        alike(case, form)
