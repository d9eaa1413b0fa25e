"""What a tensor says about the tape: `requires_grad`, `is_leaf`, `grad`; and what can be told it.

In: a tensor's variable and a name.  Out: the fact, under a guard where it is one of an input.
Invariant: the facts are those of this place of the program: a write may give a tensor a history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph import Node
from ..guards import kinds
from ..ops.sharing import base_of
from ..tensor import Tensor
from .breaks import Break, no_rule
from .variables import Constant, TensorVariable, Variable

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

FACTS = ("requires_grad", "is_leaf", "grad")


def tape_fact(vm: Interpreter, tensor: TensorVariable, name: str) -> Variable:
    """tensor.name, one of FACTS."""
    if name == "requires_grad":
        return Constant(requires_grad(vm, tensor))
    if name == "is_leaf":
        return _is_leaf(vm, tensor)
    if tensor.grad is not None:
        return tensor.grad
    if tensor.source is None:
        return Constant(None)  # only `retain_grad`, which is a break, keeps one
    return vm.lazy(tensor.source.attribute("grad"), tensor.value.grad)


def requires_grad(vm: Interpreter, tensor: TensorVariable) -> bool:
    """Does it require grad by now?

    A view that was made where nothing is recorded does where its base does. Of an input that is
    itself a view, that is the input's base; raises Break where that one says otherwise."""
    memory, node = vm.operators.tracer.memory, _node(vm, tensor)
    if node is None:
        return tensor.meta.requires_grad
    wanted = memory.requires_grad(node)
    if wanted and memory.base_home(node) and node is not base_of(node):
        recorded = vm.modes.entry["grad"] or memory.made_recorded(node)
        if memory.made_unrecorded(node) or not recorded:
            _guard_as_its_base(vm, memory.input(base_of(node)))
    return wanted


def _guard_as_its_base(vm: Interpreter, view: TensorVariable) -> None:
    if not as_its_base(view.value):
        raise no_rule("requires_grad")
    assert view.source is not None
    name, builder = view.source.name, vm.looker.builder
    code = f"{builder.constant(as_its_base, 'as_its_base')}({view.home})"
    expected, origin = "a tensor that requires grad as its base does", builder.met_at(view.home)
    words = f"{name!r} is a view that requires grad, of a base that does not"
    builder.add(kinds.condition("TENSOR_MATCH", name, code, view.home, expected, words, origin))


def as_its_base(tensor: Tensor) -> bool:
    """Does the tensor require grad where the one that it is a view of does?"""
    base = tensor._base
    return base is None or base.requires_grad == tensor.requires_grad


def _node(vm: Interpreter, tensor: TensorVariable) -> Node | None:
    """Its node, if a write that was recorded may have given it a history: an input is asked whether
    it lies in what was written only where it is one of the graph's."""
    recorded = vm.operators.tracer.memory.recorded
    return vm.operators.input_node(tensor) if recorded else tensor.node


def _is_leaf(vm: Interpreter, tensor: TensorVariable) -> Variable:
    memory, node = vm.operators.tracer.memory, _node(vm, tensor)
    if node is not None and base_of(node) in memory.recorded:
        return Constant(not requires_grad(vm, tensor))
    if tensor.source is not None:
        return vm.lazy(tensor.source.attribute("is_leaf"), tensor.value.is_leaf)
    assert node is not None
    if memory.made_unrecorded(node) is not None:
        raise no_rule("is_leaf")
    return Constant(not requires_grad(vm, tensor) or not vm.modes.entry["grad"])


def set_tape_fact(
    vm: Interpreter, tensor: TensorVariable, name: str, value: Variable | None
) -> None:
    """tensor.name = value, or None: del tensor.name."""
    if name == "requires_grad" and value is not None:
        keep_requires_grad(vm, tensor, value, name)
        return
    if name != "grad":
        raise Break("mutation", what=f"attribute {name!r} of a {tensor.kind}")
    given = Constant(None) if value is None else vm.look(value)
    if tensor.source is None or not _is_gradient(given, tensor):
        raise Break("mutation", what="the grad of a tensor")
    vm.looker.effects.add("{}.grad = {}", tensor, given)
    vm.looker.distinct[tensor] = None
    tensor.grad = given


def keep_requires_grad(
    vm: Interpreter, tensor: TensorVariable, value: Variable, name: str
) -> None:
    """It is to require grad, or not to. Raises Break where that changes anything."""
    wanted = vm.look(value)
    if not isinstance(wanted, Constant) or wanted.value is not requires_grad(vm, tensor):
        raise no_rule(name)


def _is_gradient(given: Variable, tensor: TensorVariable) -> bool:
    """May it be the tensor's `grad`?"""
    if isinstance(given, TensorVariable):
        meta, own = given.meta, tensor.meta
        same = (meta.dtype, meta.device) == (own.dtype, own.device) and meta.shape == own.shape
        return same and given is not tensor
    return isinstance(given, Constant) and given.value is None
