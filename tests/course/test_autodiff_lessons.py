"""Lessons 06 to 08: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.nn.functional import cross_entropy
from labcore.testing import course

PASSED = "Public checks passed."


# ---- 06: shapes without data --------------------------------------------------------------------


def outer_meta(x, y):
    return x.shape[0], y.shape[0]


def cat_meta(x, y, dim):
    dim %= x.ndim
    for axis in range(x.ndim):
        if axis != dim and x.shape[axis] != y.shape[axis]:
            raise ValueError("sizes differ")
    return [n + y.shape[axis] if axis == dim else n for axis, n in enumerate(x.shape)]


def cat_from_the_front(x, y, dim):
    shape = list(x.shape)
    if dim >= 0:
        cat_meta(x, y, dim)
        shape[dim] += y.shape[dim]
    return shape


def cat_by_accident(x, y, dim):
    try:
        return cat_meta(x, y, dim)
    except ValueError:
        return {}[dim]


def cat_that_trusts(x, y, dim):
    shape = list(x.shape)
    shape[dim] += y.shape[dim]
    return shape


@pytest.mark.parametrize(
    ("outer", "cat", "word"),
    [
        (outer_meta, cat_meta, PASSED),
        (outer_meta, lambda x, y, dim: torch.cat([x, y], dim).shape, "reads shapes and no"),
        (lambda x, y: torch.outer(x, y).shape, cat_meta, "reads shapes and no elements"),
        (lambda x, y: (y.shape[0], x.shape[0]), cat_meta, "the first vector gives the rows"),
        (outer_meta, cat_from_the_front, "one below 0 counts from the end"),
        (outer_meta, cat_that_trusts, "What a rule lets pass, a kernel meets later"),
        (outer_meta, cat_by_accident, "expected ValueError, found KeyError"),
        (outer_meta, cat_by_accident, "say it on purpose, with a ValueError"),
        (outer_meta, lambda x, y, dim: [a + b for a, b in zip(x.shape, y.shape)], "cat adds the"),
        (lambda x, y: 3, cat_meta, "expected a shape, found 3"),
        (lambda x, y: (x, y), cat_meta, "expected a shape, found (tensor("),
        (lambda x, y: ..., lambda x, y, dim: ..., "Not begun"),
        (outer_meta, lambda x, y, dim: ..., "Not begun"),
    ],
)
def test_meta_rules(outer, cat, word):
    assert word in repr(course.meta_rules(outer, cat))


def test_meta_rules_show_the_first_shape_that_is_wrong():
    told = repr(course.meta_rules(lambda x, y: (y.shape[0], x.shape[0]), cat_meta))
    assert "NO  outer of (" in told and "NO  outer, right for random shapes: expected 20" in told
    assert "ok  cat, right for random shapes: expected 20, found 20" in told


# ---- 06: no mutation inside ---------------------------------------------------------------------


def assigned(x):
    y = x.clone()
    y[0] = y[0] * 3
    return y


def written_to_x(x):
    x[0].mul_(3)
    return x.clone()


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (lambda x: torch.select_scatter(x, x[0] * 3, 0, 0), PASSED),
        (lambda x: torch.cat([x[:1] * 3, x[1:]]), PASSED),
        (lambda x: x * torch.tensor([[3.0], [1.0]]), PASSED),
        (lambda x: torch.tensor([[3.0, 6.0], [3.0, 4.0]]), "NO  values for x = [[5.0, -6.0, 7.0]"),
        (lambda x: x * 3, "Both rows are tripled"),
        (lambda x: x[0] * 3, "That is the row alone"),
        (lambda x: x * 1, "Nothing is tripled"),
        (assigned, "copy_ writes into a tensor"),
        (written_to_x, "The caller's x was written"),
        (lambda x: 3, "expected a tensor, found an int"),
        (lambda x: ..., "Not begun"),
    ],
)
def test_pure(fn, word):
    assert word in repr(course.pure(fn))


# ---- 06: a small vocabulary ---------------------------------------------------------------------


def by_numpy(x):
    import numpy

    a = x.numpy()
    return torch.tensor(a / (1 + numpy.abs(a)))


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (lambda x: x / (1 + x.abs()), PASSED),
        (lambda x: x / (1 + abs(x)), PASSED),
        (torch.nn.functional.softsign, "That is the large operator itself"),
        (lambda x: torch.nn.functional.softsign(x), "That is the large operator itself"),
        (by_numpy, "Part of it runs outside the graph"),
        (lambda x: x / (1 + torch.where(x > 0, x, -x)), "More operators than it takes"),
        (lambda x: x / (2 + x.abs()), "NO  values"),
        (lambda x: 0.5, "expected a tensor, found a float"),
        (lambda x: ..., "Not begun"),
    ],
)
def test_softsign(fn, word):
    assert word in repr(course.softsign(fn))


# ---- 07: the backward by hand -------------------------------------------------------------------


def by_hand(mask, grad, shape):
    x = torch.where(mask, 0.0, grad * 2)
    return x, x.sum(0) if x.shape != shape else x


def flowing(mask, grad):
    return torch.where(mask, 0.0, grad * 2)


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (by_hand, PASSED),
        (lambda m, g, s: [*by_hand(m, g, s)], PASSED),
        (lambda m, g, s: by_hand(m, torch.ones(*g.shape), s), "grad is not asked"),
        (lambda m, g, s: (flowing(m, g), flowing(m, g)), "Both rows read the one bias"),
        (lambda m, g, s: (flowing(m, g), flowing(m, g).sum(0)), "Nothing was broadcast here"),
        (lambda m, g, s: by_hand(m, g / 2, s), "The factor 2 is missing"),
        (lambda m, g, s: by_hand(~m, g, s), "where the mask is True relu gave 0"),
        (lambda m, g, s: (flowing(m, g), g.sum(0) if g.ndim > 1 else g), "bias: the same as x"),
        (lambda m, g, s: flowing(m, g), "expected two gradients"),
        (lambda m, g, s: (flowing(m, g), 4), "expected gradients that are tensors, found an int"),
        (lambda m, g, s: ..., "Not begun"),
    ],
)
def test_block_backward(fn, word):
    assert word in repr(course.block_backward(fn))


# ---- 07: a warm-up ------------------------------------------------------------------------------


def both(g, *inputs):
    torch.autograd.grad(g(*inputs).sum(), inputs)


def tidied(g, *inputs):
    g(*inputs).sum().backward()
    for leaf in inputs:
        leaf.grad = None


def zeroed(g, *inputs):
    g(*inputs).sum().backward()
    for leaf in inputs:
        leaf.grad.zero_()


def untidy(g, *inputs):
    g(*inputs).sum().backward()


def without_gradients(g, *inputs):
    with torch.no_grad():
        g(*inputs)


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (both, PASSED),
        (tidied, PASSED),
        (zeroed, "without a gradient, .grad is None"),
        (untidy, "the first step would add its gradients"),
        (lambda g, *inputs: g(*inputs), "The forward alone is warm"),
        (without_gradients, "found ['forward', 'backward']"),
        (without_gradients, "Training wants a variant of its own"),
        (lambda g, *inputs: g(*(leaf.detach() for leaf in inputs)), "Training wants a variant"),
        (lambda g, *inputs: g.warm(), "AttributeError"),
        (3, "hand over the function"),
        (lambda g, *inputs: ..., "Not begun"),
        (..., "Not begun"),
    ],
)
def test_warm_up(fn, word):
    assert word in repr(course.warm_up(fn))


# ---- 08: where the cut goes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["primals_1"], PASSED),
        (["primals_1", "primals_1"], PASSED),
        (["primals_1", "cos", "cos_1"], "All that the backward reads is kept"),
        (["primals_1", "cos"], "one of these can still be computed"),
        (["primals_1", "cos_1"], "one of these can still be computed"),
        ([], "The backward reads primals_1, which nobody kept"),
        (["cos_1"], "The backward reads primals_1, which nobody kept"),
        (["x"], "expected a list of names of the forward: primals_1, cos, cos_1, cos_2"),
        ([["cos"]], "expected a list of names of the forward"),
        (["mul"], "expected a list of names of the forward"),
        ("primals_1", "expected a list of names"),
        (..., "Not begun"),
        ([...], "Not begun"),
    ],
)
def test_kept(names, word):
    assert word in repr(course.kept(names))


@pytest.mark.parametrize(
    ("share", "word"),
    [
        (0.5, PASSED),
        (0.34, PASSED),
        (1, "more is kept than that needs"),
        (0, "x @ w1 runs twice for it"),
        (2, "expected a number from 0 to 1, found 2"),
        ("half", "expected a number from 0 to 1"),
        (..., "Not begun"),
    ],
)
def test_budget(share, word):
    assert word in repr(course.budget(share))


# ---- 08b: a training loop -----------------------------------------------------------------------


def training(wrap_loss=torch.compile, wrap_step=torch.compile, forget=True, step_it=True):
    """A training loop, right unless it is told otherwise."""

    def train(model, optimizer, x, labels, steps):
        loss_of = wrap_loss(lambda: cross_entropy(model(x), labels))
        step = wrap_step(optimizer.step)
        losses = []
        for _ in range(steps):
            if forget:
                optimizer.zero_grad()
            loss = loss_of()
            loss.backward()
            if step_it:
                step()
            losses.append(loss.item())
        return losses

    return train


def in_every_step(model, optimizer, x, labels, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.compile(lambda: cross_entropy(model(x), labels))()
        loss.backward()
        torch.compile(optimizer.step)()
        losses.append(loss.item())
    return losses


def all_in_one(model, optimizer, x, labels, steps):
    @torch.compile
    def step():
        optimizer.zero_grad()
        loss = cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return [step() for _ in range(steps)]


def told_afterwards(model, optimizer, x, labels, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        cross_entropy(model(x), labels).backward()
        optimizer.step()
        losses.append(cross_entropy(model(x), labels).item())
    return losses


def left_alone(fn):
    return fn


@pytest.mark.parametrize(
    ("train", "word"),
    [
        (training(), PASSED),
        (training(forget=False), "zero_grad() forgets"),
        (training(step_it=False), "The loss stands still"),
        (training(left_alone, left_alone), "nothing was compiled"),
        (training(wrap_step=left_alone), "the optimizer's step can be as well"),
        (training(wrap_loss=left_alone), "the loss can be as well"),
        (in_every_step, "Compiled in every step"),
        (all_in_one, "A compiled function is left in the middle"),
        (told_afterwards, "That is the loss after each step"),
        (lambda *task: [1.0, *range(11)], "Not yet"),
        (lambda *task: [0.5], "expected 12 numbers, found 1: [0.5]"),
        (lambda *task: ..., "Not begun"),
    ],
)
def test_trained(train, word):
    assert word in repr(course.trained(train))


def test_a_check_of_training_leaves_the_seed_alone():
    torch.manual_seed(3)
    expected = torch.rand(2).tolist()
    torch.manual_seed(3)
    course.trained(training())
    assert torch.rand(2).tolist() == expected
