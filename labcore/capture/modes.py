"""Grad mode and inference mode while capturing: what the captured code has switched on and off.

In: reads and writes of the lab's flags by no_grad, set_grad_enabled and the like, which are read as
bytecode.  Out: the flags as they are at each operator, and at the end of the region.
Invariant: the real flags change while an operator is being written, for the lab's own code looks at
them, and in the text of a variant, after the graph, if they are others than at its beginning.
A graph runs under the flags of its beginning. So what is not to be recorded is cut off with
`_stop_gradient`, what is written keeps its gradient by `_with_history`, and what inference_mode
made becomes an inference tensor where it leaves; PyTorch puts calls of `_set_grad_enabled` and
`_enter_inference_mode` in the graph.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..graph import Node
from ..tensor.modes import mode
from .breaks import Break
from .variables import Constant, Variable

FLAGS = ("grad", "inference")


class Modes:
    """`flags` are the captured code's; `entry` are those that the region began with."""

    def __init__(self) -> None:
        self.entry = {name: bool(getattr(mode, name)) for name in FLAGS}
        self.flags = dict(self.entry)
        self.switched: int | None = None  # the step that switched last
        self.made: set[Node] = set()  # what a block of inference_mode made

    @property
    def changed(self) -> bool:
        return self.flags != self.entry

    def read(self, name: str) -> Variable:
        if name not in FLAGS:
            raise Break("attribute", name=name, what="the lab's modes")
        return Constant(self.flags[name])

    def write(self, name: str, value: Variable | None, step: int) -> None:
        """Raises Break for what is no constant bool. `step`: of the instruction that does it."""
        if name not in FLAGS or not isinstance(value, Constant) or type(value.value) is not bool:
            raise Break("mutation", what="the grad mode")
        self.flags[name], self.switched = value.value, step

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """The real flags are the captured code's."""
        if not self.changed:
            yield
            return
        for name, value in self.flags.items():
            setattr(mode, name, value)
        try:
            yield
        finally:
            for name, value in self.entry.items():
                setattr(mode, name, value)

    def statement(self) -> str:
        """Python that makes the change for real."""
        return "; ".join(f"mode.{name} = {value}" for name, value in self.flags.items())
