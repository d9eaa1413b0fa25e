"""The exercises of lesson 07: a backward by hand, and a warm-up after which nothing is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...trace import OutputCode, record
from .facts import seen
from .result import Fact, Result, Unusable, ask, checked, kind_of, shown

ROW = [-2.0, -1.0, 1.0, 2.0]


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


# ---- the backward by hand -----------------------------------------------------------------------


@checked
def block_backward(fn: Any) -> Result:
    """Exercise 1: `fn(mask, grad, shape)` is the pair of gradients of x and of bias, which has that
    shape; the graph has a sum only where bias was broadcast."""
    from ... import ones, tensor

    facts, belief = [], ""
    for rows in (2, 0):
        x = tensor([ROW] * rows if rows else ROW)
        shape = tuple(x.shape)
        bias = ones(4)
        mask = _block(x, bias) <= 0
        grad = tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]][:rows] or [1.0, 2.0, 3.0, 4.0])
        told = seen(fn, (mask, grad, (4,)), backend="eager")
        found = [_listed(gradient) for gradient in _pair(told.values[0])]
        expected = [gradient.tolist() for gradient in _gradients(x, bias, grad)]
        sums = sum(name == "sum" for name in told.operations()) if told.regions else 0
        case = f"x {shape}"
        facts += [
            Fact(f"{case}: gradient of x", expected[0], found[0]),
            Fact(f"{case}: gradient of bias", expected[1], found[1]),
            Fact(f"{case}: sums in the graph", 1 if rows else 0, sums),
        ]
        belief = belief or _belief_of_backward(expected, found, sums, bool(rows))
    return Result(tuple(facts), belief)


def _pair(answer: Any) -> Sequence[Any]:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Unusable("two gradients", shown(answer))
    return answer


def _listed(gradient: Any) -> Any:
    from ... import Tensor

    if not isinstance(gradient, Tensor):
        raise Unusable("gradients that are tensors", kind_of(gradient))
    return gradient.tolist()


def _gradients(x: Any, bias: Any, grad: Any) -> Any:
    """What the lab's own backward gives."""
    from ...tensor import autograd

    x, bias = (t.detach().clone().requires_grad_() for t in (x, bias))
    return autograd.grad(_block(x, bias), (x, bias), grad)


def _belief_of_backward(expected: Any, found: Any, sums: int, broadcast: bool) -> str:
    (x, bias), (x_found, bias_found) = expected, found
    if x_found != x:
        halved = [[v / 2 for v in row] for row in x] if broadcast else [v / 2 for v in x]
        alone = [0.0, 0.0, 2.0, 2.0]
        if x_found == halved:
            return "The factor 2 is missing: * 2 has a derivative as well."
        if x_found in (alone, [alone, alone]):
            return "grad is not asked: what arrives from behind is a factor of every gradient."
        return "x: where the mask is True relu gave 0, and nothing flows back; elsewhere 2 * grad."
    if broadcast and bias_found == x:
        return "Both rows read the one bias: its gradient has its own shape, and is their sum."
    if not broadcast and sums:
        return "Nothing was broadcast here: a gradient of the right shape wants no sum."
    if bias_found != bias:
        return "bias: the same as x, summed over the rows that read it."
    return ""


# ---- a warm-up ----------------------------------------------------------------------------------


@checked
def warm_up(fn: Any) -> Result:
    """Exercise 2: after `fn(g, *inputs)` a training step of the compiled `g` compiles nothing, and
    no gradient is left behind."""
    from ... import compile as compile_function, ones, tensor

    g = compile_function(_block)
    x, bias = tensor(ROW).requires_grad_(), ones(4).requires_grad_()
    ask(_returning(fn), g, x, bias)
    left = {name: leaf.grad.tolist() for name, leaf in (("x", x), ("bias", bias))
            if leaf.grad is not None}  # fmt: skip
    with record() as late:
        g(x, bias).sum().backward()
    compiled = [event.phase for event in late.of(OutputCode)]
    facts = (
        Fact("compiled late", [], compiled),
        Fact("gradients left behind", [], [*left]),
    )
    belief = ""
    if compiled == ["backward"]:
        belief = "The forward alone is warm: its backward is compiled at the first backward()."
    elif compiled:
        belief = (
            "Training wants a variant of its own: one that was compiled under no_grad, or for "
            "inputs that want no gradient, has no backward."
        )
    elif left and not any(value for grad in left.values() for value in grad):
        belief = "Zeros do no harm, and lie in memory: without a gradient, .grad is None."
    elif left:
        belief = "Nothing is late, but the first step would add its gradients to these."
    return Result(facts, belief)


def _returning(fn: Any) -> Any:
    """A warm-up need not return anything: `...` and errors are its only outcomes."""
    return (lambda *args: (fn(*args), True)) if callable(fn) else fn
