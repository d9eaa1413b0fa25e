"""Hooks of tensors, and steps of the tape with a derivative of the program's own: in eager mode,
and compiled as a whole, where the backward is CPython's. tests/peers compares with PyTorch."""

from __future__ import annotations

import gc
import weakref

import pytest

import labcore as torch
from labcore.compiler import compile as lab_compile

from .own_steps import FUNCTIONS, HOOKS, leaf, outcome, square, square_backward, step

PROGRAMS = HOOKS | FUNCTIONS
SAID = {
    "in_order": [["first", [2, 2, 2], [[8, 8, 8], False, False]], [4, 4, 4], [8, 8, 8]],
    "targets": [[[1, 1, 1], [104, 104, 104]], [104, 104, 104], [1, 1]],
    "before_a_write": [True, [[15, 15, 15]], [3, 3, 3], [30, 30, 30]],
    "retained_base": [True, [3, 3, 3], [6, 30, 30]],
    "taken_away": [[1], [2, 2, 2]],
    "after_accumulating": [[True, [2, 2, 2]], [True, [5, 5, 5]]],
    "clipped": [3, 3, 3],
    "another_size": ("RuntimeError", "hook 'hook' has changed the size of value"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_hooks_do(name):
    assert outcome(HOOKS[name], torch) == SAID[name]


def test_a_gradient_of_ones_own():
    x = leaf(torch)
    y = step(torch, square, square_backward).apply(x, 3)
    assert y.tolist() == [3, 12, 27] and y.grad_fn.name() == "StepBackward"
    assert y.grad_fn.saved_tensors[0].tolist() == [1, 2, 3]
    y.sum().backward()
    assert x.grad.tolist() == [6, 12, 18]
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn.saved_tensors


def test_an_instance_is_refused():
    with pytest.raises(RuntimeError, match=r"call Step\.apply"):
        step(torch, square, square_backward)(leaf(torch))


def test_hooks_that_pack_what_is_saved():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t / 5):
        y = step(torch, square, square_backward).apply(x := leaf(torch), 3)
    y.sum().backward()
    assert x.grad.tolist() == [12, 24, 36]


def test_nothing_keeps_itself_alive():
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    gc.collect()
    gc.disable()
    try:
        x = leaf(torch)
        y = step(torch, forward, lambda ctx, g: g).apply(x)
        y.register_hook(lambda g: None)
        gone = [weakref.ref(y), weakref.ref(y.grad_fn)]
        del y
        assert [reference() for reference in gone] == [None, None]
    finally:
        gc.enable()


# Of a region's one node all is let go after a backward; and it has the values that it needs.
OTHERWISE = {("twice_with_nothing_saved", "aot_eager"), ("saved_and_written", "aot_eager")}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_as_a_whole(name, backend):
    if (name, backend) in OTHERWISE:
        return
    compiled = lab_compile(PROGRAMS[name], backend=backend)
    expected = outcome(PROGRAMS[name], torch)
    for _ in range(2):
        assert outcome(compiled, torch) == expected


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_hooks_of_a_compiled_region(backend):
    """Of its inputs, of its results, and of a tensor within."""

    def function(x, told):
        y = x * 2
        y.register_hook(lambda g: told.append(g.tolist()))
        return y * 3

    def told_by(run):
        told: list[list[float]] = []
        x = leaf(torch)
        x.register_hook(lambda g: g + 1)
        z = run(x, told)
        z.register_hook(lambda g: g * 10)
        z.sum().backward()
        return told, x.grad.tolist()

    compiled = lab_compile(function, backend=backend)
    assert told_by(compiled) == told_by(compiled) == told_by(function)


@pytest.mark.parametrize("watch", ["hook", "retained", "base retained"])
def test_who_watches_a_tensor_that_a_region_writes(watch):
    """A gradient of that very tensor is asked for, which in the graph flows past it."""

    def function(y, v):
        y.mul_(5)
        return v * 3

    def told_by(run, watched):
        told: list[list[float]] = []
        y = leaf(torch) * 2
        v = y[1:]
        if watched and watch == "hook":
            (v * 1).register_hook(lambda g: told.append(g.tolist()))
            v.register_hook(lambda g: told.append(g.tolist()))
        if watched and watch != "hook":
            (v if watch == "retained" else y).retain_grad()
        before = v * 2
        (run(y, v).sum() + before.sum()).backward()
        return told, [t.grad if t.retains_grad else None for t in (y, v)], y.tolist()

    compiled = lab_compile(function, backend="aot_eager")
    for watched in (False, True, False):
        expected, found = told_by(function, watched), told_by(compiled, watched)
        assert str(found) == str(expected)
