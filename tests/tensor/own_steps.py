"""Programs with hooks and with derivatives of their own: each takes the module, and returns what it
saw. A program that raises has its error's type and words for a result."""

from __future__ import annotations

from typing import Any

Programs = dict[str, Any]


def leaf(m):
    return m.tensor([1.0, 2.0, 3.0], requires_grad=True)


def seen(value: Any) -> Any:
    """Lists for tensors, in tuples and lists too."""
    if isinstance(value, (list, tuple)):
        return [seen(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def outcome(program: Any, module: Any) -> Any:
    try:
        return seen(program(module))
    except (RuntimeError, TypeError, NotImplementedError, ZeroDivisionError) as error:
        return type(error).__name__, str(error)[:60]


# ---- hooks --------------------------------------------------------------------------------------


def hook_returns(value):
    def program(m):
        def hook(g):
            return value(g)

        x = leaf(m)
        y = x * 2
        y.register_hook(hook)
        y.sum().backward()
        return x.grad

    return program


def hooks_in_order(m):
    x, told = leaf(m), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: (told.append("first"), g * 2)[1])
    y.register_hook(lambda g: (told.append(g.tolist()), g * 2)[1])
    x.register_hook(lambda g: told.append((g.tolist(), g.requires_grad, m.is_grad_enabled())))
    y.sum().backward()
    return told, y.grad, x.grad


def hook_of_targets(m):
    x, told = leaf(m), []
    y = x * 2
    y.register_hook(lambda g: (told.append(1), g * 2)[1])
    x.register_hook(lambda g: g + 100)
    found = m.autograd.grad(y.sum(), [y, x], retain_graph=True)
    y.sum().backward(inputs=[x])
    return found, x.grad, told


def hook_before_a_write(m):
    x, told = leaf(m), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: told.append(g.tolist()))
    y.mul_(5)
    (y * 3).sum().backward()
    return y.retains_grad, told, y.grad, x.grad


def retained_base(m):
    x = leaf(m)
    y = x * 2
    y.retain_grad()
    y[1:].mul_(5)
    (y * 3).sum().backward()
    return y.retains_grad, y.grad, x.grad


def retained_view(m):
    y = leaf(m) * 2
    v = y[1:]
    v.retain_grad()
    y.mul_(5)
    (v * 3).sum().backward()
    return v.retains_grad, v.grad


def hook_of_a_view_before_a_write(m):
    x, told = leaf(m), []
    y = x * 2
    v = y[1:]
    v.register_hook(lambda g: told.append(g.tolist()))
    y.mul_(3)
    (v * 2).sum().backward()
    return told, x.grad


def hook_taken_away(m):
    x, told = leaf(m), []
    with x.register_hook(lambda g: told.append(1)):
        x.sum().backward()
    handle = x.register_hook(lambda g: told.append(2))
    handle.remove()
    x.sum().backward()
    return told, x.grad


def after_accumulating(m):
    x, told = leaf(m), []
    x.register_post_accumulate_grad_hook(lambda p: told.append((p is x, p.grad.tolist())))
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    m.autograd.grad((x * 2).sum(), x)
    return told


def clipped_on_the_way(m):
    x = leaf(m)
    x.register_hook(lambda g: g.clamp(-2, 2))
    (x * x * x).sum().backward()
    (x * 1).sum().backward()
    return x.grad


def frozen_since(m):
    x, told = leaf(m), []
    x.register_hook(lambda g: told.append(1))
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    return told, x.grad


HOOKS: Programs = {
    "another_type": hook_returns(lambda g: g.double()),
    "another_size": hook_returns(lambda g: g[:2]),
    "no_tensor": hook_returns(lambda g: 3),
    "raises": hook_returns(lambda g: 1 / 0),
    "a_gradient": hook_returns(lambda g: g * 10),
    "without_grad": lambda m: m.ones(2).register_hook(print),
    "after_of_no_leaf": lambda m: (leaf(m) * 2).register_post_accumulate_grad_hook(print),
    "in_order": hooks_in_order,
    "targets": hook_of_targets,
    "before_a_write": hook_before_a_write,
    "retained_base": retained_base,
    "retained_view": retained_view,
    "view_before_a_write": hook_of_a_view_before_a_write,
    "taken_away": hook_taken_away,
    "after_accumulating": after_accumulating,
    "clipped": clipped_on_the_way,
    "frozen_since": frozen_since,
}


# ---- derivatives --------------------------------------------------------------------------------


def step(m, forward, backward, setup=None):
    """A Function of these."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    if setup is not None:
        methods["setup_context"] = staticmethod(setup)
    return type("Step", (m.autograd.Function,), methods)


def gradients(forward, backward, *others, setup=None):
    """Results and gradient of a Function of a leaf and `others`."""

    def program(m):
        x = leaf(m)
        found = step(m, forward, backward, setup).apply(x, *others)
        listed = found if isinstance(found, tuple) else (found,)
        tensors = [t for t in listed if isinstance(t, m.Tensor)]
        m.autograd.backward([t.sum() for t in tensors if t.requires_grad])
        facts = [(t.requires_grad, t.is_leaf, t._is_view(), t is x) for t in tensors]
        return type(found).__name__, facts, listed, x.grad

    return program


def once(ctx, x):
    return x * 1


def square(ctx, x, k=2):
    ctx.save_for_backward(x)
    ctx.k = k
    return x * x * k


def square_backward(ctx, g):
    (x,) = ctx.saved_tensors
    return g * 2 * x * ctx.k, None


def doubled(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def facts_of_ctx(m):
    told = []

    def forward(ctx, x, n):
        told.append((ctx.needs_input_grad, m.is_grad_enabled()))
        return x * n

    cls = step(m, forward, lambda ctx, g: (g * 7, None))
    y = cls.apply(leaf(m), 3)
    with m.no_grad():
        z = cls.apply(leaf(m), 3)
    w = cls.apply(m.ones(2), 3)
    return told, y.requires_grad, z.requires_grad, w.requires_grad


def written_argument(m):
    p = leaf(m)
    x = p * 1
    y = step(m, doubled, lambda ctx, g: g * 20).apply(x)
    x.sum().backward()
    return y is x, x._version, p.grad


def written_view(m):
    p = leaf(m)
    x = p * 1
    v = x[1:]
    y = step(m, doubled, lambda ctx, g: g * 20).apply(v)
    x.sum().backward()
    return y is v, x._version, x, p.grad


def written_without_grad(m):
    def forward(ctx, x, p):
        x.mul_(p)
        ctx.mark_dirty(x)
        return x

    p, x = leaf(m), m.ones(3)
    y = step(m, forward, lambda ctx, g: (g, g * 5)).apply(x, p)
    y.sum().backward()
    return y is x, x.requires_grad, p.grad


def written_and_not_returned(m):
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x * 1

    return step(m, forward, once).apply(leaf(m) * 1)


def no_gradient_into_some(ctx, x):
    whole, part = x > 1, x * 2
    ctx.mark_non_differentiable(part)
    return x * 3, whole, part


def unused(materialize):
    def program(m):
        told = []

        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

        def backward(ctx, g, h):
            told.append([seen(g), seen(h)])
            return h

        x = leaf(m)
        step(m, forward, backward).apply(x)[1].sum().backward()
        return told, x.grad

    return program


def twice(m):
    y = step(m, square, square_backward).apply(leaf(m), 3)
    y.sum().backward()
    y.sum().backward()


def twice_with_nothing_saved(m):
    x = leaf(m)
    y = step(m, once, lambda ctx, g: g * 4).apply(x)
    y.sum().backward()
    y.sum().backward()
    return x.grad


def saved_and_written(m):
    x = leaf(m) * 1
    y = step(m, square, square_backward).apply(x, 3)
    x.mul_(2)
    y.sum().backward()


def saved_result(m):
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(None, y)
        return y

    x = leaf(m)
    step(m, forward, lambda ctx, g: g * ctx.saved_tensors[1]).apply(x).sum().backward()
    return x.grad


def result_written(m):
    x = leaf(m)
    y = step(m, square, square_backward).apply(x, 3)
    y.mul_(2)
    y.sum().backward()
    return x.grad


def view_of_result_written(forward):
    def program(m):
        x = leaf(m) * 1
        y = step(m, forward, lambda ctx, g: g).apply(x)
        y.mul_(2)

    return program


def base_of_result_written(m):
    x = leaf(m) * 1
    y = step(m, lambda ctx, x: x[1:], lambda ctx, g: g).apply(x)
    x.mul_(2)
    y.sum().backward()


def same_argument_twice(m):
    x = leaf(m)
    step(m, lambda ctx, a, b: a * b, lambda ctx, g: (g, g * 2)).apply(x, x).sum().backward()
    return x.grad


def checkpoint(m):
    """Saves the argument alone, and computes again in the backward, with a tape of its own."""

    def function(x):
        return (x.sigmoid() * x).sigmoid()

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return function(x)

    def backward(ctx, g):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with m.enable_grad():
            y = function(x)
        m.autograd.backward(y, g)
        return x.grad

    x = leaf(m)
    step(m, forward, backward).apply(x).sum().backward()
    (direct,) = m.autograd.grad(function(x).sum(), x)
    return (x.grad * 1e4).round(), (direct * 1e4).round()


def hook_of_the_result(m):
    x, told = leaf(m), []
    y = step(m, square, square_backward).apply(x, 3)
    y.register_hook(lambda g: (told.append(g.tolist()), g * 3)[1])
    y.sum().backward()
    return told, x.grad


def product(x, k):
    return x * k


def setup(ctx, inputs, output):
    x, k = inputs
    ctx.save_for_backward(x, output)
    ctx.k = k


FUNCTIONS: Programs = {
    "saved": gradients(square, square_backward, 3),
    "setup_context": gradients(product, lambda ctx, g: (g * ctx.k, None), 3, setup=setup),
    "context": facts_of_ctx,
    "too_few": gradients(lambda ctx, x, k: x * k, lambda ctx, g: g, 3),
    "too_many": gradients(once, lambda ctx, g: (g, g)),
    "more_that_are_none": gradients(once, lambda ctx, g: (g, None, None)),
    "of_a_number": gradients(lambda ctx, x, k: x * k, lambda ctx, g: (g, g), 3),
    "another_size": gradients(once, lambda ctx, g: g[:2]),
    "of_no_axes": gradients(once, lambda ctx, g: g.sum()),
    "broadcast": gradients(once, lambda ctx, g: g[None].expand(4, -1)),
    "another_type": gradients(once, lambda ctx, g: g.double()),
    "no_tensor": gradients(once, lambda ctx, g: 3),
    "none": gradients(once, lambda ctx, g: None),
    "argument": gradients(lambda ctx, x: x, lambda ctx, g: g * 2),
    "view": gradients(lambda ctx, x: x[1:], lambda ctx, g: g[0] * 2 + g.new_zeros(3)),
    "leaf_written": gradients(doubled, lambda ctx, g: g * 2),
    "written": written_argument,
    "written_view": written_view,
    "written_without_grad": written_without_grad,
    "written_and_not_returned": written_and_not_returned,
    "non_differentiable": gradients(no_gradient_into_some, lambda ctx, g, h, i: g + h + i),
    "unused_zeros": unused(True),
    "unused_none": unused(False),
    "one_in_a_tuple": gradients(lambda ctx, x: (x * 1,), lambda ctx, g: g),
    "a_list": gradients(lambda ctx, x: [x * 1, x * 2], lambda ctx, g: g),
    "other_results": gradients(lambda ctx, x: (x * 1, "a", None), lambda ctx, g, h, i: g),
    "saves_no_tensor": gradients(lambda ctx, x: (ctx.save_for_backward(3), x * 1)[1], once),
    "twice": twice,
    "twice_with_nothing_saved": twice_with_nothing_saved,
    "saved_and_written": saved_and_written,
    "saved_result": saved_result,
    "result_written": result_written,
    "argument_returned_and_written": view_of_result_written(lambda ctx, x: x),
    "view_returned_and_written": view_of_result_written(lambda ctx, x: x[1:]),
    "base_written": base_of_result_written,
    "same_argument_twice": same_argument_twice,
    "checkpoint": checkpoint,
    "hook": hook_of_the_result,
    "no_forward": lambda m: type("Step", (m.autograd.Function,), {}).apply(leaf(m)),
}
