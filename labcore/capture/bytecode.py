"""Code objects as the interpreter reads them: one dialect for CPython 3.11, 3.12 and 3.13.

In: a code object.  Out: `Bytecode`, instructions by offset, in the names and arguments of the
table below.
All that differs between the three versions is in this file; whatever is not translated keeps
CPython's name.

    ours               argument               3.11               3.12               3.13
    NOP                -                      PRECALL, KW_NAMES  KW_NAMES           -
    LOAD_FAST          slot                   + LOAD_CLOSURE     + ..._CHECK        no LOAD_CLOSURE
    LOAD_ATTR          (name, is a method)    or LOAD_METHOD     bit 0              bit 0
    LOAD_SUPER_ATTR    (name, is a method)    CALL of super      bit 0              bit 0
    LOAD_GLOBAL        (name, with NULL)      NULL below         NULL below         NULL above
    CALL               (count, keywords)      KW_NAMES before    KW_NAMES before    CALL_KW: stack
    COMPARE_OP         (operator, to bool)    -                  -                  bit 4
    POP_JUMP_IF_X      offset                 ..FORWARD_..       forward only       after TO_BOOL
    JUMP_IF_X_OR_POP   offset                 yes                COPY, POP_JUMP     + TO_BOOL
    FOR_ITER           offset after the loop  directly           + END_FOR          + POP_TOP
    FORMAT             (conversion, spec)     FORMAT_VALUE       FORMAT_VALUE       FORMAT_SIMPLE
    INTRINSIC          name                   LIST_TO_TUPLE ...  CALL_INTRINSIC_1   CALL_INTRINSIC_1
"""

from __future__ import annotations

import dis
import functools
import sys
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ..trace import Origin

V12, V13 = sys.version_info >= (3, 12), sys.version_info >= (3, 13)

NOTHING = frozenset(
    "NOP RESUME PRECALL KW_NAMES EXTENDED_ARG CACHE COPY_FREE_VARS".split()
)
RENAMED = {
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_CLOSURE": "LOAD_FAST",
    "LOAD_METHOD": "LOAD_ATTR",
    "CALL_KW": "CALL",
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "FORMAT_VALUE": "FORMAT",
    "FORMAT_SIMPLE": "FORMAT",
    "FORMAT_WITH_SPEC": "FORMAT",
    "LIST_TO_TUPLE": "INTRINSIC",
    "UNARY_POSITIVE": "INTRINSIC",
    "CALL_INTRINSIC_1": "INTRINSIC",
}
INTRINSICS = {
    "INTRINSIC_LIST_TO_TUPLE": "LIST_TO_TUPLE",
    "INTRINSIC_UNARY_POSITIVE": "UNARY_POSITIVE",
}
ON_THE_STACK = None  # keyword names of CALL_KW


@dataclass(frozen=True, slots=True)
class Instruction:
    """`op` and `arg` in our dialect; `original` is CPython's instruction."""

    op: str
    arg: Any
    offset: int
    original: dis.Instruction

    @property
    def positions(self) -> dis.Positions | None:
        return self.original.positions


class Bytecode:
    """`at[offset]` is an instruction, `after[offset]` the next one's offset, `handler(offset)`
    who catches there."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        listing = list(dis.get_instructions(code))
        self.after = {a.offset: b.offset for a, b in zip(listing, listing[1:])}
        self.raw = {ins.offset: ins for ins in listing}
        self._before = {b.offset: a for a, b in zip(listing, listing[1:])}
        self.handlers = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        self.at = {ins.offset: self._translate(ins) for ins in listing}
        self.slots = slots(code)
        self.names = frozenset(ins.opname for ins in listing)
        self.catching = "PUSH_EXC_INFO" in self.names
        self._start = next((ins.offset for ins in listing if ins.opname == "RESUME"), 0)
        names = [ins.opname for ins in listing]
        began = names.index("RETURN_GENERATOR") if "RETURN_GENERATOR" in names else -1
        self.body = listing[began + 1].offset  # where a generator goes on first
        self.own_cells = [n for n, name in enumerate(self.slots) if name in code.co_cellvars]
        self._origins: dict[int, Origin] = {}
        self.pieces: dict[Any, CodeType] = {}  # what pieces.py cut from this code

    def handler(self, offset: int) -> Any:
        """The exception table's entry for an offset, or None."""
        if not self.handlers:
            return None
        return next((e for e in self.handlers if e.start <= offset < e.end), None)

    def catches(self, offset: int) -> bool:
        """May code of the user's run when the instruction at `offset` raises?

        An inlined comprehension (3.12 on) has a handler that only restores a variable and raises
        again.
        """
        entry = self.handler(offset)
        while entry is not None and self.at[entry.target].op != "PUSH_EXC_INFO":
            entry = self.handler(entry.target)
        return entry is not None

    def asserts(self, offset: int) -> bool:
        """Is what this instruction compares or decides the truth of an assertion?"""
        while self.at[offset].op in ("COMPARE_OP", "TO_BOOL"):
            offset = self.after[offset]
        ins = self.at[offset]
        ways = (self.after.get(offset), ins.arg) if ins.op.startswith("POP_JUMP") else ()
        return any(way in self.at and self.at[way].op == "LOAD_ASSERTION_ERROR" for way in ways)

    def origin(self, offset: int) -> Origin:
        """The user's place that the instruction at `offset` came from; of one that the compiler
        added, such as a handler's end, the place before it."""
        if offset not in self._origins:
            self._origins[offset] = self._origin(offset)
        return self._origins[offset]

    def _origin(self, offset: int) -> Origin:
        where = self.at[offset].positions
        while (where is None or where.lineno is None) and offset in self._before:
            offset, where = self._before[offset].offset, self._before[offset].positions
        line, end, column, end_column = where if where is not None else (None,) * 4
        column, end, end_column = (-1 if v is None else v for v in (column, end, end_column))
        first = self.code.co_firstlineno
        return Origin(
            self.code.co_filename, line or first, column, end, end_column, self.code.co_qualname
        )

    @functools.cached_property
    def live(self) -> dict[int, frozenset[int]]:
        """The slots that somebody still reads, by offset."""
        from .liveness import live_slots

        return live_slots(self)

    def keyword_names(self, call: dis.Instruction) -> int | None:
        """3.11 and 3.12: which constant names the keywords of a CALL; KW_NAMES stands right
        before it, or before its PRECALL."""
        before = self._before[call.offset]
        if before.opname == "PRECALL":
            before = self._before[before.offset]
        return before.arg if before.opname == "KW_NAMES" else None

    def way_in(self, offset: int) -> int:
        """Where to jump to for going on at an instruction: its EXTENDED_ARGs are part of it, as are
        a call's keyword names; and what comes before RESUME (making cells) is done for every frame
        there is."""
        offset = max(offset, self._start)
        prefixes = {"EXTENDED_ARG"}
        if self.raw[offset].opname in ("CALL", "PRECALL"):
            prefixes |= {"PRECALL", "KW_NAMES"}
        while offset in self._before and self._before[offset].opname in prefixes:
            offset = self._before[offset].offset
        return offset

    def delegates(self, offset: int) -> bool:
        """Is the YIELD_VALUE at `offset` one of a `yield from`?"""
        after = self.raw[self.after[offset]]
        return after.opname == "RESUME" and (after.arg or 0) & 3 == 2

    def pushes_null(self, offset: int) -> bool:
        """Does the instruction put a NULL beside its result?"""
        ins = self.at[offset]
        return ins.op in ("LOAD_ATTR", "LOAD_GLOBAL") and ins.arg[1]

    def _translate(self, ins: dis.Instruction) -> Instruction:
        name = ins.opname
        if name in NOTHING:
            op = "NOP"
        elif name.startswith("POP_JUMP_"):
            op = "POP_JUMP_" + name[name.index("IF_") :]
        else:
            op = RENAMED.get(name, name)
        return Instruction(op, self._argument(op, ins), ins.offset, ins)

    def _argument(self, op: str, ins: dis.Instruction) -> Any:
        name, arg = ins.opname, ins.arg or 0
        match op:
            case "LOAD_ATTR":
                return ins.argval, name == "LOAD_METHOD" or V12 and bool(arg & 1)
            case "LOAD_SUPER_ATTR":
                return self.code.co_names[arg >> 2], bool(arg & 1)
            case "LOAD_GLOBAL":
                return ins.argval, bool(arg & 1)
            case "CALL":
                return arg, ON_THE_STACK if name == "CALL_KW" else self._keywords(ins)
            case "COMPARE_OP":
                return dis.cmp_op[arg >> (5 if V13 else 4 if V12 else 0)], V13 and bool(arg & 16)
            case "BINARY_OP":
                return ins.argrepr.removesuffix("="), ins.argrepr.endswith("=")
            case "FOR_ITER":
                return self._after_loop(ins.argval)
            case "FORMAT":
                return _format(ins)
            case "INTRINSIC":
                return (
                    INTRINSICS.get(ins.argrepr, ins.argrepr) if name == "CALL_INTRINSIC_1" else name
                )
            case (
                "LOAD_FAST"
                | "STORE_FAST"
                | "DELETE_FAST"
                | "LOAD_DEREF"
                | "STORE_DEREF"
                | "LOAD_FAST_AND_CLEAR"
            ):
                return arg
            case "LOAD_FAST_LOAD_FAST" | "STORE_FAST_LOAD_FAST" | "STORE_FAST_STORE_FAST":
                return arg >> 4, arg & 15
            case "LOAD_CONST" | "RETURN_CONST" | "JUMP" | "SEND":
                return ins.argval
        return ins.argval if "JUMP" in op or "ATTR" in op or "GLOBAL" in op else arg

    def _keywords(self, call: dis.Instruction) -> tuple[str, ...]:
        names = self.keyword_names(call)
        return () if names is None else self.code.co_consts[names]

    def _after_loop(self, target: int) -> int:
        """3.12 and 3.13 put END_FOR (and POP_TOP) where an exhausted loop jumps to; CPython skips
        them."""
        if self.raw[target].opname == "END_FOR":
            target = self.after[target]
            if V13 and self.raw[target].opname == "POP_TOP":
                target = self.after[target]
        return target


def _format(ins: dis.Instruction) -> tuple[str, bool]:
    """(conversion, a specification is on the stack); the conversion is one of "", "s", "r", "a"."""
    arg = ins.arg or 0
    if ins.opname == "FORMAT_VALUE":
        return ("", "s", "r", "a")[arg & 3], bool(arg & 4)
    return "", ins.opname == "FORMAT_WITH_SPEC"


def slots(code: CodeType) -> list[str]:
    """Names of a frame's variables in CPython's order: locals, cells that are no local, free
    variables."""
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    return [*code.co_varnames, *cells, *code.co_freevars]


_tables: dict[int, Bytecode] = {}


def bytecode(code: CodeType) -> Bytecode:
    """By identity: equal code objects may be different ones. The table keeps its code alive, so
    its id is its own."""
    table = _tables.get(id(code))
    return table or _tables.setdefault(id(code), Bytecode(code))


def forget() -> None:
    """Drop all tables: code that nobody uses any more may go."""
    _tables.clear()
