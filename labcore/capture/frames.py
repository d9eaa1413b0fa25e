"""Frames of real values: the state of a call between two regions.

In: what a variant left when it stopped.  Out: `Frame`s, outermost first, and the `Stop` that says
which instruction is CPython's next.
Invariant: a frame has CPython's layout: slots in its order (locals, cells, free variables), an
own cell's slot always a cell; a frame that waits for a callee stands at its call, operands popped.
PyTorch generates a resume function instead, a new code object whose arguments are this state.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from ..guards.variant import Mark
from .bytecode import V13, Bytecode, bytecode

# What changes a frame's variables, which a window has copies of.
MOVES = "DELETE_FAST STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST".split()
NULL, UNBOUND = Mark("NULL"), Mark("UNBOUND")


class Frame:
    """Variables, value stack, the place of the next instruction, the exception being handled."""

    __slots__ = ("code", "exc", "fast", "namespace", "offset", "stack")

    def __init__(
        self,
        code: CodeType,
        namespace: dict[str, Any],
        fast: list[Any],
        stack: list[Any],
        offset: int,
        exc: BaseException | None,
    ) -> None:
        self.code, self.namespace, self.fast = code, namespace, fast
        self.stack, self.offset, self.exc = stack, offset, exc

    def let_go(self) -> None:
        """It is left: whoever holds it, as a traceback does that leads here, holds no values."""
        self.fast.clear()
        self.stack.clear()
        self.exc = None


def leave(frames: list[Frame], kept: int) -> None:
    """Only the outermost `kept` frames go on."""
    for frame in frames[kept:]:
        frame.let_go()
    del frames[kept:]


class Stop:
    """The instruction at which a variant ended, with all that is known of it beforehand.

    `rest`: CPython runs this frame to its end, as nobody knows how to run this instruction alone.
    `truth_only`: a comparison (3.13's, that gives a bool) was made, its result lies on the stack.
    `branch`: where False and True lead, when a jump on the result comes next.
    """

    def __init__(self, code: CodeType, offset: int, truth_only: bool = False) -> None:
        table = self.table = bytecode(code)
        ins = self.ins = table.raw[offset]
        known = (1, 1) if truth_only else effect(ins)
        self.rest, self.truth_only = known is None, truth_only
        self.name, (self.operands, self.results) = ins.opname, known or (0, 0)
        self.after = table.after.get(offset, -1)
        self.target = table.at[offset].arg if self.name == "FOR_ITER" else ins.argval
        self.plain = self.name == "CALL" and table.keyword_names(ins) is None
        # where a call's callable lies, and the NULL beside it, counted from the stack's top
        self.callee, self.null = (-self.operands + place for place in ((0, 1) if V13 else (1, 0)))
        self.jump = is_branch(self.name)
        self.moves: Any = table.at[offset].arg if self.name in MOVES else None
        self.branch = _branch_after(table, self.after) if self.results == 1 else None
        self.following: Any = None  # the driver's note: the place that this stop leads to
        self.wants_null = table.pushes_null(offset)

    def __repr__(self) -> str:
        return f"Stop({self.name} at {self.ins.offset})"


def _branch_after(table: Bytecode, offset: int) -> tuple[int, int] | None:
    """(where False leads, where True leads) at a jump that only looks at a bool."""
    while offset in table.raw and table.raw[offset].opname in ("EXTENDED_ARG", "NOP"):
        offset = table.after[offset]
    ins = table.raw.get(offset)
    if ins is None or not ins.opname.startswith("POP_JUMP") or ins.opname.endswith("NONE"):
        return None
    ways = table.after[offset], ins.argval
    return ways if ins.opname.endswith("TRUE") else ways[::-1]


# Values taken from the stack, values put back. No default: what is not here ends in an escape,
# for a wrong count would show far away.
_EFFECTS = {
    "BEFORE_WITH": (1, 2),
    "WITH_EXCEPT_START": (4, 5),
    "CHECK_EXC_MATCH": (2, 2),
    "RERAISE": (0, 0),
    "BINARY_OP": (2, 1),
    "COMPARE_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "IS_OP": (2, 1),
    "UNARY_NOT": (1, 1),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_INVERT": (1, 1),
    "TO_BOOL": (1, 1),
    "BINARY_SUBSCR": (2, 1),
    "STORE_SUBSCR": (3, 0),
    "DELETE_SUBSCR": (2, 0),
    "BINARY_SLICE": (3, 1),
    "STORE_SLICE": (4, 0),
    "LOAD_ATTR": (1, 1),
    "LOAD_METHOD": (1, 1),
    "STORE_ATTR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "LOAD_GLOBAL": (0, 1),
    "STORE_GLOBAL": (1, 0),
    "DELETE_GLOBAL": (0, 0),
    "STORE_DEREF": (1, 0),
    "LOAD_DEREF": (0, 1),
    "LOAD_FAST": (0, 1),
    "LOAD_FAST_CHECK": (0, 1),
    "IMPORT_NAME": (2, 1),
    "IMPORT_FROM": (1, 2),
    "GET_ITER": (1, 1),
    "POP_TOP": (1, 0),
    "DELETE_FAST": (0, 0),
    "STORE_FAST": (1, 0),
    "STORE_FAST_LOAD_FAST": (1, 1),
    "STORE_FAST_STORE_FAST": (2, 0),
    "GET_LEN": (1, 2),
    "MATCH_SEQUENCE": (1, 2),
    "MATCH_MAPPING": (1, 2),
    "MATCH_KEYS": (2, 3),
    "MATCH_CLASS": (3, 1),
    "FOR_ITER": (1, 2),
    "FORMAT_SIMPLE": (1, 1),
    "FORMAT_WITH_SPEC": (2, 1),
    "CONVERT_VALUE": (1, 1),
    "CALL_INTRINSIC_1": (1, 1),
    "LIST_TO_TUPLE": (1, 1),
    "UNARY_POSITIVE": (1, 1),
    "SET_FUNCTION_ATTRIBUTE": (2, 1),
}


def is_branch(name: str) -> bool:
    return "JUMP" in name and "_IF_" in name


def effect(ins: dis.Instruction) -> tuple[int, int] | None:
    """(operands, results), or None for an instruction that does not run alone."""
    name, arg = ins.opname, ins.arg or 0
    if is_branch(name):
        return None if name.endswith("NONE") else (1, 1)
    match name:
        case "CALL":
            return arg + 2, 1
        case "CALL_KW":
            return arg + 3, 1
        case "CALL_FUNCTION_EX":
            return 3 + (arg & 1), 1
        case "MAKE_FUNCTION":
            return 1 + (arg or 0).bit_count(), 1
        case "RAISE_VARARGS" | "BUILD_STRING" | "BUILD_SLICE" | "BUILD_SET":
            return arg, 1
        case "BUILD_MAP":
            return 2 * arg, 1
        case "BUILD_CONST_KEY_MAP":
            return arg + 1, 1
        case "UNPACK_SEQUENCE":
            return 1, arg
        case "UNPACK_EX":
            return 1, (arg & 255) + (arg >> 8) + 1
        case "FORMAT_VALUE":
            return 1 + (arg & 4 == 4), 1
        case "LIST_APPEND" | "SET_ADD" | "LIST_EXTEND" | "SET_UPDATE" | "DICT_UPDATE":
            return arg + 1, arg
        case "MAP_ADD":
            return arg + 2, arg
    return _EFFECTS.get(name)
