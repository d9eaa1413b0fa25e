"""Which of a frame's variables somebody still reads, at every offset of a code object.

In: a `Bytecode`.  Out: slots by offset: backward over falls, jumps and exception edges.
Invariant: a slot that is not live may hold anything: no instruction reads it before it is written.
What reads variables by name (`locals()`) is not seen here; who stops at such a call keeps them all.
"""

from __future__ import annotations

import dis

from .bytecode import Bytecode

NEVER_FALLS = frozenset(
    "RETURN_VALUE RETURN_CONST RAISE_VARARGS RERAISE JUMP_FORWARD JUMP_BACKWARD "
    "JUMP_BACKWARD_NO_INTERRUPT".split()
)
Slots = frozenset[int]


def live_slots(table: Bytecode) -> dict[int, Slots]:
    """The slots read from each offset on."""
    live: dict[int, Slots] = {offset: frozenset() for offset in table.raw}
    order = list(reversed(table.raw.values()))
    changed = True
    while changed:
        changed = False
        for ins in order:
            found = _live_before(table, ins, live)
            if found != live[ins.offset]:
                live[ins.offset], changed = found, True
    return live


def _live_before(table: Bytecode, ins: dis.Instruction, live: dict[int, Slots]) -> Slots:
    after: set[int] = set()
    if ins.opname not in NEVER_FALLS and ins.offset in table.after:
        after |= live[table.after[ins.offset]]
    if "JUMP" in ins.opname or ins.opname in ("FOR_ITER", "SEND"):
        after |= live[ins.argval]
    reads, writes = _reads_writes(ins)
    entry = table.handler(ins.offset)
    caught = live[entry.target] if entry is not None else frozenset()
    return frozenset((after - writes) | reads | caught)


def _reads_writes(ins: dis.Instruction) -> tuple[set[int], set[int]]:
    """What one instruction reads and writes; a deletion reads, for it wants the slot bound."""
    name, arg = ins.opname, ins.arg or 0
    first, second = arg >> 4, arg & 15
    if name == "STORE_FAST_LOAD_FAST":
        return {second} - {first}, {first}
    if name == "STORE_FAST_STORE_FAST":
        return set(), {first, second}
    if name == "LOAD_FAST_LOAD_FAST":
        return {first, second}, set()
    if name in ("STORE_FAST", "STORE_FAST_MAYBE_NULL"):
        return set(), {arg}
    touches = "_FAST" in name or "DEREF" in name or name in ("LOAD_CLOSURE", "MAKE_CELL")
    return ({arg} if touches else set()), set()
