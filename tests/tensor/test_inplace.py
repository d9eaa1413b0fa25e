"""Writes, and what they do to the history of bases and views."""

from __future__ import annotations

import pytest

import labcore as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor([float(v) for v in values], requires_grad=True)


def test_without_gradients():
    x = torch.ones(2)
    assert x.add_(1) is x and x.relu_() is x and (x._version, x.grad_fn) == (2, None)
    with torch.no_grad():
        w = leaf(1, 2)
        w.sub_(0.5)
        w[0] = 9
    assert w.tolist() == [9, 1.5] and w.is_leaf and w.requires_grad


def test_history_goes_on():
    x = leaf(1, -2)
    y = x * 2
    y.neg_()
    y.mul_(torch.tensor([3.0, 5.0]))
    assert y.grad_fn.name() == "MulBackward0" and y.tolist() == [-6, 20]
    y.sum().backward()
    assert x.grad.tolist() == [-6, -10]


def test_the_overwritten_value_is_saved_where_the_rule_reads_it():
    x, w = leaf(3, 4), leaf(5, 6)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    assert w.grad.tolist() == [3, 4] and x.grad.tolist() == [5, 6]


def test_a_constant_becomes_part_of_the_history():
    x, y = leaf(1, 2), torch.zeros(2)
    y.add_(x)
    y.mul_(3)
    y.sum().backward()
    assert y.requires_grad and x.grad.tolist() == [3, 3]


def test_overwriting_ends_the_old_history():
    for write in (lambda y: y.zero_(), lambda y: y.fill_(3), lambda y: y.copy_(torch.ones(2))):
        x = leaf(1, 2)
        y = x * 2
        write(y)
        y.sum().backward()
        assert x.grad.tolist() == [0, 0]


def test_writing_to_a_view_rewrites_the_base():
    x, w = leaf(1, 2, 3), leaf(10)
    y = x * 2
    part, other = y[1:], y[0]
    part.mul_(w)
    assert [t.grad_fn.name() for t in (y, part, other)] == [
        "CopySlices",
        "AsStridedBackward0",
        "AsStridedBackward0",
    ]
    (y.sum() + part.sum() + other).backward()
    assert x.grad.tolist() == [4, 40, 40] and w.grad.tolist() == [2 * (4 + 6)]


def test_a_view_of_a_view():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    y.t()[1:][0].mul_(5)
    assert y.tolist() == [[2, 10, 2], [2, 10, 2]]
    y.sum().backward()
    assert x.grad.tolist() == [[2, 10, 2], [2, 10, 2]]


def test_assigning_into_a_base():
    x, rows = leaf(1, 2), torch.zeros(3, 2)
    rows[0] = x
    rows[1] = rows[0] * 2
    rows[2] = 7
    kept = rows[1]
    rows.sum().backward()
    assert (
        x.grad.tolist() == [3, 3]
        and kept.requires_grad
        and rows.tolist() == [[1, 2], [2, 4], [7, 7]]
    )


def test_writing_to_the_base_reaches_its_views():
    x, base = leaf(1, 2), torch.zeros(2)
    view = base[1]
    base.add_(x)
    assert view.requires_grad and view.item() == 2
    view.backward()
    assert x.grad.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x: x.add_(1),
            "a leaf Variable that requires grad is being used in an in-place operation.",
        ),
        (
            lambda x: x[0].add_(1),
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        ),
        (lambda x: x.__setitem__(0, 1), "a view of a leaf Variable that requires grad"),
        (
            lambda x: torch.zeros(2).expand(3, 2).add_(1),
            "more than one element of the written-to tensor",
        ),
        (
            lambda x: torch.zeros(2).add_(torch.ones(3, 2)),
            "output with shape [2] doesn't match the broadcast shape [3, 2]",
        ),
        (
            lambda x: torch.zeros(2, dtype=torch.int64).add_(1.5),
            "result type Float can't be cast to the desired output type",
        ),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError) as caught:
        call(leaf(1, 2))
    assert text in str(caught.value)


def test_a_refused_write_changes_nothing():
    x = torch.zeros(2)
    with pytest.raises(RuntimeError):
        x.add_(torch.ones(3, 2))
    assert x._version == 0 and x.tolist() == [0, 0]


def test_a_view_taken_without_recording():
    x = leaf(1, 2)
    y = x * 2
    with torch.no_grad():
        view = y[0]
    with pytest.raises(
        RuntimeError, match="A view was created in no_grad mode and is being modified inplace"
    ):
        view.mul_(2)
    y.mul_(2)
    with pytest.raises(
        RuntimeError, match="its base or another view of its base has been modified inplace"
    ):
        (view * 1).backward()


@pytest.mark.parametrize(("name", "args"), [
    ("masked_fill", (torch.tensor([[True], [False]]), 7.0)), ("lerp", (torch.ones(2, 3), 0.5)),
    ("addcmul", (torch.ones(2, 3), torch.ones(3))), ("triu", ()), ("tril", (-1,)),
    ("addcdiv", (torch.ones(2, 3), torch.ones(3) * 2)), ("nan_to_num", ()),
    ("scatter", (1, torch.tensor([[0], [2]]), 9.0)),
    ("scatter_add", (0, torch.tensor([[0, 1, 0]]), torch.ones(1, 3))),
    ("index_add", (0, torch.tensor([1]), torch.ones(1, 3))),
    ("addmm", (torch.ones(2, 2), torch.ones(2, 3))),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_in_place_forms_of_what_is_made_of_operators(name, args):
    """The same values and gradients; the tensor itself, one version on."""
    leaf = torch.arange(6.0).view(2, 3).requires_grad_()
    target, function = leaf * 1, getattr(torch.Tensor, name)
    expected = function(target, *args)
    compiled = torch.compile(lambda x: getattr(x, f"{name}_")(*args) * 2, fullgraph=True)
    results = getattr(target, f"{name}_")(*args), compiled(leaf * 1)
    assert results[0] is target and target._version == 1 and torch.equal(target, expected)
    assert torch.equal(results[1], expected * 2)
    (wanted,) = torch.autograd.grad(expected.sum(), leaf, retain_graph=True)
    for result, scale in zip(results, (1, 2)):
        assert torch.equal(torch.autograd.grad(result.sum(), leaf)[0], wanted * scale)


def test_an_in_place_form_keeps_the_type():
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        torch.arange(3).addcmul_(torch.ones(3), torch.ones(3))


@pytest.mark.parametrize("backend", [None, "eager", "inductor"])
def test_composites_refuse_operands_that_are_other_parts_of_what_they_write(backend):
    def function(base, weight):
        base[:3].lerp_(base[1:], weight)

    run = torch.compile(function, backend=backend) if backend else function
    base = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        run(base, 0.5)
    assert base.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("backend", [None, "eager", "inductor"])
@pytest.mark.parametrize("write", [
    lambda y: y.add_(y[0][None]),
    lambda y: y.data.add_(y[0][None]),
    lambda y: y.data.add_(y.data[0][None]),
    lambda y: y.data.copy_(y[0][None]),
    lambda y: y.mul_(y[:1]),
    lambda y: y.detach().mul_(y[0]),
], ids=["row", "data", "data of data", "copy", "slice", "number of axes"])
def test_a_first_row_is_another_part_of_what_is_written(write, backend):
    """It begins where the whole does, and has its strides."""
    run = torch.compile(write, backend=backend) if backend else write
    y = torch.arange(6.0).reshape(2, 3)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        run(y)
    assert y.flatten().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("write", [
    lambda y: y.add_(y), lambda y: y.data.mul_(y), lambda y: y.t().add_(y.t()),
    lambda y: y[1:].add_(y[:1]), lambda y: y[:].add_(y[:]),
])
def test_the_whole_and_other_parts_may_be_operands(write):
    y, z = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    torch.testing.assert_close(torch.compile(write)(y), write(z))
    assert torch.equal(y, z)


def test_a_reshape_that_copies_gives_no_view():
    x = torch.arange(6.0).reshape(2, 3)
    for function in (lambda x: x.t().flatten(), lambda x: x.t().reshape(2, 3)):
        compiled = [torch.compile(function, backend=name) for name in ("aot_eager", "inductor")]
        for run in (function, *compiled):
            assert run(x)._base is None and run(x).is_contiguous()
    assert x.reshape(-1)._base is not None
