"""A `Function` in a compiled function: one graph, with the program's own derivative in the joint
graph; or a break that says why, with the same gradient."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler import compile as lab_compile, explain
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import AotGraph, record

BACKENDS = ["eager", "aot_eager", "inductor"]
Function = torch.autograd.Function
calls: list[str] = []


class Square(Function):
    """Its derivative is ten times too large, so that it shows."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * 20 * ctx.k, None


class Masked(Function):
    """As relu is written: a copy, and zeros where there is to be no gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.clone()
        g[x < 0.2] = 0
        return g


class Clipped(Function):
    """A gradient that is not linear in the one it is made of."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g.clamp(-1, 1).view(-1).view_as(g)


class Product(Function):
    @staticmethod
    def forward(ctx, x, w):
        y = x * w
        ctx.save_for_backward(x, w, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        first = g * w + g * y if ctx.needs_input_grad[0] else None
        return first, g * x * 3 if ctx.needs_input_grad[1] else None


class Through(Function):
    @staticmethod
    def forward(x, step):
        return (x / step).floor() * step

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g, None


class Rows(Function):
    """Its backward speaks of a size, and of a number."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x.sum(1) * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g[:, None].expand(x.shape[0], 3) * ctx.k * x.shape[0], None


def used_twice(x, w):
    return Square.apply(Square.apply(x, 2) * w, 3)


def unused_besides(x, w):
    return Product.apply(x, w), Masked.apply(x) * w, x * 2


def in_a_loop(x, w):
    for _ in range(3):
        x = Clipped.apply(x * w) + x
    return x


def written_before(x, w):
    y = x * 1
    y.mul_(w)
    z = Masked.apply(y)
    z.add_(1)
    return z, y


def of_one(x, w):
    return Product.apply(x.detach(), w) + Product.apply(x, w.detach())


WHOLE = {
    "square": lambda x, w: Square.apply(x, 3).sum(0) * w,
    "twice": used_twice,
    "masked": lambda x, w: Masked.apply(x * w),
    "expanded gradient": lambda x, w: Clipped.apply(x * w).sum(),
    "product": lambda x, w: Product.apply(x, x.sin() * w),
    "through": lambda x, w: Through.apply(x * w, 0.25) * x,
    "several": unused_besides,
    "loop": in_a_loop,
    "written": written_before,
    "of one": of_one,
    "same": lambda x, w: Product.apply(x, x) + w,
}


def seen(run, only=None):
    """Results and gradients, the latter of all results or one."""
    x = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], requires_grad=True)
    w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    found = run(x, w)
    results = found if isinstance(found, tuple) else (found,)
    used = results if only is None else [results[only % len(results)]]
    total = torch.zeros(())
    for number, tensor in enumerate(used):
        weights = torch.arange(1, tensor.numel() + 1).view(tuple(tensor.shape)) - 2
        total = total + (tensor * weights * (number + 1)).sum()
    total.backward()
    facts = [(t.requires_grad, t._version, t._base is None) for t in results]
    grads = [None if t.grad is None else t.grad.tolist() for t in (x, w)]
    return facts, [t.tolist() for t in results], grads


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", WHOLE)
def test_whole(name, backend):
    counter = CompileCounter()
    run = lab_compile(WHOLE[name], backend=counter if backend == "eager" else backend)
    for only in (None, None, 0, 1):
        expected, found = seen(WHOLE[name], only), seen(run, only)
        assert found[0] == expected[0]
        for ours, eager in zip([*found[1], *found[2]], [*expected[1], *expected[2]], strict=True):
            assert (ours is None) == (eager is None)
            if eager is not None:
                torch.testing.assert_close(torch.tensor(ours), torch.tensor(eager))
    if backend == "eager":
        assert counter.frame_count == 1


def test_it_is_part_of_the_joint_graph():
    with record() as story:
        run = lab_compile(lambda x: Square.apply(x.sin(), 3).exp(), backend="aot_eager")
        run(torch.ones(3, requires_grad=True)).sum().backward()
    joint, forward, backward = story.of(AotGraph)[:3]
    assert "20" in joint.code and "20" in backward.code and "20" not in forward.code
    assert "Square" in joint.code or "clone" in joint.code


def test_what_it_reads_is_guarded():
    scale = torch.tensor(2.0)

    class Scaled(Function):
        factor = 3.0

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * scale * Scaled.factor

    def gradient(run):
        x = torch.ones(2, requires_grad=True)
        run(x).sum().backward()
        return x.grad.tolist()

    run = lab_compile(lambda x: Scaled.apply(x) + 1, backend="aot_eager", fullgraph=True)
    assert gradient(run) == [6, 6]
    Scaled.factor = 5.0
    assert gradient(run) == [10, 10]
    scale.fill_(1)
    assert gradient(run) == [5, 5]


def backward_of(function):
    """A step of the identity with this backward."""
    methods = {"forward": lambda ctx, x: x * 1, "backward": function}
    return type("Step", (Function,), {n: staticmethod(f) for n, f in methods.items()})


def told(ctx, g):
    calls.append("told")
    return g * 2


def noisy(ctx, g):
    return g * torch.rand(3)


def raising(ctx, g):
    raise ValueError("not today")


def looking(ctx, g):
    return g * 2 if g.sum() > 0 else g * 3


def writing_the_gradient(ctx, g):
    return g.mul_(2)


def two_results(ctx, x):
    return x * 1, x * 2


class Two(Function):
    forward, backward = staticmethod(two_results), staticmethod(lambda ctx, g, h: g + h)


class Same(Function):
    forward, backward = staticmethod(lambda ctx, x: x), staticmethod(lambda ctx, g: g * 2)


REFUSED = {
    "changes what is not its own": backward_of(told),
    "adds something to a gradient": backward_of(lambda ctx, g: g + torch.ones(3)),
    "has rand": backward_of(noisy),
    "raises": backward_of(raising),
    "branch on a tensor's value": backward_of(looking),
    "gives no gradient": backward_of(lambda ctx, g: None),
    "of another shape": backward_of(lambda ctx, g: g[:2]),
    "another number of gradients": backward_of(lambda ctx, g: (g, g)),
    "several results": Two,
    "history of its own": Same,
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_a_graph_cannot_have(why):
    step = REFUSED[why]

    def function(x):
        found = step.apply(x.sin())
        return (found[0] * found[1] if isinstance(found, tuple) else found) * 3

    def gradient(run):
        calls.clear()
        torch.manual_seed(0)
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        result = run(x)
        before = list(calls)
        try:
            result.sum().backward()
        except (RuntimeError, ValueError) as error:
            return type(error), str(error)[:60]
        return result.tolist(), before, list(calls), x.grad is None or x.grad.tolist()

    counter = CompileCounter()
    run = lab_compile(function, backend=counter)
    assert gradient(run) == gradient(run) == gradient(function)
    assert counter.frame_count == 2
    (reason,) = explain(function)(torch.ones(3, requires_grad=True)).break_reasons
    assert why in str(reason.reason)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_and_numbers_that_vary(backend):
    def function(x, k):
        return Rows.apply(x * 2, k) + 1

    def gradient(run, rows, k):
        x = torch.arange(rows * 3.0).reshape(rows, 3).requires_grad_()
        run(x, k).sum().backward()
        return x.grad.tolist()

    counter = CompileCounter()
    run = lab_compile(function, backend=counter if backend == "eager" else backend)
    for rows, k in ((2, 1.5), (3, 2.5), (4, 3.5), (5, 4.5)):
        assert gradient(run, rows, k) == gradient(function, rows, k)
    if backend == "eager":
        assert counter.frame_count == 2


def test_where_grad_is_enabled_again():
    def function(x):
        with torch.enable_grad():
            return Square.apply(x, 3)

    def gradient(run):
        x = torch.ones(3, requires_grad=True)
        with torch.no_grad():
            y = run(x)
        y.sum().backward()
        return x.grad.tolist()

    assert gradient(lab_compile(function, backend="aot_eager")) == gradient(function)


def test_without_a_gradient_it_is_only_its_forward():
    counter = CompileCounter()
    run = lab_compile(lambda x: Square.apply(x, 3).exp(), backend=counter)
    run(torch.ones(3))
    assert (counter.frame_count, counter.op_count) == (1, 3)
    with torch.no_grad():
        assert not run(torch.ones(3, requires_grad=True)).requires_grad
    assert counter.frame_count == 2
