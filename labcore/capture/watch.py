"""Looks on while a region is captured, when somebody listens to the trace.

In: the interpreter before each instruction, and once at the end.  Out: what was walked, where each
node came from, and, if they were asked for, all steps.
Invariant: it only looks: nothing here is guarded, and nothing of the user's runs. An attempt that
is given up takes its watch along, so what is told is what was captured.
"""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING

from ..graph import Node
from ..graph.node import show
from ..trace import NodeRecord, TraceStep, WalkedCode
from .bytecode import Bytecode, bytecode
from .describe import describe
from .frame import SymbolicFrame
from .frames import UNBOUND

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

SETTING_UP = frozenset(
    "RESUME MAKE_CELL COPY_FREE_VARS RETURN_GENERATOR CACHE EXTENDED_ARG".split()
)
Place = tuple[int, int]  # which code object, and the offset or the line in it


class Watch:
    """`walked` has every instruction once, in order; `steps` every step, if asked for."""

    def __init__(self, vm: Interpreter, in_detail: bool, ours: str) -> None:
        self.vm, self.ours = vm, ours
        self.codes: list[CodeType] = []
        self.walked: dict[Place, None] = {}
        self.places: dict[str, list[list[int]]] = {}  # by the node's name
        self.steps: list[TraceStep] | None = [] if in_detail else None
        self._numbers: dict[int, int] = {}
        self._seen: set[Node] = set()
        self._guards = 0
        self._open: tuple[SymbolicFrame, int, list[list[int]], bool] | None = None

    def look(self) -> None:
        """An instruction comes next. What the lab's own Python does belongs to the user's call."""
        frame = self.vm.frames[-1]
        if self._is_ours(frame):
            return
        self._close()
        chain = [
            [self._number(f.code), f.table.origin(f.offset).line]
            for f in self.vm.frames
            if not self._is_ours(f)
        ]
        place = chain[-1][0], frame.offset
        new = place not in self.walked and _name(frame) not in SETTING_UP
        if new:
            self.walked[place] = None
        self._open = frame, frame.offset, chain, new
        if self.steps is not None:
            self.steps.append(self._step(frame))

    def stopped(self, begun: bool) -> None:
        """The instruction looked at last is CPython's: it is not walked, unless it was begun."""
        if self._open is None:
            return
        _, offset, chain, new = self._open
        if new and not begun:
            self.walked.pop((chain[-1][0], offset))
        if self.steps:
            self.steps[-1].stops = True

    def finish(self) -> None:
        """Capture has ended."""
        self._close()

    def listing(self) -> list[WalkedCode]:
        """The instructions walked, code object by code object."""
        rows: list[WalkedCode] = [
            WalkedCode(code.co_qualname, code.co_filename, code.co_firstlineno, [])
            for code in self.codes
        ]
        for nth, (number, offset) in enumerate(self.walked):
            table = bytecode(self.codes[number])
            line = table.origin(offset).line
            rows[number].instructions.append([offset, line, spelled(table, offset), nth])
        return rows

    def record(self, node: Node) -> NodeRecord:
        meta = str(node.meta) if node.meta is not None else ""
        args = [show(arg) for arg in node.args]
        args += [f"{key}={show(value)}" for key, value in node.kwargs.items()]
        inputs = [other.name for other in node.all_input_nodes]
        places = self.places.get(node.name, [])
        return NodeRecord(node.name, node.op, node.target_name, args, inputs, meta, places)

    # ---- one instruction ----

    def _close(self) -> None:
        """The instruction looked at last is over: what it made is its own."""
        if self._open is None:
            return
        frame, _, chain, _ = self._open
        self._open = None
        made = self._made()
        for node in made:
            self.places[node.name] = [] if node.op == "placeholder" else chain
        if self.steps is None:
            return
        step = self.steps[-1]
        step.after = [describe(value) for value in frame.stack]
        step.variables = _variables(frame)
        step.nodes = [self.record(node) for node in made]
        guards = self.vm.builder.guards
        step.guards = [guard.record() for guard in guards[self._guards :]]
        self._guards = len(guards)

    def _made(self) -> list[Node]:
        """Nodes that are new since the last time; inputs are put in front of the others."""
        nodes = self.vm.operators.tracer.graph.nodes
        if len(nodes) == len(self._seen):
            return []
        made = [node for node in nodes if node not in self._seen]
        self._seen.update(made)
        return made

    def _step(self, frame: SymbolicFrame) -> TraceStep:
        code = frame.code
        depth = sum(not self._is_ours(f) for f in self.vm.frames) - 1
        return TraceStep(
            self.vm.step,
            code.co_qualname,
            code.co_filename,
            code.co_firstlineno,
            depth,
            frame.offset,
            spelled(frame.table, frame.offset),
            [describe(value) for value in frame.stack],
            [],
            [],
            [],
            [],
            origin=frame.table.origin(frame.offset),
        )

    def _is_ours(self, frame: SymbolicFrame) -> bool:
        return frame.code.co_filename.startswith(self.ours)

    def _number(self, code: CodeType) -> int:
        if id(code) not in self._numbers:
            self._numbers[id(code)] = len(self.codes)
            self.codes.append(code)
        return self._numbers[id(code)]


def _name(frame: SymbolicFrame) -> str:
    return frame.table.raw[frame.offset].opname


def _variables(frame: SymbolicFrame) -> list[list[str]]:
    named = zip(frame.table.slots, frame.fast)
    return [[name, *describe(value)] for name, value in named if not _is_empty(value)]


def _is_empty(value: object) -> bool:
    return getattr(value, "value", None) is UNBOUND


def spelled(table: Bytecode, offset: int) -> str:
    """CPython's name of an instruction and its argument, as `dis` prints it."""
    ins = table.raw[offset]
    if ins.opname == "KW_NAMES":
        argument = repr(table.code.co_consts[ins.arg or 0])
    elif isinstance(ins.argval, CodeType):  # its repr has an address
        argument = f"code of {ins.argval.co_name}"
    else:
        argument = ins.argrepr or ("" if ins.argval is None else str(ins.argval))
    return f"{ins.opname} {argument}".rstrip()
