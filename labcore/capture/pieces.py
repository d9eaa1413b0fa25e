"""Three small code objects cut from the user's own, without disassembling it.

    window    runs ONE instruction of the user's code in CPython
    escape    runs the REST of the function from an offset on
    raise_at  raises an exception "from" an instruction

In: a frame.  Out: the piece's result. Each is a prologue that fills variables and value stack, then
bytes of the original.  Two facts of CPython 3.11 to 3.13 make this short: jumps are relative, so
code may be moved as a block; and new free variables come last among a frame's variables, so adding
some renumbers nothing.
Invariant: the piece's frame is the user's in file, line, columns, name, globals() and locals().
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Sequence
from opcode import _inline_cache_entries, opmap  # type: ignore[attr-defined]
from types import CellType, CodeType, FunctionType
from typing import Any

from .bytecode import V12, V13, Bytecode, bytecode
from .frames import NULL, UNBOUND, Frame, is_branch

VARARGS, VARKEYWORDS = 0x04, 0x08
Key = tuple[Any, ...]


def window(frame: Frame, operands: list[Any], results: int) -> Any:
    """Run the instruction the frame stands at on `operands`: its result, or a tuple of several."""
    return _enter("window", frame, operands, results)


def truth(frame: Frame, operands: list[Any], results: int) -> Any:
    """Do no more than what the instruction does last: make a bool of its result (3.13)."""
    return _enter("truth", frame, operands, results)


def escape(frame: Frame) -> Any:
    """Run the frame to its end.

    It takes what the frame has, variables too, so that nobody else keeps what the user lets go of;
    but for the first argument, where super() looks.
    """
    code, fast, stack, table = frame.code, frame.fast, frame.stack, bytecode(frame.code)
    first = fast[: min(code.co_argcount, 1)]
    bound = tuple(
        n
        for n, value in enumerate(fast[: code.co_nlocals])
        if value is not UNBOUND and n not in table.own_cells and n >= len(first)
    )
    shape = tuple([value is not NULL for value in stack])
    lost = bool(first) and first[0] is UNBOUND
    key = "escape", frame.offset, lost, bound, shape
    piece = table.pieces.get(key)
    if piece is None:
        entry = _Entry(table, shape, len(first), bound, (0,) if lost else ())
        piece = table.pieces[key] = _escape(entry, frame.offset)
    values = [fast[n] for n in (*table.own_cells, *bound)]
    values += [value for value in stack if value is not NULL]
    free = fast[len(fast) - len(code.co_freevars) :]
    cells = (*free, *map(CellType, values))
    del fast, stack, values
    frame.let_go()
    return FunctionType(piece, frame.namespace, code.co_name, None, cells)(*first)


def raise_at(frame: Frame, error: BaseException) -> Any:
    """Raise `error` at the place where the frame stands."""
    operands = [error]
    del error
    try:
        return _enter("raise", frame, operands)
    finally:
        operands.clear()  # the error's traceback leads here


def _enter(kind: str, frame: Frame, stack: list[Any], results: int = 0) -> Any:
    code, fast, table = frame.code, frame.fast, bytecode(frame.code)
    count = code.co_nlocals
    empty = tuple([value is UNBOUND for value in fast[:count]])
    shape = tuple([value is not NULL and value is not UNBOUND for value in stack])
    key = kind, frame.offset, empty, shape
    piece = table.pieces.get(key)
    if piece is None:
        unbound = [n for n, missing in enumerate(empty) if missing]
        entry = _Entry(table, shape, count, (), unbound)
        piece = table.pieces[key] = _MAKE[kind](entry, frame.offset, results)
    cells = [CellType(value) for value, filled in zip(stack, shape) if filled]
    if code.co_freevars or table.own_cells:
        free = fast[len(fast) - len(code.co_freevars) :]
        cells = [*free, *(CellType(fast[n]) for n in table.own_cells), *cells]
    return FunctionType(piece, frame.namespace, code.co_name, None, tuple(cells))(*fast[:count])


class _Entry:
    """The prologue: variables come as `arguments`, of which some are `unbound`, the other `bound`
    ones, the cells and the stack as additional free variables."""

    def __init__(
        self,
        table: Bytecode,
        shape: tuple[bool, ...],
        arguments: int,
        bound: Sequence[int],
        unbound: Sequence[int],
    ) -> None:
        code = self.code = table.code
        self.table, self.arguments, cells = table, arguments, table.own_cells
        place = len(table.slots)
        self.names = tuple(f".{n}" for n in range(len(cells) + len(bound) + sum(shape)))
        out = _emit("COPY_FREE_VARS", len(code.co_freevars) + len(self.names)) + _emit("RESUME")
        for slot in unbound:
            out += _emit("DELETE_FAST", slot)
        for slot in (*cells, *bound):
            # locals() takes a cell for one only where a MAKE_CELL was run
            out += _emit("MAKE_CELL", slot) if slot in cells else b""
            out += _take(place) + _emit("STORE_FAST", slot)
            place += 1
        for filled in shape:
            out += _take(place) if filled else _emit("PUSH_NULL")
            place += filled
        self.bytes = out

    def rebuild(self, body: bytes, lines: bytes, table: bytes = b"") -> CodeType:
        code = self.code
        return code.replace(
            co_code=body,
            co_linetable=lines,
            co_exceptiontable=table,
            co_argcount=self.arguments,
            co_posonlyargcount=0,
            co_kwonlyargcount=0,
            co_freevars=code.co_freevars + self.names,
            co_flags=code.co_flags & ~(VARARGS | VARKEYWORDS),
            co_stacksize=code.co_stacksize + 8,
        )


def _window(entry: _Entry, offset: int, results: int) -> CodeType:
    body = _one_instruction(entry.table, entry.table.raw[offset])
    body += (_emit("BUILD_TUPLE", results) if results != 1 else b"") + _emit("RETURN_VALUE")
    lines = _no_location(len(entry.bytes) // 2) + _location(entry.code, offset, len(body) // 2)
    return entry.rebuild(entry.bytes + body, lines)


def _truth(entry: _Entry, offset: int, results: int) -> CodeType:
    body = _emit("TO_BOOL") + _emit("RETURN_VALUE")
    lines = _no_location(len(entry.bytes) // 2) + _location(entry.code, offset, len(body) // 2)
    return entry.rebuild(entry.bytes + body, lines)


def _escape(entry: _Entry, offset: int) -> CodeType:
    head = entry.bytes + _emit("JUMP_FORWARD", entry.table.way_in(offset) // 2)
    shift = len(head) // 2
    handlers = b"".join(
        _big_varint(e.start // 2 + shift, 128)
        + _big_varint((e.end - e.start) // 2)
        + _big_varint(e.target // 2 + shift)
        + _big_varint(e.depth << 1 | e.lasti)
        for e in entry.table.handlers
    )
    lines = _no_location(shift) + entry.code.co_linetable
    return entry.rebuild(head + entry.code.co_code, lines, handlers)


def _raise(entry: _Entry, offset: int, results: int) -> CodeType:
    body = _emit("RAISE_VARARGS", 1)
    lines = _no_location(len(entry.bytes) // 2) + _location(entry.code, offset, 1)
    return entry.rebuild(entry.bytes + body, lines)


_MAKE: dict[str, Callable[[_Entry, int, int], CodeType]] = {
    "window": _window,
    "truth": _truth,
    "raise": _raise,
}


def _one_instruction(table: Bytecode, ins: dis.Instruction) -> bytes:
    """Bytes that do `ins` and leave its results; a jump only computes its (inverted) truth."""
    name, arg = ins.opname, ins.arg or 0
    if is_branch(name):  # 3.13's UNARY_NOT wants a bool
        return (_emit("TO_BOOL") if V13 else b"") + _emit("UNARY_NOT")
    if name == "LOAD_GLOBAL":
        return _emit(name, arg & ~1)  # no NULL, which would be the result in 3.13
    if name in ("LOAD_METHOD", "LOAD_ATTR"):
        return _emit("LOAD_ATTR", arg & ~1 if name == "LOAD_ATTR" and V12 else arg)
    keywords = table.keyword_names(ins) if name == "CALL" else None
    return (b"" if keywords is None else _emit("KW_NAMES", keywords)) + _emit(name, arg)


def _take(place: int) -> bytes:
    """Move a value to the stack; what it came in is empty then, so locals() does not show it."""
    return _emit("LOAD_DEREF", place) + _emit("DELETE_DEREF", place)


# ---- bytes --------------------------------------------------------------------------------------


def _caches(op: str) -> int:
    if isinstance(_inline_cache_entries, dict):  # 3.13: by name
        return _inline_cache_entries.get(op, 0)
    return _inline_cache_entries[opmap[op]]


def _emit(op: str, arg: int = 0) -> bytes:
    out = b""
    for shift in (24, 16, 8):
        if arg >> shift:
            out += bytes([opmap["EXTENDED_ARG"], arg >> shift & 255])
    return out + bytes([opmap[op], arg & 255]) + bytes(2 * _caches(op))


def _varint(value: int) -> bytes:
    """Six bits a byte, least significant first (the location table)."""
    out = []
    while value > 63:
        out.append(64 | value & 63)
        value >>= 6
    return bytes([*out, value])


def _big_varint(value: int, mark: int = 0) -> bytes:
    """Six bits a byte, most significant first (the exception table)."""
    out = [value & 63]
    while value := value >> 6:
        out.insert(0, 64 | value & 63)
    out[0] |= mark
    return bytes(out)


def _no_location(units: int) -> bytes:
    return b"".join(bytes([0x80 | 15 << 3 | min(8, units - n) - 1]) for n in range(0, units, 8))


def _location(code: CodeType, offset: int, units: int) -> bytes:
    """The user's position of `offset`, for all of the next `units`."""
    line, end, column, end_column = list(code.co_positions())[offset // 2]
    if line is None:
        return _no_location(units)
    delta = line - code.co_firstlineno
    columns = [0 if place is None else place + 1 for place in (column, end_column)]
    body = _varint((end or line) - line) + b"".join(map(_varint, columns))
    first = _varint(delta << 1 if delta >= 0 else -delta << 1 | 1)
    return b"".join(
        bytes([0x80 | 14 << 3 | min(8, units - n) - 1]) + (_varint(0) if n else first) + body
        for n in range(0, units, 8)
    )
