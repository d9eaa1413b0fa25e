"""Writes that a graph does not make: eager mode refuses them, or has to see them itself.

In: an in-place operator on a node.  Out: nothing, a Break, or eager mode's own error.
Invariant: nothing has changed when a write is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..graph import Node
from ..ops import Op
from ..ops.inplace import check_overlap
from ..ops.sharing import base_of, memory_of, meta_of, same_view, shown_array, through_data
from ..tensor.nodes import MAKES_ANEW
from .breaks import Break
from .overwriting import overlaps_itself, takes_writes

if TYPE_CHECKING:
    from .memory import Memory


def check_write(memory: Memory, op: Op, target: Node, others: list[Node], recorded: bool) -> None:
    """Raises Break or RuntimeError. `recorded`: the tape would see the write."""
    stop, root = (
        Break("inplace-operator", name=op.name, pure=op.name.rstrip("_")),
        memory_of(target),
    )
    if through_data(target):
        uncounted = Break("uncounted-write", name=op.name)
        uncounted.step = memory.saved.get(root)
        raise uncounted
    if root.op == "placeholder":
        meta = meta_of(root)
        if overlaps_itself(meta.shape, meta.stride):
            raise stop
        own = recorded and base_of(target) is root
        if own and not takes_writes(memory.input(root).value, True):
            raise stop  # a leaf
    if recorded:
        _check_recorded(memory, op, target)
    refuse_overlap(target, others, stop)


def _check_recorded(memory: Memory, op: Op, target: Node) -> None:
    memory.check_recorded(target)
    if not memory.tracer.modes.entry["grad"]:
        raise Break("grad-mode", name=op.name, what="grad mode")
    assert op.functional is not None
    if not op.functional.derivatives and op.functional.kind not in MAKES_ANEW:
        raise Break("no-derivative", name=op.name)


def refuse_overlap(target: Node, others: list[Node], stop: Break) -> None:
    """Raises what eager does where an operand is another part of the written memory."""
    root = memory_of(target)
    shared = [n for n in others if memory_of(n) is root and not same_view(n, target)]
    if not shared:
        return
    if any(node.symbolic for node in (root, target, *shared)):
        raise stop  # which part it is depends on sizes
    arrays: dict[Node, Any] = {}
    check_overlap(shown_array(target, arrays), [shown_array(n, arrays) for n in shared])
