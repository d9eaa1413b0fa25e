"""Views: shapes, strides, offsets, whose memory they show, and what writes to them do."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import check, pair

CUBE = np.arange(24.0).reshape(2, 3, 4)

VIEWS = [
    "x.view(6, 4)", "x.view(-1)", "x.view(2, 3, 2, 2)", "x.view(1, 24, 1)", "x.reshape(4, 6)",
    "x.reshape(-1, 8)", "x.transpose(0, 1)", "x.transpose(-1, 0)", "x.permute(2, 0, 1)",
    "x.permute((1, 2, 0))", "x.unsqueeze(0)", "x.unsqueeze(-1)", "x.unsqueeze(2)",
    "x[:1].squeeze()", "x[:1].squeeze(0)", "x.squeeze(0)", "x[:1, :1].squeeze((0, 1))",
    "x[:1].expand(5, 3, 4)", "x.expand(2, 2, 3, 4)", "x[:, :1].expand(-1, 3, -1)", "x.flatten()",
    "x.flatten(1)", "x.flatten(0, 1)", "x[0].t()", "x[0].T", "x.mT", "x[0]", "x[-1]", "x[:, 1]",
    "x[..., 2]", "x[1, 2, 3]", "x[0, :, 1:3]", "x[:, ::2]", "x[:, 5:]", "x[:, -2:]", "x[None]",
    "x[:, None, 0]", "x[...]", "x[:]", "x.transpose(0, 1)[1].t()",
    "x.transpose(0, 1).reshape(3, 8)", "x.transpose(1, 2).reshape(-1)",
    "x.transpose(0, 1).flatten()", "x.transpose(0, 1).contiguous()", "x.contiguous()", "x.detach()",
    "x.view_as(x)", "x.select(1, -1)", "x[0, 0].unsqueeze(1).expand(4, 2)", "x.to(m.float32)",
    "x.reshape(2, 3, 4)", "x[0].flatten()[1]", "x.view(24)[::5]",
]


def facts(m, x, result):
    """What can be seen of a view besides its values."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    rows = []
    for y in results:
        same = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        # A reshape that copies is a view of the copy here; PyTorch hides that copy.
        rows.append((y is x, y._base is x, same, same and y._base is None, y.is_contiguous()))
        rows.append(y.storage_offset() if same and y.numel() else None)
    return rows


@pytest.mark.parametrize("text", VIEWS)
def test_a_view(text: str) -> None:
    view = eval(f"lambda m, x: {text}")
    check(view, pair(CUBE, "float32"))
    check(lambda m, x: facts(m, x, view(m, x)), pair(CUBE, "float32"))


@pytest.mark.parametrize("text", VIEWS)
def test_writes_through_a_view(text: str) -> None:
    view = eval(f"lambda m, x: {text}")

    def program(m, x):
        y = view(m, x)
        first = y[0] if isinstance(y, (tuple, list)) else y
        before = x._version
        first.mul_(2)
        return x, first, x._version - before

    check(program, pair(CUBE, "float32"))


@pytest.mark.parametrize("text", [
    "x.view(5, 5)", "x.view(-1, -1)", "x.view(-1, 7)", "x.transpose(0, 1).view(24)", "x.reshape(5)",
    "x.transpose(0, 5)", "x.permute(0, 1)", "x.permute(0, 0, 1)", "x.unsqueeze(7)",
    "x.expand(3, 3, 4)", "x.expand(3)", "x.expand(-1, 2, 3, 4)", "x[5]", "x[0, 0, 0, 0]", "x[:, 9]",
    "x.t()", "x.flatten(2, 1)", "x.select(0, 2)", "x.squeeze(4)", "x.sum(3)", "x.sum((0, 0))",
    "x[0, 0, 0].sum(1)", "x[::-1]", "x.view(-2, 12)", "x.mean(dim=9)", "m.tensor(3)[0]",
    "m.ones(2, 0).view(-1, 0)",
])
def test_errors(text: str) -> None:
    check(eval(f"lambda m, x: {text}"), pair(CUBE, "float32"))


def squares():
    return pair([[1.0, -2.0], [0.5, 4.0]], "float32"), pair([[3.0, 1.0], [-1.0, 2.0]], "float32")


@pytest.mark.parametrize("text", [
    "x.add_(1)", "x.sub_(y)", "x.mul_(2)", "x.div_(2)", "x.pow_(2)", "x.relu_()", "x.exp_()",
    "x.copy_(y)", "x.fill_(3)", "x.zero_()", "x[0].add_(1)", "x[:, ::2].zero_()",
    "x.t().copy_(y.t())", "x.add_(y[0])", "x.clamp_(0, 1)", "x.neg_()", "x.sigmoid_()",
])
def test_in_place(text: str) -> None:
    step = eval(f"lambda m, x, y: {text}")

    def program(m, x, y):
        result = step(m, x, y)
        return x, result, x._version, result is x

    check(program, *squares())


@pytest.mark.parametrize("text", [
    "x.add_(1.5)", "x.div_(2)", "x.mul_(m.ones(2))", "x.add_(m.ones(3, 2, dtype=m.int64))",
    "x.copy_(m.ones(3, dtype=m.int64))", "x.copy_(m.ones(2) * 1.7)", "x.fill_(2.7)",
    "x[:1].expand(4).add_(1)",
])
def test_in_place_on_integers(text: str) -> None:
    check(lambda m, x: (eval(text, {"m": m, "x": x}), x), pair([1, 2], "int64"))


@pytest.mark.parametrize("text", [
    "x[0] = 5", "x[:, 1] = y[0]", "x[...] = 0", "x[0, 0] = y[1, 1]", "x[::2] = y[:1]", "x += y",
    "x *= 2", "x[0] += 1", "x -= x", "x[1:] = x[:-1].clone()",
])
def test_assignment(text: str) -> None:
    def program(m, x, y):
        scope = {"x": x, "y": y, "m": m}
        exec(text, scope)
        return x, scope["x"] is x, x._version > 0

    check(program, *squares())
