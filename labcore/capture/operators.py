"""Tensors inside capture: stand-ins on which the lab's own methods and functions run, writing
graph nodes.

In: an operator, a method of Tensor or a function of the lab, with variables.  Out: variables for
its results.
Invariant: methods and functions of the lab only rewrite arguments into operator calls, so on
stand-ins they compute nothing.
That way `x.view(2, 3)`, `x[1:, None]` or `1 - x` mean here exactly what they mean eagerly, errors
included.
Dynamo runs operators on FakeTensors, with the same effect.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..graph import Graph, Node, TensorMeta, map_nodes
from ..ops import OPS, Op, Tracer
from ..ops.arguments import check_arguments, with_numbers
from ..ops.dispatch import interpreting
from ..tensor.eager import positional
from ..tensor.methods import Methods
from ..tensor.modes import mode
from ..tensor.nodes import MAKES_ANEW, UNRECORDED
from ..tensor.replaced import is_replaced
from ..tensor.size import Size
from .bases import plain
from .breaks import Break, WouldRaise, no_rule
from .memory import Memory
from .modes import Modes
from .numbers import lifted
from .overwriting import Shared, shared_node
from .places import Place
from .refusals import refuse_overlap
from .skipping import is_skipped
from .traced import Traced
from .variables import (
    Constant,
    DictVariable,
    ListVariable,
    NumberVariable,
    SliceVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)

if TYPE_CHECKING:
    from .interpreter.core import Interpreter


def _item(whole: Any, *path: Any) -> Any:
    for place in path:
        whole = whole[place]
    return whole


# What an opaque operator's node gives, at a place in it.
ITEM = Op("_item", "composite", _item, _item, compose=_item)


class CaptureTracer(Tracer):
    """Takes and gives stand-ins; refuses operators that do more than compute a new tensor."""

    def __init__(
        self, graph: Graph, changed: Callable[[], None], modes: Modes | None = None
    ) -> None:
        super().__init__(graph)
        self.memory, self.modes, self.place = Memory(self, changed), modes or Modes(), Place()
        self.stand_ins: dict[Node, Traced] = {}
        self.step = 0
        self.steps: dict[Node, int] = {}  # the interpreter's step that made a node
        self.skipping: str | None = None  # the function whose operators are CPython's

    def refuse_overlap(self, target: Traced, others: Sequence[Traced]) -> None:
        """As eager mode refuses it, or a Break where that depends on sizes."""
        stop = Break("inplace-operator", name="of a view", pure="clone")
        refuse_overlap(target.node, [other.node for other in others], stop)

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
        if self.skipping is not None:
            raise Break("skipped-frame", name=op.name, function=self.skipping)
        args, kwargs = with_numbers(op, args, kwargs, partial(_no_number, op))
        check_arguments(op, args, kwargs)
        operands = [node.meta for node in _nodes_of((args, kwargs))]
        if op.compose is not None and not op.opaque:
            with self.place.beside(operands):
                return op.compose(*positional(op, args, kwargs))
        if op.name == "_to_device" and str(args[0].device) != args[1]:
            raise Break("device-copy", device=args[1])
        if op.kind in MAKES_ANEW:
            kwargs = self.place.named(op, kwargs)
        self.place.enter(op, args, kwargs, operands)
        self._check_inference(op, args, kwargs)
        if op.mutates:
            self.memory.write(op, _nodes(args), _nodes(kwargs))
            return args[0]
        # A view is of the tensor itself, whatever is in it now.
        read = _itself if op.alias else self.memory.read
        result = super().call(op, map_nodes(_nodes(args), read), map_nodes(_nodes(kwargs), read))
        if self.modes.changed and self._is_cut_off(op, result):
            op = OPS["_stop_gradient"]
            result = super().call(op, (result,), {})
        self.steps[result] = self.step
        if mode.inference and not self.modes.entry["inference"]:
            self.modes.made.add(result)
        meta = result.meta = self._with_grad(op, result)
        if op.kind == "detach":
            self.memory.note(result)
        if meta.requires_grad and not op.alias:
            self.memory.save((result, *_nodes_of((args, kwargs))))
        return self.stand_in(result, TensorVariable(meta, result))

    def call_whole(self, op: Op, *args: Any) -> Any:
        """An opaque operator. Where it gives no single tensor, its node has no meta, and each
        tensor in what it gives is a node of its own."""
        metas = mapped(_nodes(args), Node, lambda node: self.memory.read(node).meta)
        whole = op.meta(*metas)
        if isinstance(whole, TensorMeta):
            return self.call(op, args, {})
        if self.skipping is not None:
            raise Break("skipped-frame", name=op.name, function=self.skipping)
        self._check_inference(op, args, {})
        node = self.graph.call_function(
            op, map_nodes(_nodes(args), self.memory.read), origin=self.origin
        )
        self.steps[node] = self.step
        if self.modes.changed:
            self._is_cut_off(op, node)
        if mode.grad and self._wants_grad(args):
            self.memory.save(_nodes_of(args))
        return self._items(node, whole, ())

    def _items(self, whole: Node, part: Any, path: tuple[Any, ...]) -> Any:
        """Stand-ins for the tensors in a part of what a node gives."""
        if isinstance(part, TensorMeta):
            given = (whole, *path)
            node = self.graph.call_function(ITEM, given, meta=part, origin=self.origin)
            self.steps[node] = self.step
            if part.requires_grad:
                self.memory.save((node,))
            return self.stand_in(node, TensorVariable(part, node))
        if isinstance(part, dict):
            return {key: self._items(whole, item, (*path, key)) for key, item in part.items()}
        if isinstance(part, (tuple, list)):
            return type(part)(self._items(whole, i, (*path, n)) for n, i in enumerate(part))
        return part

    def emit(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Node:
        """The node that `op` writes for nodes."""
        given, named = map_nodes(args, self.known), map_nodes(kwargs, self.known)
        return self.call(op, given, named).node

    def known(self, node: Node) -> Traced:
        assert node.meta is not None
        return self.stand_in(node, TensorVariable(node.meta, node))

    def stand_in(self, node: Node, variable: TensorVariable) -> Traced:
        """The one stand-in of a node: `view is tensor` has to mean something."""
        if node not in self.stand_ins:
            self.stand_ins[node] = Traced(node, variable)
        return self.stand_ins[node]

    def _check_inference(self, op: Op, args: Any, kwargs: Any) -> None:
        """A new tensor of an inference_mode block becomes an inference tensor where it leaves the
        region. Raises Break for views and writes, in such a block or of such a tensor, for the end
        of inference mode, and where one would have to be saved for a backward."""
        left = self.modes.entry["inference"] and not mode.inference
        inside = mode.inference and not self.modes.entry["inference"]
        given = [node for node in _nodes_of((args, kwargs)) if inside or node in self.modes.made]
        shares = op.alias or op.opaque or op.mutates
        if not left and inside and not shares:
            return
        if left or given and (shares or mode.grad and self._wants_grad((args, kwargs))):
            raise Break("grad-mode", name=op.name, what="inference mode")

    def _wants_grad(self, given: Any) -> bool:
        return any(map(self.memory.requires_grad, _nodes_of(given)))

    def _is_cut_off(self, op: Op, node: Node) -> bool:
        """Would it be recorded under the flags of the region's beginning, and is not to be?

        Raises Break for what a graph cannot do under those."""
        inputs = any(map(self.memory.requires_grad, node.all_input_nodes))
        floating = node.meta is None or node.meta.dtype.is_floating_point
        if op.kind == "view" and self.modes.entry["grad"] and not mode.grad:
            self.memory.unrecorded[node] = self.step
            return False
        if op.kind == "view" and mode.grad and not self.modes.entry["grad"]:
            self.memory.views_recorded.add(node)
        if not inputs or not floating or op.kind in UNRECORDED:
            return False
        if op.opaque or mode.grad:
            stop = Break("grad-mode", name=op.name, what="grad mode")
            stop.step = self.modes.switched if mode.grad else None  # the next region may record it
            raise stop
        return True

    def _with_grad(self, op: Op, node: Node) -> TensorMeta:
        """requires_grad as eager would have it: floating point, computed from something that
        does, and recorded; a view is what its base is even when nothing is recorded."""
        assert node.meta is not None
        if op.opaque:  # its own operators have told
            return node.meta
        inputs = any(n.meta is not None and n.meta.requires_grad for n in node.all_input_nodes)
        recorded = op.alias or mode.grad
        wanted = inputs and recorded and node.meta.dtype.is_floating_point
        wanted &= op.kind not in UNRECORDED
        if wanted and not op.derivatives:
            raise Break("no-derivative", name=op.name)
        return node.meta.with_grad(wanted) if wanted != node.meta.requires_grad else node.meta


def _nodes(value: Any) -> Any:
    if isinstance(value, Traced):
        return value.node
    if isinstance(value, (tuple, list)):
        return type(value)([_nodes(item) for item in value])
    if isinstance(value, dict):
        return {name: _nodes(item) for name, item in value.items()}
    return value


def plain_number(value: Any) -> Any:
    """An IntEnum's member as the number that it is, which a graph can print; else the value."""
    if issubclass(type(value), enum.Enum):
        for kind, convert in ((int, int.__int__), (float, float.__float__)):
            if issubclass(type(value), kind):
                return convert(value)
    return value


def _nodes_of(value: Any) -> list[Node]:
    """The nodes that stand-ins in it stand for."""
    found: list[Node] = []
    mapped(value, Traced, lambda stand_in: found.append(stand_in.node))
    return found


def mapped(value: Any, kind: type, replace: Callable[[Any], Any]) -> Any:
    """`value` with all of a kind in it replaced."""
    if isinstance(value, kind):
        return replace(value)
    if isinstance(value, (tuple, list)):
        return type(value)([mapped(item, kind, replace) for item in value])
    if isinstance(value, dict):
        return {key: mapped(item, kind, replace) for key, item in value.items()}
    return value


def _has_mask(index: Variable) -> bool:
    """Is a tensor of bools in it?"""
    items = index.items if isinstance(index, TupleVariable) else [index]
    return any(isinstance(i, TensorVariable) and i.meta.dtype is dtypes.bool for i in items)


def _itself(node: Node) -> Node:
    return node


def _no_number(op: Op, tensor: Any) -> Any:
    raise Break("tensor-as-number", name=op.name)


class OperatorCalls:
    """What the interpreter asks for when a tensor is involved."""

    def __init__(self, vm: Interpreter) -> None:
        self.vm = vm
        self.modes = Modes()
        self.tracer = CaptureTracer(Graph(), lambda: vm.changed(), self.modes)
        self.placeholders: dict[Node, TensorVariable] = {}
        self.shared = Shared()

    def method(
        self,
        owner: TensorVariable,
        name: str,
        args: list[Variable],
        kwargs: dict[str, Variable] | None = None,
    ) -> Variable:
        """owner.name(*args, **kwargs)."""
        function = getattr(Methods, name, None)
        if function is None or not callable(function) or is_replaced(name):
            raise no_rule(name)
        return self.call(function, [owner, *args], kwargs or {})

    def get(self, owner: TensorVariable, name: str) -> Variable:
        """A property such as `x.T`."""
        return self.call(lambda tensor: getattr(tensor, name), [owner], {})

    def call(
        self, function: Callable[..., Any], args: list[Variable], kwargs: dict[str, Variable]
    ) -> Variable:
        """Run an operator, a method or a function of the lab on stand-ins."""
        code = getattr(function, "__code__", None)
        if code is not None and is_replaced(*code.co_names):
            raise no_rule(function.__name__)  # it may call that
        given = [self._lower(arg) for arg in args]
        named = {name: self._lower(arg) for name, arg in kwargs.items()}
        caller = self.vm.frames[-1].code
        self.tracer.skipping = caller.co_qualname if is_skipped(caller) else None
        try:
            with interpreting(self.tracer), self.modes.in_force():
                result = function(*given, **named)
        except (Break, WouldRaise):
            raise
        except Exception as error:
            raise self._what_is_wrong(function, args, error) from error
        return self._lift(result)

    def _what_is_wrong(
        self, function: Callable[..., Any], args: list[Variable], error: Exception
    ) -> Exception:
        """The operator's own error, unless it only met a stand-in where it needs a number."""
        confused = isinstance(error, (TypeError, AttributeError))
        if confused and any(word in str(error) for word in ("TensorMeta", "Traced", "Node")):
            name = getattr(function, "__name__", "an operator")
            if name in ("__getitem__", "__setitem__") and _has_mask(args[1]):
                return Break("data-dependent-size")
            return Break("tensor-as-number", name=name)
        # Its text may speak of sizes that are symbols.
        return WouldRaise(error, exact=not self.vm.looker.numbers.inputs)

    def special(self, owner: TensorVariable, name: str, other: Variable) -> Variable | None:
        """owner.__name__(other), or None where that is NotImplemented."""
        result = self.method(owner, name, [other])
        return None if isinstance(result, Constant) and result.value is NotImplemented else result

    def rows(self, tensor: TensorVariable) -> list[Variable]:
        """Iterating a tensor gives its parts along the first axis."""
        if not tensor.meta.shape:
            raise WouldRaise(TypeError("iteration over a 0-d tensor"))
        return [
            self.method(tensor, "__getitem__", [Constant(n)]) for n in range(tensor.meta.shape[0])
        ]

    def _lower(self, variable: Variable) -> Any:
        """What the lab's code is given for a variable."""
        value = plain(self.vm, variable, "__len__", "__getitem__", "__iter__")
        if isinstance(value, TensorVariable):
            return self.tracer.stand_in(self._node(value), value)
        if isinstance(value, TupleVariable):
            items = [self._lower(item) for item in value.items]
            return Size(items) if value.cls is Size else tuple(items)
        if isinstance(value, ListVariable):
            return [self._lower(item) for item in self.vm.looker.items(value)]
        if isinstance(value, SliceVariable):
            return slice(*(self._lower(part) for part in value.parts))
        if isinstance(value, Constant):
            return plain_number(value.value)
        if isinstance(value, NumberVariable):
            return value.number
        raise Break("operation", what=f"a {value.kind} given to a tensor operator")

    def _lift(self, result: Any) -> Variable:
        if isinstance(result, Traced):
            return result.variable
        if isinstance(result, tuple):
            if type(result) is Size:
                return lifted(result)
            return TupleVariable([self._lift(item) for item in result], cls=type(result))
        if isinstance(result, list):
            return ListVariable([self._lift(item) for item in result])
        if isinstance(result, dict):
            return DictVariable({key: self._lift(item) for key, item in result.items()})
        return lifted(result)

    def _node(self, tensor: TensorVariable) -> Node:
        """A tensor's node; an input gets its placeholder when the first operator reads it."""
        if tensor.node is None:
            tensor.node = shared_node(self, tensor) or self.placeholder(tensor)
        return tensor.node

    def placeholder(self, tensor: TensorVariable) -> Node:
        """A new input of the graph."""
        assert tensor.source is not None
        graph, place = self.tracer.graph, (tensor.source.hint, tensor.meta, self.vm.builder.origin)
        first_call = next((n for n in graph.nodes if n.op != "placeholder"), None)
        if first_call is None:
            node = graph.placeholder(*place)
        else:
            with graph.inserting_before(first_call):
                node = graph.placeholder(*place)
        self.placeholders[node] = tensor
        return node

    def input_node(self, tensor: Variable) -> Node:
        """The node of a tensor from outside, with its stand-in."""
        assert isinstance(tensor, TensorVariable)
        return self.tracer.stand_in(self._node(tensor), tensor).node
