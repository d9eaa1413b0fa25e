"""Which of a frame's variables somebody still reads, at every offset of a code object.

In: a `Bytecode`.  Out: slots by offset: backward over falls, jumps and exception edges.
Invariant: a slot that is not live may hold anything: no instruction reads it before it is written.
What reads variables by name (`locals()`) is not seen here; who stops at such a call keeps them all.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable

from .bytecode import Bytecode

NEVER_FALLS = frozenset(
    "RETURN_VALUE RETURN_CONST RAISE_VARARGS RERAISE JUMP_FORWARD JUMP_BACKWARD "
    "JUMP_BACKWARD_NO_INTERRUPT".split()
)


def live_slots(table: Bytecode) -> dict[int, frozenset[int]]:
    """The slots read from each offset on."""
    return {offset: frozenset(_slots(mask)) for offset, mask in _live_masks(table).items()}


def _live_masks(table: Bytecode) -> dict[int, int]:
    """The same as numbers, one bit a slot."""
    live = dict.fromkeys(table.raw, 0)
    rows = [_row(table, ins) for ins in reversed(table.raw.values())]
    changed = True
    while changed:
        changed = False
        for offset, ways, reads, kept, caught in rows:
            found = 0
            for way in ways:
                found |= live[way]
            found = found & kept | reads
            if caught is not None:
                found |= live[caught]
            if found != live[offset]:
                live[offset], changed = found, True
    return live


def _row(table: Bytecode, ins: dis.Instruction) -> tuple[int, list[int], int, int, int | None]:
    """An instruction's offset, where it may lead, what it reads, what it leaves, who catches."""
    ways = []
    if ins.opname not in NEVER_FALLS and ins.offset in table.after:
        ways.append(table.after[ins.offset])
    if "JUMP" in ins.opname or ins.opname in ("FOR_ITER", "SEND"):
        ways.append(ins.argval)
    reads, writes = _reads_writes(ins)
    entry = table.handler(ins.offset)
    return ins.offset, ways, _mask(reads), ~_mask(writes), None if entry is None else entry.target


def _mask(slots: Iterable[int]) -> int:
    mask = 0
    for slot in slots:
        mask |= 1 << slot
    return mask


def _slots(mask: int) -> list[int]:
    return [slot for slot in range(mask.bit_length()) if mask >> slot & 1]


def _reads_writes(ins: dis.Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What one instruction reads and writes; a deletion reads, for it wants the slot bound."""
    name, arg = ins.opname, ins.arg or 0
    if "FAST" not in name and "DEREF" not in name and name not in ("LOAD_CLOSURE", "MAKE_CELL"):
        return (), ()
    first, second = arg >> 4, arg & 15
    if name == "STORE_FAST_LOAD_FAST":
        return (() if first == second else (second,)), (first,)
    if name == "STORE_FAST_STORE_FAST":
        return (), (first, second)
    if name == "LOAD_FAST_LOAD_FAST":
        return (first, second), ()
    if name in ("STORE_FAST", "STORE_FAST_MAYBE_NULL"):
        return (), (arg,)
    return (arg,), ()
