"""Grad mode and inference mode: blocks, decorators, threads."""

from __future__ import annotations

import threading

import pytest

import labcore as torch


def test_blocks_nest_and_restore():
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        with pytest.raises(ZeroDivisionError), torch.set_grad_enabled(True):
            1 / (torch.is_grad_enabled() - 1)
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_set_grad_enabled_at_once():
    torch.set_grad_enabled(False)
    try:
        assert not (torch.ones(1, requires_grad=True) * 2).requires_grad
    finally:
        torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_decorators():
    @torch.no_grad()
    def with_parentheses(x):
        return x * 2

    @torch.no_grad
    def without(x):
        return x * 2

    @torch.set_grad_enabled(False)
    def switched(x, again=True):
        return switched(x, False) if again else x * 2

    @torch.inference_mode()
    def inference(x):
        return x * 2

    x = torch.ones(1, requires_grad=True)
    assert torch.is_grad_enabled()
    assert not any(f(x).requires_grad for f in (with_parentheses, without, switched, inference))
    assert with_parentheses.__name__ == "with_parentheses" and torch.is_grad_enabled()
    with pytest.raises(TypeError, match="cannot decorate the generator"):

        @torch.no_grad()
        def items():
            yield 1


def test_each_thread_has_its_own():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_inference_tensors():
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        y.add_(1)
        view = y[0]
        with torch.inference_mode(False):
            assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert (
        y.is_inference()
        and view.is_inference()
        and not x.is_inference()
        and not y.clone().is_inference()
    )
    assert (y + 1).tolist() == [4, 4]
    for call, text in [
        (lambda: x * y, "Inference tensors cannot be saved for backward"),
        (lambda: y.add_(1), "Inplace update to inference tensor outside InferenceMode"),
        (lambda: y._version, "Inference tensors do not track version counter."),
        (lambda: y.requires_grad_(), "Setting requires_grad=True on inference tensor"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            call()
