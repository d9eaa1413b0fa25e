"""Tensors that are called what a kernel calls its own arrays, totals and scratch."""

from __future__ import annotations

import inspect

import pytest

import labcore as torch


def scratch(x, sum_total):
    return x.sum(0) + sum_total, (x * 2).sum(0)


def partial_columns(x, sum_part):
    return (x + sum_part).sum(0)


def partial_total(x, sum_part):
    return (x + sum_part).sum()


def totals(x, sum_acc, sum_slots, sum_acc_slots):
    return (x * sum_acc * sum_slots * sum_acc_slots).sum(1)


def registers(x, x_r, x_tile):
    return x * x_r + x_tile.t() * x.t()


def a_row(x, amax_row, sub_row, exp_row):
    return torch.softmax(x + amax_row + sub_row + exp_row, -1)


CASES = [scratch, partial_columns, partial_total, totals, registers, a_row]


def agree(function, size, move):
    given = [torch.randn(size, size) for _ in inspect.signature(function).parameters]
    found = torch.compile(function)(*map(move, given))
    want = function(*given)
    pairs = zip(found, want) if isinstance(want, tuple) else [(found, want)]
    for ours, eager in pairs:
        torch.testing.assert_close(ours.cpu(), eager, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("function", CASES)
def test_on_the_processor(function):
    agree(function, 40, lambda tensor: tensor)


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("size", [40, 600])
@pytest.mark.parametrize("function", CASES)
def test_on_a_card(function, size):
    agree(function, size, lambda tensor: tensor.cuda())
