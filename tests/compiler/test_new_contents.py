"""Inputs that are written: the kernel puts the new contents where the old ones lay, if it may."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import trace
from labcore.optim import AdamW


def output_code(compiled, *args) -> str:
    with trace.record() as story, torch.no_grad():
        compiled(*args)
    text = story.text("output_code")
    return text[text.index("def call") : text.index("if __name__")]


def scale(p, q):
    p.mul_(2).add_(q)


def test_the_kernel_writes_the_input_itself():
    p, q = torch.ones(8), torch.arange(8.0)
    compiled = torch.compile(scale)
    code = output_code(compiled, p, q)
    assert "empty_strided" not in code and "return (p,)" in code
    before = p._version
    with torch.no_grad():
        compiled(p, q)
    assert p.tolist() == [4 + 3 * k for k in range(8)]
    assert p._version == before + 2, "as often as eager mode would have written it"


def test_an_adamw_step_allocates_nothing():
    parameters = [torch.ones(5, requires_grad=True), torch.ones(3, 2, requires_grad=True)]
    optimizer = AdamW(parameters)
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    step = torch.compile(optimizer.step)
    step()  # makes the state
    assert "empty_strided" not in output_code(step)


def returned(p, q):
    new = p + q
    p.copy_(new)
    return new


def a_view_returned(p, q):
    new = p + q
    p.copy_(new)
    return new[1:]


def test_what_is_handed_out_too_keeps_its_own_memory():
    for function in (returned, a_view_returned):
        p, q = torch.ones(4), torch.ones(4)
        with torch.no_grad():
            out = torch.compile(function)(p, q)
            p.add_(1)
        assert p.tolist() == [3] * 4 and out.tolist() == [2] * len(out)


def shifted(p, q):
    p[1:] = p[:-1] + q[1:]


def read_by_others(p, q):
    total = p.sum(0)
    p.mul_(2)
    return total, (p * q).sum()


def read_transposed(p, q):
    p.copy_(p.t() + q)


def swapped(p, q):
    old = p.clone()
    p.copy_(q)
    q.copy_(old)


@pytest.mark.parametrize("function", [shifted, read_by_others, read_transposed, swapped, scale])
def test_values_are_those_of_eager_mode(function):
    worlds = [[torch.arange(16.0).reshape(4, 4), torch.ones(4, 4)] for _ in range(2)]
    compiled = torch.compile(function)
    with torch.no_grad():
        for _ in range(2):
            results = [function(*worlds[0]), compiled(*worlds[1])]
            for one, other in zip(*worlds):
                assert one.tolist() == other.tolist()
            assert repr(results[0]) == repr(results[1])


def test_an_operator_that_raises_leaves_no_input_half_written():
    def multiply(p, q):
        p.mul_(2)
        return p @ q

    p, q = torch.ones(2, 2), torch.ones(2, 2)
    assert "empty_strided" in output_code(torch.compile(multiply), p, q)


def test_an_input_stays_what_it_is_under_inference_mode():
    p, q = torch.ones(4), torch.ones(4)
    compiled = torch.compile(scale)
    with torch.inference_mode():
        compiled(p, q)
    assert not p.is_inference() and p.tolist() == [3] * 4
