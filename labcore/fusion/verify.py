"""Is this program well formed? Run after lowering, always.

Raises ProgramError naming the loop and the rule: a malformed program is a bug of the lab, never of
its user.
"""
from __future__ import annotations

from .handlers import Dtypes
from .ir import Buffer, Expr, Loops, is_index, using
from .program import Program


class ProgramError(AssertionError):
    """Lowering made something that breaks an invariant."""


def verify_program(program: Program) -> Program:
    """Bodies closed and typed, accesses inside buffers, everything written before it is read."""
    written = {b.name for b in program.inputs} | set(program.constants)
    for step in program.steps:
        if isinstance(step, Loops):
            _verify_loops(step, program, written)
        else:
            for operand in step.operands:
                _require(
                    operand.buffer.name in written,
                    step.title,
                    f"reads {operand.buffer.name} before it is written",
                )
        written.add(step.out.name)
    for output in program.outputs:
        if isinstance(output, Buffer):
            _require(output.name in written, output.name, "is returned but never written")
    return program


def _verify_loops(loops: Loops, program: Program, written: set[str]) -> None:
    reads = loops.reads
    known = {f"i{k}" for k in range(len(loops.sizes))}
    for name, _ in reads.loads:
        _require(name in written, loops.title, f"reads {name} before it is written")
    places = {name: size - 1 for name, size in reads.places.items()}
    for name, at in (*reads.loads, *reads.stores):
        stray = {s for s in at.symbols if is_index(s)} - known
        _require(not stray, loops.title, f"uses the index {stray} of a loop it does not have")
        _require(
            _inside(at.subs(places), loops, program.buffers[name]),
            loops.title,
            f"leaves {name} at [{at}]",
        )
    try:
        with using(Dtypes(program.buffers)):
            loops.run(loops.vars)
    except TypeError as error:
        raise ProgramError(f"{loops.title}: {error}") from None


def _inside(at: Expr, loops: Loops, buffer: Buffer) -> bool:
    """Is the largest offset in the buffer's span? Symbols and loops of no turns pass."""
    if any(s.const is None or s.const == 0 for s in (*loops.sizes, *buffer.shape)):
        return True
    last = at.subs({f"i{k}": size - 1 for k, size in enumerate(loops.sizes)}).const
    span = buffer.span.const  # None for strides that are symbols
    return last is None or span is None or 0 <= last < span


def _require(ok: bool, who: str, rule: str) -> None:
    if not ok:
        raise ProgramError(f"{who}: {rule}")
