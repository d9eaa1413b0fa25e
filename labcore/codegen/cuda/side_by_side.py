"""Which elements lie side by side in memory, so that a word holds several of them.

In: a `Nest`.  Out: how many elements a thread may take at once.
A warp that loads halves one by one asks for 64 bytes with each instruction, where it could ask for
128: on an H200 pointwise kernels took 1.14 of the time. In rows that stay in registers words of 16
bytes spare three of four loads, and their addresses.
So much of an offset is known here: of which numbers its terms are multiples. Where an array begins,
a kernel asks for itself. Triton derives both from hints that are given when a kernel is compiled.
"""

from __future__ import annotations

from ...fusion.handlers import Reads
from ...fusion.ir import Expr, is_place, using
from ...fusion.nest import Nest

PAIR = 2  # halves of 32 bits
WIDEST = 16  # bytes of one load
COUNTS = (8, 4, 2)  # elements of a word
LOADS = {count: f"load{count}" for count in COUNTS}  # in a kernel's text; see pointers.py
STORES = {count: f"store{count}" for count in COUNTS}
WORDS = {*LOADS.values(), *STORES.values(), "aligned"}


def in_pairs(nest: Nest) -> bool:
    """Are all elements of a pointwise nest halves, which lie two by two along its last loop?"""
    if not all(nest.buffers_by_name[name].dtype.is_half for name in nest.arguments):
        return False
    var, size, _ = nest.loops[-1]
    return (len(nest.loops) == 1 or is_multiple(size, PAIR)) and _side_by_side(nest, var, PAIR)


def a_word_of_a_row(nest: Nest, threads: int) -> int:
    """How many elements of a row that stays in the registers of some threads are one word. One,
    where something is loaded anew for each row, and needed once: as words it takes registers."""
    if len(nest.inner_loops) != 1:
        return 1
    ((var, size),) = nest.inner_loops
    loads, stores = accesses(nest)
    rows = {var for var, _ in nest.outer_loops}
    walked = "colred" in nest.parts.values()
    if not walked and any(var in at.symbols and not rows & at.symbols for _, at in loads):
        return 1
    sizes = [nest.buffers_by_name[buffer].dtype.itemsize
             for buffer, at in loads + stores if var in at.symbols]
    most = min(WIDEST // max(sizes, default=WIDEST), int(size) // threads)
    return next((count for count in COUNTS if count <= most and is_multiple(size, count)
                 and _side_by_side(nest, var, count)), 1)


def moves_by(at: Expr, var: str, count: int) -> bool:
    """Do so many turns of a loop, from a multiple of that number on, lie side by side, from a
    multiple of it on?"""
    return at.coeff(var).const == 1 and is_multiple(at - Expr.of(var), count)


def is_multiple(size: Expr, count: int) -> bool:
    return size.divided(Expr.of(count)) is not None


def _side_by_side(nest: Nest, var: str, count: int) -> bool:
    """All that moves with a loop, that is, and nothing lies at a place that is a value."""
    loads, stores = accesses(nest)
    return all(moves_by(at, var, count) for _, at in stores) and not any(
        any(map(is_place, at.symbols)) or var in at.symbols and not moves_by(at, var, count)
        for _, at in loads)


def accesses(nest: Nest) -> tuple[list[tuple[str, Expr]], list[tuple[str, Expr]]]:
    """What is loaded from memory, and what is stored there element by element."""
    loads, stores = dict[tuple[str, Expr], None](), list[tuple[str, Expr]]()
    for node in nest.nodes:
        with using(Reads()) as reads:
            nest.run(node)
        loads.update(dict.fromkeys(reads.loads))
        if nest.parts[node] == "each" and nest.homes[node.name] == "memory":
            stores += reads.stores
    made = nest.group.made
    return [(b, at) for b, at in loads if b not in made or nest.homes[b] == "memory"], stores
