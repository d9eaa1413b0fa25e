"""Programs with gradients, each a row: what it is given, what is compiled, what is done with it.

In: a row and a module, the lab or PyTorch.  Out: all that can be told of the tensors afterwards.
A row's first text names tensors, its second has the parameters and the body of `f`, its third goes
on with `o`, what `f` returned for those tensors; where it calls `f` itself, that is the only call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np

Row = tuple[str, str, str]

SUMS = "sum((t * t).sum() for t in o if t.requires_grad).backward()"
NO_GRAD = "with torch.no_grad(): "

# Eager mode refuses the backward of these; a graph has the overwritten value for itself.
OVERWRITES: dict[str, Row] = {
    "a_saved_result": ("x=leaf(3)", "x: y = x.exp()\nz = y * 2\ny.add_(1)\nreturn y, z", SUMS),
    "its_own_operand": ("x=leaf(3)", "x: y = x * 1\ny += y\ny *= y\nreturn y,", SUMS),
    "less_its_mean": (
        "x=leaf(3, 2)",
        "x: y = x * 1\ny -= y.mean(0)\ny /= y.std()\nreturn y,",
        SUMS,
    ),
    "chain": (
        "x=leaf(3)",
        "x: y = x * 1\ny.pow_(2)\ny.add_(1)\ny.sqrt_()\ny.exp_()\nreturn y,",
        SUMS,
    ),
}

ROWS: dict[str, Row] = {
    # ---- views, and views of views ----
    "view_of_view": (
        "x=leaf(3, 4)",
        "x: y = x * 2\nv = y[1:].t()[0:2]\nv.mul_(3)\nw = v[1]\nw.add_(1)\nreturn y, v, w",
        SUMS,
    ),
    "overlapping_slices": (
        "x=leaf(4)",
        "x: y = x.clone()\na, b = y[:3], y[1:]\na.mul_(2)\nb.mul_(3)\na.add_(1)\n"
        "return y, a, b",
        SUMS,
    ),
    "permuted_parts": (
        "x=leaf(12)",
        "x: y = (x * 1).view(2, 3, 2)\na = y.permute(2, 0, 1)[0]\nb = y[:, 1]\n"
        "c = a[:, ::2]\na.mul_(2)\nb.add_(1)\nc.copy_(c.clone() * 3)\nreturn y, a, b, c",
        SUMS,
    ),
    "prefix_sums": (
        "x=leaf(8)",
        "x: y, n = x.clone(), 1\nwhile n < 8:\n    z = y.clone()\n    z[n:] += y[:-n]\n"
        "    y, n = z, n * 2\nreturn y,",
        SUMS,
    ),
    "read_what_was_written": (
        "x=leaf(4)",
        "x: y = torch.zeros(4)\nfor i in range(4): y[i] = (y.sum() + x[i]) * 0.5\n"
        "return y,",
        SUMS,
    ),
    "rows_change_places": (
        "x=leaf(2, 3)",
        "x: y = x * 1\ny[0], y[1] = y[1].clone(), y[0].clone()\nreturn y,",
        SUMS,
    ),
    "rows_that_alias": ("x=leaf(2, 3)", "x: y = x * 1\ny[0], y[1] = y[1], y[0]\nreturn y,", SUMS),
    "diagonal_by_strides": (
        "x=leaf(3, 3)",
        "x: y = x * 1\ny.view(-1)[::4].zero_()\nreturn y,",
        SUMS,
    ),
    "a_view_outlives_its_name": (
        "x=leaf(2, 2)",
        "x: y = x * 1\nv = y[0]\ny = y + 1\nv.mul_(5)\nreturn y, v",
        SUMS,
    ),
    "written_by_a_mask": (
        "x=leaf(5)",
        "x: y = x * 1\ny[x > 1] = 0.5\ny[x <= 1] += 1\nreturn y,",
        SUMS,
    ),
    "written_by_index": (
        "x=leaf(5), i=torch.tensor([3, 0])",
        "x, i: y = x * 2\ny[i] = x[:2] * 10\nreturn y,",
        SUMS,
    ),
    "written_by_ellipsis": (
        "x=leaf(2, 3)",
        "x: y = x * 1\ny[..., 0] = 5\ny[:, 1:2] += 1\ny[1, ...] *= 2\ny[None, 0] = 3\n"
        "return y,",
        SUMS,
    ),
    "broadcast_into_parts": (
        "x=leaf(3, 2), b=leaf(4)",
        "x, b: y = torch.zeros(3, 4)\ny.copy_(b)\ny[:, 1:3].copy_(x)\nreturn y,",
        SUMS,
    ),
    "another_type": (
        "x=leaf(2, 2)",
        "x: y = torch.zeros(2, 2, dtype=torch.float64)\ny.copy_(x)\n"
        "z = y.to(torch.float32)\nz.copy_(y * 2)\nreturn y, z",
        SUMS,
    ),
    # ---- a tensor where a number could stand ----
    "filled": ("x=leaf(2, 2), v=leaf()", "x, v: y = x * 1\ny[0].fill_(v)\nreturn y,", SUMS),
    "filled_from_itself": ("x=leaf(3)", "x: y = x * 1\ny.fill_(y[2])\nreturn y,", SUMS),
    "masked_fill": (
        "x=leaf(3), v=leaf()",
        "x, v: y = x * 1\ny.masked_fill_(x > 1, v)\nreturn y, x.masked_fill(x < 1, v)",
        SUMS,
    ),
    "one_element": (
        "x=leaf(2, 2), v=leaf()",
        "x, v: y = x * 1\ny[0] = v\ny[1, 0] = v * 2\nreturn y,",
        SUMS,
    ),
    "bounds": (
        "x=leaf(4), v=leaf()",
        "x, v: return torch.clamp(x, max=v), torch.where(x > 1, x, v)",
        SUMS,
    ),
    "scattered_numbers": (
        "x=leaf(), i=torch.tensor([0])",
        "x, i: y = x.scatter(0, i, 9.0), x.scatter_add(0, i, x)\n"
        "return *y, x.gather(0, i), x.gather(0, i[0])",
        SUMS,
    ),
    "scattered": (
        "x=leaf(3), v=leaf(), i=torch.tensor([1])",
        "x, v, i: return x.scatter(0, i, v), x.scatter_add(0, i, v), x.scatter(0, i[0], v)",
        SUMS,
    ),
    "slope": ("x=leaf(3), v=leaf()", "x, v: return F.leaky_relu(x, v),", ""),
    "alpha": ("x=leaf(3), v=leaf()", "x, v: return F.elu(x, v),", ""),
    "plain_slope": (
        "x=leaf(3), v=plain()",
        "x, v: return F.leaky_relu(x - 1, v), torch.add(x, x, alpha=v)",
        SUMS,
    ),
    "filled_with_a_vector": ("x=leaf(3)", "x: return (x * 1).fill_(torch.ones(1)),", ""),
    "filling_value": ("x=leaf(3), v=leaf()", "x, v: return torch.full_like(x, v),", ""),
    # ---- inputs that are written, and that share memory ----
    "twice_the_same": (
        "p=leaf(3)",
        "a, b: a.mul_(2)\nreturn a * b, b + 1",
        "x = p * 1\no = f(x, x)\n" + SUMS,
    ),
    "with_its_view": (
        "p=leaf(2, 3)",
        "a, b: b.mul_(2)\nreturn a.sin(), b",
        "x = p * 1\no = f(x, x[0])\n" + SUMS,
    ),
    "overlapping_operand": (
        "p=leaf(5)",
        "a, b: a.mul_(2)\nb.add_(a)\nreturn a + b,",
        "x = p * 1\no = f(x[:3], x[2:])",
    ),
    "interleaved": (
        "p=leaf(4)",
        "a, b: a.mul_(2)\nb.copy_(a)\nreturn a * b,",
        "x = p * 1\no = *f(x[::2], x[1::2]), x\n" + SUMS,
    ),
    "transposed_twin": (
        "p=leaf(2, 2)",
        "a, b: a.add_(1)\nreturn a * b.t(),",
        "x = p * 1\no = f(x, x.t())\n" + SUMS,
    ),
    "detached_twin": (
        "p=leaf(3)",
        "a, b: a.mul_(2)\nreturn a + b,",
        "x = p * 1\no = f(x, x.detach())\n" + SUMS,
    ),
    "detached_twin_written": (
        "p=leaf(3)",
        "a, b: a.mul_(2)\nreturn b * 3,",
        "x = p * 1\no = f(x.detach(), x)\n" + SUMS,
    ),
    "base_and_view_written": (
        "p=leaf(2, 2)",
        "a, b: a.mul_(2)\nb.add_(1)\na[0].mul_(3)\nreturn a.sum() + b.sum(),",
        "x = p * 1\no = f(x, x[0])\n" + SUMS,
    ),
    "view_of_an_outer_base": (
        "p=leaf(2, 3)",
        "a: a.mul_(4)\nreturn a * 2,",
        "x = p * 1\nv = x[1]\no = *f(v), x, v\n" + SUMS,
    ),
    "read_between_writes": (
        "p=leaf(3)",
        "a: b = a * 2\na.mul_(3)\nc = a * 2\na.add_(b)\nreturn b, c, a",
        "x = p * 1\no = f(x)\n" + SUMS,
    ),
    "overwritten_with_itself": (
        "p=leaf(2)",
        "a: a.copy_(a)\nreturn a.sum(),",
        "x = p * 1\no = *f(x), x\n" + SUMS,
    ),
    "a_buffer_with_a_history": (
        "x=leaf(2, 3), h=torch.ones(3)",
        "x, h: h.mul_(0.9).add_(x.mean(0))\nreturn x - h,",
        "o = *f(x, h), *f(x, h), h\n" + SUMS,
    ),
    "shape_error_after_a_write": (
        "p=leaf(2)",
        "a: a.add_(1)\nreturn a @ torch.ones(5),",
        "x = p * 1\no = x,\nf(x)",
    ),
    # ---- outputs: whose memory, whose history ----
    "views_of_an_input": (
        "p=leaf(2, 3)",
        "a: a.add_(1)\nreturn a[1:], a, a.t()",
        "x = p * 1\no = f(x)\no[0].mul_(3)\n" + SUMS,
    ),
    "views_of_a_result": (
        "x=leaf(2, 3)",
        "x: y = x * 2\nreturn y[0], y[1], y.t()",
        "o[0].mul_(2)\n(o[1].sum() + o[2].sum()).backward()",
    ),
    "parts": (
        "p=leaf(2, 2)",
        "a: return *a.unbind(), *a.split(1), *a.chunk(2, 1)",
        "x = p * 1\no = f(x)\n" + SUMS,
    ),
    "no_copy_or_a_copy": (
        "x=leaf(2, 2)",
        "x: return x.contiguous(), x.t().contiguous(), x.reshape(4), "
        "x.t().reshape(4), x.squeeze(), x.expand(2, 2), x.to(torch.float32), x[...]",
        "",
    ),
    "detached_views": ("x=leaf(2, 2)", "x: return x.detach()[0], x.detach(), x", "o[0].add_(1)"),
    "written_result": (
        "x=leaf(3)",
        "x: return x * 2, x + 1",
        "o[0].mul_(5)\n(o[0] * o[1]).sum().backward()",
    ),
    "saved_result_written": (
        "x=leaf(3)",
        "x: return x.exp(),",
        "o[0].mul_(2)\no[0].sum().backward()",
    ),
    "saved_input_written": (
        "p=leaf(3)",
        "a: return a * a,",
        "x = p * 1\no = f(x)\nx.add_(1)\no[0].sum().backward()",
    ),
    "tangent_written": (
        "x=leaf(3)",
        "x: return x * 2,",
        "g = torch.ones(3)\no[0].backward(g)\nx.grad.mul_(5)\no = *o, g",
    ),
    # ---- leaves that are views ----
    "leaf_view": ("x=plain(4)[1:].requires_grad_()", "x: return x * 2, x[0]", SUMS),
    "leaf_view_written": ("x=plain(4)[1:].requires_grad_()", "x: x[0].add_(1)\nreturn x,", ""),
    "leaf_view_written_inside": (
        "x=plain(4)[1:].requires_grad_()",
        "v: v.mul_(2)\nreturn v,",
        "o = x,\nf(x[0])",
    ),
    "leaf_view_unrecorded": (
        "x=plain(4)[1:].requires_grad_()",
        "x: with torch.no_grad(): v = x[0]\nreturn v, x * 2",
        SUMS,
    ),
    "leaf_view_asked": (
        "x=plain(4)[1:].requires_grad_(), y=leaf(3)",
        "x, y: with torch.no_grad(): v, w = x[0], y[0]\n"
        "return x * (1 + v.requires_grad + 2 * w.requires_grad),",
        SUMS,
    ),
    # ---- grad mode ----
    "leaf_written": ("x=leaf(3)", "x: x.mul_(2)\nreturn x,", ""),
    "leaf_written_unrecorded": (
        "x=leaf(3)",
        "x: with torch.no_grad(): x.mul_(2)\nreturn x * 3,",
        SUMS,
    ),
    "zeroed_in_between": (
        "x=leaf(3)",
        "x: y = x * 3\nwith torch.no_grad(): x.zero_()\nreturn y + x.sum(),",
        SUMS,
    ),
    "the_same_with_and_without": (
        "x=leaf(3)",
        "x: a = x.sin() * 2\nwith torch.no_grad(): b = x.sin() * 2\nreturn a * b, a, b",
        SUMS,
    ),
    "grad_within_no_grad": (
        "x=leaf(3)",
        "x: with torch.no_grad():\n    with torch.enable_grad(): a = x * 2\n"
        "    b = a * 3\nreturn a, b",
        SUMS,
    ),
    "detached_and_written": (
        "x=leaf(3)",
        "x: y = x * 2\ny.detach().mul_(10)\nreturn y * 1, y",
        SUMS,
    ),
    "base_written_view_detached": (
        "x=leaf(2)",
        "x: y = x * 1\nd = y.detach()\ny.mul_(2)\nreturn d * 1, d, y",
        SUMS,
    ),
    "asked_for_its_history": (
        "x=leaf(2)",
        "x: return (x * 2 if x.is_leaf else x * 3), (x * 5 if x.grad_fn is None else x)",
        SUMS,
    ),
    # ---- the backward ----
    "twice_with_retain": (
        "x=leaf(3)",
        "x: return (x ** 3).sum(),",
        "o[0].backward(retain_graph=True)\no[0].backward()\no[0].backward()",
    ),
    "of_one_then_of_the_other": (
        "x=leaf(3)",
        "x: return x.sin(), x.cos()",
        "o[0].sum().backward(retain_graph=True)\no[1].sum().backward()",
    ),
    "three_calls_add_up": (
        "w=leaf(3)",
        "w, k: return torch.tanh(w * k),",
        "o = [f(w, k)[0] for k in (1.0, 2.0, 3.0)]\n" + SUMS,
    ),
    "of_another_layout": ("x=leaf(2, 3)", "x: return x @ x.t(),", "o[0].backward(plain(2, 2).t())"),
    "of_a_repeated_gradient": (
        "x=leaf(2, 3)",
        "x: return x * x,",
        "o[0].backward(torch.ones(1).expand(2, 3))",
    ),
    "only_wanted_inputs": (
        "x=leaf(2), y=leaf(2)",
        "x, y: return (x * y).exp(),",
        "o[0].sum().backward(inputs=[x])",
    ),
    "of_a_view_of_a_result": (
        "x=leaf(2, 2)",
        "x: return x * 2,",
        "v = o[0][0]\no = [g * 1 for g in torch.autograd.grad((v * v).sum(), [v, x])]",
    ),
    "unused": (
        "x=leaf(2), y=leaf(2)",
        "x, y: return x * 2,",
        "o = torch.autograd.grad(o[0].sum(), [x, y], allow_unused=True, materialize_grads=True)",
    ),
    "grad_mode_of_the_caller": (
        "x=leaf(2)",
        "x: return x * x,",
        "with torch.no_grad(): a = f(x)[0]\nb = f(x)[0]\no = a, b\n" + SUMS,
    ),
    "more_and_more_require_grad": (
        "x=plain(2), y=plain(2)",
        "x, y: return x * y,",
        "a = f(x, y)[0]\nx.requires_grad_()\nb = f(x, y)[0]\ny.requires_grad_()\n"
        "o = a, b, f(x, y)[0]\n" + SUMS,
    ),
    "sizes_that_vary": (
        "",
        "x, b: x.add_(b)\nx[1:].mul_(2)\nreturn x.sum(0), x[1:]",
        "o = []\nfor n in (3, 4, 5, 1):\n    p, b = leaf(n, 2), leaf(2)\n    x = p * 1\n"
        "    o += [*f(x, b), x, p, b]\n" + SUMS,
    ),
    "sizes_wait_for_their_backward": (
        "",
        "x: return x.exp(),",
        "xs = [leaf(n) for n in (2, 3, 4)]\no = [f(x)[0] for x in xs]\n" + SUMS + "\no += xs",
    ),
    "inputs_begin_to_broadcast": (
        "",
        "a, b: return a * b,",
        "o = []\nfor n in (3, 4, 1, 5):\n    a, b = leaf(n, 2), leaf(2)\n"
        "    o += [*f(a, b), a, b]\n" + SUMS,
    ),
}


@dataclass
class Seen:
    """What a run showed: of each tensor its facts and values, or the error at its end."""

    error: tuple[str, str]
    facts: list[tuple[Any, ...]]
    values: list[list[Any]]


def observe(row: Row, module: Any, compiled: Callable[..., Any] | None = None) -> Seen:
    """Run the row, with `f` going through `compiled` if that is given."""
    given, body, after = row
    scope = _scope(module)
    names = eval(f"dict({given})", scope)
    parameters, body = body.split(": ", 1)
    scope.update(names)
    exec(f"def f({parameters}):\n{indent(body, '    ')}\n", scope)
    if compiled is not None:
        scope["f"] = compiled(scope["f"])
    scope["o"], error = (), ("", "")
    try:
        exec(after if "f(" in after else f"o = f({', '.join(names)})\n{after}", scope)
    except Exception as raised:  # whatever it is, the other side must raise the same
        error = type(raised).__name__, str(raised)[:60]
    return _seen([*scope["o"], *(t for n, t in scope.items() if n in {*names, *"pxy"})], error)


def _seen(tensors: list[Any], error: tuple[str, str]) -> Seen:
    tensors = [t for t in tensors if t is not None]
    numbers = {id(t): n for n, t in reversed([*enumerate(tensors)])}
    facts, values = [], []
    for tensor in tensors:
        layout = tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype)
        tape = tensor.requires_grad, tensor.is_leaf, tensor.grad_fn is None, tensor._version
        base, gradient = tensor._base, tensor.grad if tensor.is_leaf else None
        places = numbers[id(tensor)], base is None, numbers.get(id(base)), gradient is None
        facts.append((*layout, *tape, *places))
        values.append([t.detach().tolist() for t in (tensor, gradient) if t is not None])
    facts.append(tuple(_sharing(tensors)))
    return Seen(error, facts, values)


def _sharing(tensors: list[Any]) -> Iterator[tuple[int, ...]]:
    """For each tensor which ones lie in the same storage."""
    starts = [t.data_ptr() - t.storage_offset() * t.element_size() for t in tensors]
    for start in starts:
        yield tuple([n for n, other in enumerate(starts) if start == other])


def compare(expected: Seen, found: Seen) -> None:
    """Raises AssertionError."""
    assert found.error == expected.error
    for number, (mine, other) in enumerate(zip(found.facts, expected.facts, strict=True)):
        assert mine == other, f"tensor {number}"
    for mine, other in zip(found.values, expected.values, strict=True):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(a, b, 1e-4, 1e-5)


def _scope(module: Any) -> dict[str, Any]:
    """What the texts speak of. `plain` and `leaf` make tensors of a shape."""

    def plain(*shape: int) -> Any:
        numbers = (module.arange(int(np.prod(shape))) * 0.37 + 0.5) % 2.3
        return numbers.reshape(shape).clone()

    def leaf(*shape: int) -> Any:
        return plain(*shape).requires_grad_()

    return {"torch": module, "F": module.nn.functional, "plain": plain, "leaf": leaf}
