"""Names of PyTorch's that the lab does not have: what the error says, and that nothing else
changes."""

from __future__ import annotations

import inspect

import pytest

import labcore as torch
from labcore.tensor import missing
from tests.capture.differential import captured, check

X = torch.tensor([1.0, 2.0])
ABSENT = [name for name in missing.METHODS.split() if missing.is_missing(torch.Tensor, name)]


def said(call):
    with pytest.raises(AttributeError) as caught:
        call()
    return str(caught.value)


def test_what_is_told():
    part = "The lab has only a part of PyTorch"
    like = f"{part}, with names like it: std"
    assert said(lambda: X.svd()) == f"'Tensor' object has no attribute 'svd'. {like}"
    assert said(lambda: torch.Tensor.svd) == f"type object 'Tensor' has no attribute 'svd'. {like}"
    assert said(lambda: torch.fft) == f"module 'labcore' has no attribute 'fft'. {part}"
    text = said(lambda: torch.sofplus(X))
    assert text.startswith("module 'labcore' has no attribute 'sofplus'.") and part in text
    assert said(lambda: torch._hidden) == "module 'labcore' has no attribute '_hidden'"


def test_what_is_near_is_there():
    assert ", with names like it: relu" in said(lambda: torch.reluu)
    for name in ABSENT:
        for found in missing.near(name, tuple(missing.public(torch.Tensor))):
            assert hasattr(torch.Tensor, found)


def test_nothing_else_sees_them():
    assert ABSENT
    shown = {*dir(X), *dir(torch.Tensor)}
    for name in ABSENT:
        assert not hasattr(X, name) and not hasattr(torch.Tensor, name) and name not in shown
        assert getattr(X, name, None) is None
    assert {"relu", "shape", "__add__"} <= shown
    assert "svd" not in dict(inspect.getmembers(torch.Tensor))
    assert "__getattr__" not in {name for cls in torch.Tensor.__mro__ for name in vars(cls)}


def test_in_a_compiled_function():
    captured(lambda x: (hasattr(x, "svd"), getattr(x, "svd", 3), hasattr(torch, "fft"), x + 1), X)
    check(lambda x: x.svd(), X)
    check(lambda x: torch.fft.fft(x + 1), X)
    check(lambda x: torch.Tensor.svd(x), X)

    def caught(x):
        try:
            return x.svd()
        except AttributeError as error:
            return x + 1, str(error)

    check(caught, X)


def test_a_program_may_add_one():
    before = vars(torch.Tensor)["svd"]
    torch.Tensor.svd = lambda self: self * 2
    try:
        captured(lambda x: x.svd(), X)
    finally:
        torch.Tensor.svd = before
