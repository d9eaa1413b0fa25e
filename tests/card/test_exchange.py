"""Memory shared with other libraries, both ways."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import numpy as np
import pytest

import labcore as torch
from labcore.runtime import dlpack
from labcore.tensor.cuda import card_in_use

from .cards import card_of


@pytest.fixture(params=["of paper", "silicon"], autouse=True)
def card(request, monkeypatch, tmp_path):
    with card_of(request.param, monkeypatch, tmp_path / "cache"):
        yield request.param


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32,
                                   torch.bool, torch.float16])
def test_a_tensor_comes_back_the_same(dtype):
    x = torch.tensor([[0, 1, 2], [3, 0, 5]]).to(dtype).cuda()
    for y in (x, x.t(), x[1:, ::2], x[0, 0], x[:0]):
        for found in (torch.from_dlpack(y), torch.as_tensor(
                SimpleNamespace(__cuda_array_interface__=y.__cuda_array_interface__))):
            assert found.tolist() == y.tolist() and found.dtype is dtype
            assert found.shape == y.shape and str(found.device) == "cuda:0"
            assert not y.numel() or found.data_ptr() == y.data_ptr()
    back = torch.from_dlpack(x)
    back.zero_()
    assert not x.any()


def test_memory_that_was_handed_out_lives_on():
    x = torch.arange(6).cuda()
    place, given = x.data_ptr(), len(dlpack._given)
    taken = torch.from_dlpack(x + 0)
    del x
    gc.collect()
    assert taken.tolist() == [0, 1, 2, 3, 4, 5] and len(dlpack._given) == given + 1
    del taken
    gc.collect()
    assert len(dlpack._given) == given
    capsule = torch.zeros(3).cuda().__dlpack__()  # nobody takes it
    assert len(dlpack._given) == given + 1
    del capsule
    gc.collect()
    assert len(dlpack._given) == given and place


def test_what_it_says():
    x = torch.zeros(2, 3).cuda()[:, 1:]
    told = x.__cuda_array_interface__
    assert (told["shape"], told["strides"], told["typestr"]) == ((2, 2), (12, 4), "<f4")
    assert told["data"] == (x.data_ptr(), False) and x.__dlpack_device__() == (2, 0)
    assert torch.zeros(2).__dlpack_device__() == (1, 0)
    assert not hasattr(torch.zeros(2), "__cuda_array_interface__")


def test_the_stream_of_whoever_takes_it_waits(card):
    if card == "silicon":
        pytest.skip("the stream is a number on paper")
    log = card_in_use().driver.log
    x = torch.zeros(2).cuda()
    for stream in (None, 1, -1):
        x.__dlpack__(stream=stream)
    assert not any(line.startswith("wait") for line in log)
    x.__dlpack__(stream=42)
    assert log[-1] == "wait 42"


def test_bfloat16_goes_by_dlpack():
    x = torch.tensor([[0.5, 1.5], [2.5, -3.0]], dtype=torch.bfloat16).cuda()
    found = torch.from_dlpack(x.t())
    assert found.dtype is torch.bfloat16 and found.tolist() == [[0.5, 2.5], [1.5, -3.0]]
    assert found.data_ptr() == x.data_ptr()


def test_what_is_refused():
    x = torch.zeros(2).cuda().requires_grad_()
    for ask in (lambda: x.__cuda_array_interface__, x.__dlpack__):
        with pytest.raises(RuntimeError, match="requires grad. Use var.detach"):
            ask()
    short = {**x.detach().__cuda_array_interface__, "typestr": "<i2"}
    with pytest.raises(TypeError, match="int16"):
        torch.as_tensor(SimpleNamespace(__cuda_array_interface__=short))
    with pytest.raises(AttributeError, match="no bfloat16: share it by DLPack"):
        x.detach().bfloat16().__cuda_array_interface__


def test_with_the_host_it_is_numpy_s():
    x = np.arange(3.0)
    y = torch.from_dlpack(x)
    y[0] = 7
    assert x[0] == 7.0 and np.from_dlpack(y).tolist() == [7.0, 1.0, 2.0]
