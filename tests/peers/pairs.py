"""The lab and PyTorch side by side: the same program on both, and what must be the same afterwards.

In: an array.  Out: a tensor of each.
A program is a function of (module, *tensors), run with `labcore` and with `torch`.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import labcore as lab

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

HALVES = ("float16", "bfloat16")
NAMES = ("float32", "float64", *HALVES, "int64", "int32", "bool")


def pair(array: Any, dtype: str | None = None, requires_grad: bool = False,
         stride: tuple[int, ...] | None = None) -> tuple[Any, Any]:
    """The array as a tensor of the lab and one of PyTorch, with these strides (in elements)."""
    wide = "float32" if dtype in HALVES else dtype
    array = np.asarray(array, dtype=wide and {"bool": "bool_"}.get(wide, wide))
    ours = lab.zeros(array.shape, dtype=getattr(lab, dtype or str(array.dtype)))
    theirs = torch.tensor(array)
    if dtype in HALVES:
        theirs = theirs.to(getattr(torch, dtype))
    if array.size:
        ours = lab.tensor(array.tolist(), dtype=ours.dtype)
    if stride is not None:
        order = sorted(range(array.ndim), key=lambda axis: -stride[axis])
        back = [order.index(axis) for axis in range(array.ndim)]
        ours = ours.permute(*order).contiguous().permute(*back)
        theirs = theirs.permute(*order).contiguous().permute(*back)
    if requires_grad:
        ours, theirs = ours.detach().requires_grad_(), theirs.detach().requires_grad_()
    return ours, theirs


def run(program: Callable[..., Any], module: Any, tensors: list[Any]) -> Any:
    """What a program returns, or the exception it raises."""
    try:
        return program(module, *tensors)
    except Exception as error:  # whatever it is, the other side must raise the same
        return error


def check(program: Callable[..., Any], *pairs: tuple[Any, Any], ulps: int = 4) -> None:
    """Run a program on both sides and compare all that it returns."""
    ours = run(program, lab, [p[0] for p in pairs])
    theirs = run(program, torch, [p[1] for p in pairs])
    same(ours, theirs, ulps)


def same(ours: Any, theirs: Any, ulps: int = 4) -> None:
    """Equal in values, type, shape, strides, requires_grad; exceptions in type and first line."""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        _same_error(ours, theirs)
    elif isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same(a, b, ulps)
    elif isinstance(theirs, torch.Tensor):
        _same_tensor(ours, theirs, ulps)
    else:
        assert type(ours) is type(theirs) and (ours == theirs or ours != ours), (ours, theirs)


def _same_error(ours: Any, theirs: Any) -> None:
    assert isinstance(ours, Exception), f"PyTorch raises {theirs!r}, the lab returns {ours!r}"
    assert isinstance(theirs, Exception), f"the lab raises {ours!r}, PyTorch returns {theirs!r}"
    assert type(ours) is type(theirs), f"{ours!r} where PyTorch has {theirs!r}"
    ours_text, theirs_text = _first_line(ours), _first_line(theirs)
    assert ours_text == theirs_text, f"the lab says: {ours_text}\nPyTorch says: {theirs_text}"


def _first_line(error: Exception) -> str:
    text = str(error).splitlines()[0].strip()
    if "modified by an inplace operation" in text:
        # PyTorch names the newest history of the tensor, and hints at its own tools.
        text = re.sub(r", which is output \d+ of \w+,", "", text)
        text = re.sub(r"(expected version \d+ instead).*", r"\1", text)
    return text


def _same_tensor(ours: Any, theirs: Any, ulps: int) -> None:
    assert type(ours) is lab.Tensor, f"{ours!r} where PyTorch has a tensor"
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    strides = tuple(ours.stride()), tuple(theirs.stride())
    assert strides[0] == strides[1], f"strides of {tuple(ours.shape)}: {strides}"
    assert ours.requires_grad == theirs.requires_grad
    if ours.dtype.is_half:
        close_halves(ours, theirs, ulps)
    else:
        close(ours.detach().numpy(), theirs.detach().numpy(), ulps)


def close_halves(ours: Any, theirs: Any, ulps: int) -> None:
    """As `close`, in units of the last place that a half has."""
    eps = torch.finfo(theirs.dtype).eps
    a, b = ours.detach().float().numpy(), theirs.detach().float().numpy()
    if ulps:
        np.testing.assert_allclose(a, b, rtol=eps, atol=eps * np.float32(2**-10), equal_nan=True)
    else:
        close(a, b, 0)


def close(ours: np.ndarray, theirs: np.ndarray, ulps: int) -> None:
    """Equal to a few units in the last place; nan equals nan; 0 ulps: zeros keep their sign."""
    if theirs.dtype.kind != "f":
        np.testing.assert_array_equal(ours, theirs)
        return
    if ulps == 0:
        signs = [np.signbit(a) & ~np.isnan(a) for a in (ours, theirs)]
        np.testing.assert_array_equal(*signs)
        np.testing.assert_array_equal(ours, theirs)
        return
    tolerance = ulps * float(np.finfo(theirs.dtype).eps)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
