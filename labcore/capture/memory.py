"""Tensors that are written in place: a graph only makes new values, so a write makes the next
contents of the memory that a tensor shows.

In: an in-place operator on a node, and whoever reads a node later.  Out: pure nodes (`add` for
`add_`, and a scatter for each view between the written tensor and the first tensor of its memory),
and the node that now has the contents of another one.
Invariant: a tensor keeps its own node, a chain of views that ends at its base; what is written
there is seen through every other chain, as it is in memory. A base (an input, a computed tensor, or
a detached one) has a history of its own: where another base of the same memory is written, or
nothing is recorded, it gets the new values and keeps its history.
PyTorch captures the write itself; AOTAutograd functionalizes the graph afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..graph import Node, map_nodes
from ..ops import OPS, Op
from ..ops.sharing import (
    base_of,
    memory_of,
    meta_of,
    through_data,
    view_source,
)
from ..ops.tracer import Tracer
from ..tensor.modes import mode
from ..tensor.nodes import MAKES_ANEW
from .breaks import Break
from .refusals import check_write
from .scattering import undo
from .variables import TensorVariable

if TYPE_CHECKING:
    from .operators import CaptureTracer


class Memory:
    """`contents` maps the first tensor of a memory to a node that has what is in it now; `current`
    maps a base to one that has its history too."""

    def __init__(self, tracer: CaptureTracer, changed: Callable[[], None]) -> None:
        self.tracer, self.changed = tracer, changed
        self.contents: dict[Node, Node] = {}
        self.current: dict[Node, Node] = {}
        self.writes: dict[Node, list[int]] = {}  # the steps that wrote a memory
        self.recorded: set[Node] = set()  # bases with a new history
        self.first_recorded: int | None = None  # the first step that gave an input one
        self.tape_saw: set[Node] = set()  # bases written while recording
        self.saved: dict[Node, int] = {}  # the first step whose backward may read a memory
        self.unrecorded: dict[Node, int] = {}  # views made under no_grad, and at which step
        # Where the region has left the no_grad it began in, or before it began:
        self.views_recorded: set[Node] = set()
        self.twins: dict[Node, tuple[TensorVariable, Node]] = {}  # inputs: others when detached
        self._detached: dict[Node, list[Node]] = {}  # further bases of a memory
        self._views: dict[tuple[Node, Node, Node], Node] = {}

    @property
    def writes_inputs(self) -> bool:
        return any(root.op == "placeholder" for root in self.contents)

    # ---- reading ----

    def read(self, node: Node) -> Node:
        """The node that has the present contents of the tensor `node`."""
        if not self.current and not self.unrecorded:
            return node
        if mode.grad and self.requires_grad(node):
            self.check_recorded(node)
        base = base_of(node)
        now = self.current.get(base)
        return node if now is None else self._seen_through(node, base, now)

    def requires_grad(self, node: Node) -> bool:
        """Does the tensor require grad by now? A view does when its base does."""
        base = base_of(node)
        wanted = base in self.recorded or meta_of(base).requires_grad
        return wanted and meta_of(node).dtype.is_floating_point

    def note(self, node: Node) -> None:
        """A detached tensor was made: a base of its own."""
        root, source = memory_of(node), view_source(node)
        self._detached.setdefault(root, []).append(node)
        if root in self.contents and source is not None:
            self.current[node] = self._emit(node.target, (self.read(source),))

    def save(self, nodes: Iterable[Node]) -> None:
        """An operator was recorded that takes or gives these: its backward may read their memory,
        with what is in it by then."""
        roots = {memory_of(node) for node in nodes}
        roots |= {memory_of(base) for base, now in self.current.items() if memory_of(now) in roots}
        for root in roots:
            self.saved.setdefault(root, self.tracer.step)

    def check_recorded(self, node: Node) -> None:
        """Raises Break, where it was made, for a view whose history only eager mode knows."""
        view = self.made_unrecorded(node)
        if view is not None:
            stop = Break("grad-mode", name=view.target_name, what="grad mode")
            stop.step = self.unrecorded[view]
            raise stop

    def made_unrecorded(self, node: Node) -> Node | None:
        """The view between the tensor and its base that was made where nothing is recorded."""
        base, view = base_of(node), node
        while view is not base and view not in self.unrecorded:
            source = view_source(view)
            assert source is not None
            view = source
        return view if view in self.unrecorded else None

    def base_home(self, node: Node) -> str | None:
        """Where the base of a view is, if it is an input."""
        base = base_of(node)
        return self.home(base) if base.op == "placeholder" else None

    def made_recorded(self, node: Node) -> bool:
        """Was the tensor made a view where views are recorded, though the region may have begun
        where they are not?"""
        base, view = base_of(node), node
        while view is not base and view in self.views_recorded:
            source = view_source(view)
            assert source is not None
            view = source
        return view is base and node is not base

    def _seen_through(self, node: Node, base: Node, now: Node) -> Node:
        """The view `node`, of `now` instead of `base`."""
        way: list[Node] = []
        while node is not base and (node, base, now) not in self._views:
            way.append(node)
            source = view_source(node)
            assert source is not None
            node = source
        seen = now if node is base else self._views[node, base, now]
        for view in reversed(way):
            seen = self._emit(view.target, (seen, *view.args[1:]), dict(view.kwargs))
            self._views[view, base, now] = seen
        return seen

    # ---- writing ----

    def write(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Node:
        """Run the in-place operator `op`; the written node is its first argument.

        Raises Break where eager has to see the write, RuntimeError for what eager refuses.
        """
        op.bind(args, kwargs)
        target: Node = args[0]
        root, base = memory_of(target), base_of(target)
        others = [*_nodes_in((args[1:], kwargs))]
        recorded = mode.grad and any(map(self.requires_grad, (target, *others)))
        recorded &= meta_of(target).dtype.is_floating_point
        check_write(self, op, target, others, recorded)
        op.meta(*map_nodes(args, meta_of), **map_nodes(kwargs, meta_of))
        read_args, read_kwargs = map_nodes(args, self.read), map_nodes(kwargs, self.read)
        self.changed()
        if recorded and memory_of(read_args[0]).op == "placeholder":  # which the tape may save
            read_args = (self._emit(OPS["clone"], (read_args[0],)), *read_args[1:])
        value = self._value(op, target, read_args, read_kwargs, recorded)
        self._spread(root, base, self._whole(base, target, value), recorded)
        self.writes.setdefault(root, []).append(self.tracer.step)
        if recorded:
            self.save((target, *others))
        if mode.grad and base is root:
            self.tape_saw.add(root)
        return target

    def _value(
        self, op: Op, target: Node, args: tuple, kwargs: dict[str, Any], recorded: bool
    ) -> Node:
        """What the written tensor contains afterwards, in its type and sizes."""
        assert op.functional is not None
        value = self.tracer.emit(op.functional, args, kwargs)
        fits = meta_of(value).dtype is meta_of(target).dtype
        if fits and not (recorded and op.functional.kind in MAKES_ANEW):
            return value
        before = args[0] if isinstance(args[0], Node) else self.read(target)
        return self._emit(OPS["copy"], (before, value))

    def _whole(self, base: Node, target: Node, value: Node) -> Node:
        """What `base` contains when `target`, a view of it, contains `value`."""
        while target is not base:
            source = view_source(target)
            assert source is not None
            value = undo(self._emit, target, self.read_quietly(source), value)
            target = source
        before = self.current.get(base, base)
        found, wanted = meta_of(value), OPS["clone"].meta(meta_of(base))
        if (found.dtype, found.shape, found.stride) == (wanted.dtype, wanted.shape, wanted.stride):
            return value
        return self._emit(OPS["copy"], (before, value))

    def read_quietly(self, node: Node) -> Node:
        """The contents of a tensor that is only read in order to write a part of it."""
        base = base_of(node)
        return self._seen_through(node, base, self.current.get(base, base))

    def _spread(self, root: Node, base: Node, whole: Node, recorded: bool) -> None:
        """`base` was written: all bases of the memory have new values."""
        contents = whole if base is root else self._whole(root, base, whole)
        for other in (root, *self._detached.get(root, ())):
            if other is base and recorded:
                self.current[base] = whole
                self.recorded.add(base)
                if root.op == "placeholder" and self.first_recorded is None:
                    self.first_recorded = self.tracer.step
            else:
                values = whole if other is base else self._seen_through(other, root, contents)
                self.current[other] = self._with_history(other, values)
        self.contents[root] = contents

    def _with_history(self, base: Node, values: Node) -> Node:
        """New values, while the history of `base` stays what it was."""
        if meta_of(values).requires_grad:  # the tape may keep those: the result is to be another
            values = self._emit(OPS["_stop_gradient"], (self._emit(OPS["clone"], (values,)),))
        if self.requires_grad(base):
            values = self._emit(OPS["_with_history"], (self.current.get(base, base), values))
        return values

    def _emit(self, op: Op, args: tuple, kwargs: dict[str, Any] | None = None) -> Node:
        """A node of the graph that no instruction of the user's asked for."""
        node = Tracer.call(self.tracer, op, args, kwargs or {})
        given = any(meta_of(n).requires_grad for n in node.all_input_nodes)
        wanted = given and bool(op.derivatives) and meta_of(node).dtype.is_floating_point
        node.meta = meta_of(node).with_grad(wanted)
        return node

    def view_of_input(self, node: Node, way: tuple[tuple, str]) -> Node:
        """The node of an input that is a view of another one; `way` is its `_view`."""
        steps, refusal = way
        for op, rest in steps:
            node = self._emit(op, (node, *rest))
            if not refusal:
                self.views_recorded.add(node)
        if refusal:
            self.unrecorded[node] = self.tracer.step
        return node

    def detached_input(self, node: Node, twin: TensorVariable, itself: Node) -> Node:
        """The node of an input that is another one when detached; `itself` is its placeholder."""
        made = self._emit(OPS["detach"], (node,))
        self.note(made)
        self.twins[made] = twin, itself
        return made

    def input(self, root: Node) -> TensorVariable:
        """The tensor from outside that the first node of a memory stands for."""
        return self.tracer.stand_ins[root].variable

    # ---- the end of the region ----

    def shown(self, node: Node) -> Node:
        """The node to output for a tensor: a part of an input stays one, and is overwritten."""
        root = memory_of(node)
        self._check_shown(node, root)
        base = base_of(node)
        if base in self.twins:
            return self._seen_through(node, base, self.twins[base][1])
        if root.op == "placeholder" or root not in self.contents:
            return node
        now = self.current[root]
        if now.target.alias or now.target.compose is not None:  # no tensor of its own
            now = self.current[root] = self._emit(OPS["clone"], (now,))
        return self._seen_through(node, root, now)

    def _check_shown(self, node: Node, root: Node) -> None:
        """Raises Break for a view whose history is not just that it has none."""
        view = self.made_unrecorded(node)
        if view is None:
            return
        if root.op == "placeholder":  # the tape will tell it of what is written
            told = self.first_recorded is not None and self.first_recorded < self.unrecorded[view]
        else:
            told = base_of(node) in self.recorded
        if told or view is not node and self.requires_grad(node):
            self.check_recorded(node)

    def overwritten(self) -> Iterator[tuple[Node, Node, int, bool]]:
        """The inputs that were written: each with what has its new contents, how often, and whether
        that is for the tape to see."""
        for root in self.contents:
            if root.op == "placeholder":
                recorded = root in self.recorded
                contents = self.current[root] if recorded else self._without_history(root)
                yield root, contents, len(self.writes[root]), recorded

    def _without_history(self, root: Node) -> Node:
        now = self.contents[root]
        if meta_of(now).requires_grad:
            now = self.contents[root] = self._emit(OPS["_stop_gradient"], (now,))
        return now

    def recorded_twins(self) -> Iterator[tuple[str, Node]]:
        """The inputs that share memory with others and got a history of their own."""
        for node, (twin, _) in self.twins.items():
            if node in self.recorded:
                yield twin.home, self.current[node]

    def written_inside(self, node: Node) -> Node | None:
        """The first tensor of the memory of `node`, if it was made and written in the region."""
        root = memory_of(node)
        counted = root in self.contents and root.op != "placeholder" and not through_data(node)
        return root if counted else None

    def own_history(self, node: Node) -> Node | None:
        """The base of `node`, if it is a detached one that got a history by being written."""
        base = base_of(node)
        return base if base in self.recorded and base is not memory_of(node) else None

    def home(self, root: Node) -> str:
        return self.input(root).home


def _nodes_in(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _nodes_in(item)
    elif isinstance(value, dict):
        yield from _nodes_in(tuple(value.values()))
