"""Tensors that are written in place: a graph only makes new values, so a write makes the next
contents of the memory that a tensor shows.

In: an in-place operator on a node, and whoever reads a node later.  Out: pure nodes (`add` for
`add_`, and a scatter for each view between the written tensor and the first tensor of its memory),
and the node that now has the contents of another one.
Invariant: a tensor keeps its own node, a chain of views that ends at the first tensor of its
memory; what is written there is seen through every other chain, as it is in memory.  What existed
before the region is overwritten for real when the graph has run.
Writes stay CPython's where a gradient may be wanted: the tape wants to see them.
PyTorch captures the write itself; AOTAutograd functionalizes the graph afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Node, TensorMeta, map_nodes
from ..guards import kinds
from ..ops import OPS, Op
from ..ops.broadcast import is_dense
from ..ops.sharing import memory_of, meta_of, view_source
from ..tensor import Tensor
from ..tensor.modes import mode, no_grad
from ..tensor.tensor import storage_of
from .breaks import Break
from .variables import TensorVariable

if TYPE_CHECKING:
    from .looking import Looker
    from .operators import CaptureTracer


class Memory:
    """`contents` maps the first tensor of a memory to the node that has what is in it now."""

    def __init__(self, tracer: CaptureTracer, changed: Callable[[], None]) -> None:
        self.tracer, self.changed = tracer, changed
        self.contents: dict[Node, Node] = {}
        self.writes: dict[Node, list[int]] = {}  # the steps that wrote it
        self._views: dict[tuple[Node, Node], Node] = {}

    def read(self, node: Node) -> Node:
        """The node that has the present contents of the tensor `node`."""
        root = memory_of(node)
        now = self.contents.get(root)
        if now is None:
            return node
        if mode.grad and meta_of(root).requires_grad:
            raise Break("inplace-operator", name="of a tensor that requires grad", pure="add")
        return self._seen_through(node, root, now)

    def _seen_through(self, node: Node, root: Node, now: Node) -> Node:
        """The view `node`, of `now` instead of `root`."""
        if node is root:
            return now
        view = self._views.get((node, now))
        if view is None:
            source = view_source(node)
            assert source is not None
            given = self._seen_through(source, root, now)
            args = (given, *node.args[1:])
            view = self._views[node, now] = self._emit(node.target, args, dict(node.kwargs))
        return view

    def write(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Node:
        """Run the in-place operator `op`; the written node is its first argument.

        Raises Break where eager has to see the write, RuntimeError for what eager refuses.
        """
        op.bind(args, kwargs)
        target: Node = args[0]
        root = memory_of(target)
        self._check(op, target, root, [*_nodes_in((args[1:], kwargs))])
        op.meta(*map_nodes(args, meta_of), **map_nodes(kwargs, meta_of))
        assert op.functional is not None
        read_args = map_nodes(args, self.read)
        read_kwargs = map_nodes(kwargs, self.read)
        self.changed()
        value = self._emit(op.functional, read_args, read_kwargs)
        value = self._like(target, self.read(target), value)
        while target is not root:
            target, value = self._one_view_up(target, value)
        self.contents[root] = value
        self.writes.setdefault(root, []).append(self.tracer.step)
        return args[0]

    def _check(self, op: Op, target: Node, root: Node, others: list[Node]) -> None:
        stop = Break("inplace-operator", name=op.name, pure=op.name.rstrip("_"))
        given = any(meta_of(node).requires_grad for node in (root, *others))
        if mode.grad and (given or self._recorded()):
            raise stop
        if not is_dense(meta_of(root).shape, meta_of(root).stride):
            raise stop
        for other in others:  # eager refuses what overlaps, which depends on where the parts lie
            if memory_of(other) is root and other is not target:
                raise stop

    def _recorded(self) -> bool:
        """Was there an operator whose gradient may be asked for?"""
        return any(meta_of(n).requires_grad and not n.target.alias for n in self.tracer.graph.calls)

    def _like(self, target: Node, before: Node, value: Node) -> Node:
        """`value` in the layout and type of the tensor that is written."""
        if _form(meta_of(value)) == _form(meta_of(target)):
            return value
        return self._emit(OPS["copy"], (before, value), {})

    def _one_view_up(self, view: Node, value: Node) -> tuple[Node, Node]:
        """What the tensor that `view` shows a part of contains, when the view contains `value`."""
        source = view_source(view)
        assert source is not None
        before = self.read(source)
        whole = self._undo(view, before, value)
        return source, self._like(source, before, whole)

    def _undo(self, view: Node, before: Node, value: Node) -> Node:
        name, rest = view.target_name, view.args[1:]
        shape = tuple(meta_of(before).shape)
        if name in ("select", "slice"):
            return self._emit(OPS[f"{name}_scatter"], (before, value, *rest), dict(view.kwargs))
        if name == "detach":
            return value
        if name == "transpose":
            return self._emit(OPS[name], (value, *rest), dict(view.kwargs))
        if name == "permute":
            places = [place % len(shape) for place in _argument(view, "dims", 1)]
            back = tuple(places.index(axis) for axis in range(len(shape)))
            return self._emit(OPS[name], (value, back), {})
        if name in ("view", "squeeze", "unsqueeze"):
            return self._emit(OPS["view"], (value, shape), {})
        raise Break("inplace-operator", name=f"on what {name} gives", pure="where")

    def _emit(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Node:
        return self.tracer.emit(op, args, kwargs)

    # ---- the end of the region ----

    def shown(self, node: Node) -> Node:
        """The node to output for a tensor: a part of an input stays one, and is overwritten."""
        return node if memory_of(node).op == "placeholder" else self.read(node)

    def overwritten(self) -> Iterator[tuple[Node, Node, int]]:
        """The inputs that were written: each with what has its new contents, and how often."""
        for root, now in self.contents.items():
            if root.op == "placeholder":
                yield root, now, len(self.writes[root])

    def written_inside(self, node: Node) -> Node | None:
        """The first tensor of the memory of `node`, if it was made and written in the region."""
        root = memory_of(node)
        return root if root in self.contents and root.op != "placeholder" else None

    def home(self, root: Node) -> str:
        return self.tracer.stand_ins[root].variable.home

    def finish(self, looker: Looker) -> None:
        """Guards under which writing an input changes nothing else. Raises Break, at the step of
        the first write, where it would."""
        for root, _, _ in self.overwritten():
            written = self.tracer.stand_ins[root].variable
            others = [t for t in looker.tensors if t is not written]
            free = writable(written.value) and apart(written.value, *(t.value for t in others))
            if self._recorded() or not free:
                stop = Break("inplace-operator", name="of an input", pure="add")
                stop.step = self.writes[root][0]
                raise stop
            if not mode.inference:
                looker.recordable(written, self.writes[root][0])
            _guard_writable(looker, written)
            if others:
                _guard_apart(looker, written, others)


def _guard_apart(looker: Looker, written: TensorVariable, others: list[TensorVariable]) -> None:
    assert written.source is not None
    name, homes = written.source.name, ", ".join(t.home for t in others)
    words = f"{name!r} is written, and shares memory with another tensor now"
    code = f"apart({written.home}, {homes})"
    expected = "memory of its own"
    looker.builder.add(
        kinds.condition("NO_TENSOR_ALIASING", name, code, written.home, expected, words, None)
    )


def _guard_writable(looker: Looker, written: TensorVariable) -> None:
    assert written.source is not None
    name, home = written.source.name, written.home
    code = f"{looker.builder.constant(writable, 'writable')}({home})"
    words = f"{name!r} is a view of a tensor that requires grad now"
    expected = "no view of what requires grad"
    looker.builder.add(kinds.condition("TENSOR_MATCH", name, code, home, expected, words, None))


def writable(tensor: Tensor) -> bool:
    """Can no gradient be wanted of what the tensor is a view of?"""
    return tensor._base is None or not tensor._base._requires_grad


def apart(written: Tensor, *others: Tensor) -> bool:
    """Does no other tensor show any of the memory of the one that is written?"""
    array = written.array
    return not any(np.may_share_memory(array, other.array) for other in others)


def overwrite(tensor: Tensor, contents: Tensor, writes: int) -> None:
    """What so many in-place operators did to an input in a region, at its end."""
    with no_grad():
        tensor.copy_(contents)
    written(tensor, writes - 1)


def written(tensor: Tensor, writes: int) -> None:
    """The tensor was written so often before anybody could see it."""
    storage_of(tensor).version += writes


def _form(meta: TensorMeta) -> tuple:
    """Type and layout; the stride of an axis of one element does not matter."""
    strides = tuple(s for n, s in zip(meta.shape, meta.stride) if n != 1)
    return tuple(meta.shape), strides, meta.dtype


def _argument(node: Node, name: str, place: int) -> Any:
    return node.args[place] if len(node.args) > place else node.kwargs[name]


def _nodes_in(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _nodes_in(item)
    elif isinstance(value, dict):
        yield from _nodes_in(tuple(value.values()))
