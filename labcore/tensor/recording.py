"""Which node an operator's call gets.

In: an operator, its arguments, its result.  Out: an `OperatorNode` with edges to where the
arguments came from.
Invariant: what a rule does not read is not kept. Which that is, is worked out once for each
operator and set of arguments that require grad, and kept as a `Plan`.
"""

from __future__ import annotations

from typing import Any

from labcore.ops.op import Op

from .arguments import positional
from .nodes import OperatorNode, edge_of, save
from .tensor import Tensor

Place = tuple[str, int]  # a parameter and its position


class Plan:
    """What to keep of a call, for the gradients of the parameters `wanted`."""

    __slots__ = ("layouts", "out", "out_layout", "reach", "values", "wanted")

    def __init__(self, op: Op, wanted: tuple[str, ...]) -> None:
        position = {name: number for number, name in enumerate(op.signature.parameters)}
        read = {
            name for param in wanted for name in getattr(op.derivatives.get(param), "reads", ())
        }
        self.wanted = wanted
        self.out, self.out_layout = "out" in read, "out_meta" in read
        self.values: list[Place] = [(name, position[name]) for name in position if name in read]
        self.layouts: list[Place] = [
            (name, position[name]) for name in position if name in wanted or f"{name}_meta" in read
        ]
        self.reach = max((at + 1 for _, at in self.values + self.layouts), default=0)


_plans: dict[tuple, Plan] = {}
_names: dict[Op, str] = {}


def prepare(op: Op, args: tuple, overwrites: bool = False) -> tuple[OperatorNode, Plan]:
    """The node of a call that is about to run; `finish` adds what is known only of its result.

    `overwrites`: the call writes its first argument, so a copy of that is saved where a rule reads
    it.
    """
    where, edges = [], []
    for position, value in enumerate(args):
        if isinstance(value, Tensor):
            if value._layout.requires_grad:
                where.append(position)
                edges.append(edge_of(value))
        elif isinstance(value, (list, tuple)) and any(
            isinstance(v, Tensor) and v._layout.requires_grad for v in value
        ):
            where.append(position)
            edges.extend([edge_of(v) for v in value])
    key = (op, *where)
    plan = _plans.get(key)
    if plan is None:
        names = tuple(op.signature.parameters)
        plan = _plans[key] = Plan(op, tuple(names[position] for position in where))
    if len(args) < plan.reach:
        args = positional(op, args, {})
    if overwrites and plan.values and plan.values[0][1] == 0 and isinstance(args[0], Tensor):
        values = {name: save(args[at]) for name, at in plan.values[1:]}
        values[plan.values[0][0]] = save(args[0].detach().clone())
    else:
        values = {name: save(args[at]) for name, at in plan.values}
    layouts = {name: layout(args[at]) for name, at in plan.layouts}
    return OperatorNode(op, node_name(op, args), edges, plan.wanted, values, layouts), plan


def finish(node: OperatorNode, plan: Plan, out: Tensor) -> None:
    """Keep of the result what the rules read, and make `node` its history."""
    if plan.out:
        assert node.values is not None
        node.values["out"] = save(out)
    if plan.out_layout:
        node.layouts["out"] = layout(out)
    out.grad_fn, out._output_number = node, 0
    out._layout = out._layout.requiring(True)


def layout(value: Any) -> Any:
    """The facts of which a TensorMeta is made, when it is needed; None for a number."""
    if isinstance(value, (list, tuple)):
        return [layout(v) for v in value]
    if not isinstance(value, Tensor):
        return None
    return value.shape, value._stride, value.dtype, value.device


# ---- names --------------------------------------------------------------------------------------

_FIXED = {
    "_to_copy": "ToCopyBackward0",
    "copy": "CopyBackwards",
    "full_like": "FillBackward0",
    "zeros_like": "ZeroBackward0",
}
_NUMBERED = {"sum", "mean"}  # 0 over everything, 1 over some axes


def node_name(op: Op, args: tuple) -> str:
    """PyTorch's name of the node: `MulBackward0`, `SumBackward1`."""
    if op.name in _NUMBERED:
        return _camel(op) + ("Backward1" if len(args) > 1 and args[1] is not None else "Backward0")
    if op.name == "matmul":
        return _MATMUL.get((args[0].ndim, args[1].ndim), "BmmBackward0")
    if op.name == "pow":
        numbers = (isinstance(args[0], Tensor), isinstance(args[1], Tensor))
        return {(True, True): "PowBackward1", (False, True): "PowBackward2"}.get(
            numbers, "PowBackward0"
        )
    if op.name == "clamp":
        return (
            "ClampBackward0" if any(isinstance(a, Tensor) for a in args[1:]) else "ClampBackward1"
        )
    name = _names.get(op)
    if name is None:
        usual = op.name + "Backward" if op.kind == "custom" else _camel(op) + "Backward0"
        name = _names[op] = _FIXED.get(op.name, usual)
    return name


_MATMUL = {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (2, 2): "MmBackward0"}


def _camel(op: Op) -> str:
    return "".join(part.capitalize() for part in op.name.split("_"))
