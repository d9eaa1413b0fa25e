"""What lowering hands on: loops and extern steps in program order, over named buffers.

In: `lowering.py` fills it.  Out: `Program`, read by the scheduler, the ledger and codegen.
Invariant: a step reads only inputs and buffers of earlier steps; every output is a whole buffer or
a Python constant.
Inductor's counterpart is GraphLowering with its list of operations; here it is data, and lowering
is functions over it.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import devices
from ..graph import Node as GraphNode, TensorMeta
from ..ops import Op
from .ir import Buffer, Expr, Loops, exprs

if TYPE_CHECKING:
    from .pair import Verdict


@dataclass(frozen=True)
class Operand:
    """A tensor argument of an extern step: a buffer, or a strided view of one."""

    buffer: Buffer
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def whole(self) -> bool:
        """Is it the buffer as it is?"""
        layout = exprs(self.shape), exprs(self.strides), Expr.of(self.offset)
        return layout == (self.buffer.shape, self.buffer.strides, Expr())

    def __str__(self) -> str:
        if self.whole:
            return self.buffer.name
        return f"{self.buffer.name}.as_strided({self.shape}, {self.strides}, {self.offset})"


@dataclass(eq=False)
class Extern:
    """A call of the eager operator. `args` have `Operand`s where the graph has nodes."""

    out: Buffer
    node: GraphNode
    op: Op
    args: tuple
    kwargs: dict[str, Any]
    operands: tuple[Operand, ...]
    reason: str
    order: int = 0

    @property
    def title(self) -> str:
        return self.node.name

    @property
    def is_product(self) -> bool:
        """Is it a product that BLAS writes where it is told to? A card's makes memory of its own,
        and BLAS knows no halves.
        """
        meta = self.node.meta
        on_card = isinstance(meta, TensorMeta) and meta.device != devices.cpu
        return self.op.name == "matmul" and not on_card and not self.out.dtype.is_half

    @property
    def made(self) -> list[str]:
        return [self.out.name]

    @property
    def used(self) -> list[str]:
        return [operand.buffer.name for operand in self.operands]

    def __str__(self) -> str:
        given = [_show(a) for a in self.args] + [f"{k}={_show(v)}" for k, v in self.kwargs.items()]
        return f"{self.out.name} = {self.op.name}({', '.join(given)})  # extern: {self.reason}"


def _show(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_show, value)) + "]"
    return str(value)


@dataclass
class Program:
    """`numbers` and `inputs` in the order of the placeholders, numbers first; `constants` by buffer
    name, the GraphModule attribute each one is. `seen` has the numbers' values at capture.

    `outputs` follow the graph's outputs: a Buffer (maybe twice, maybe an input), or a Python
    constant. `decisions` are the verdicts that lowering reached itself, by inlining a value into
    its readers.
    """

    steps: list[Loops | Extern] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    inputs: list[Buffer] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    outputs: list[Any] = field(default_factory=list)
    decisions: list[Verdict] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)

    @property
    def loops(self) -> list[Loops]:
        return [s for s in self.steps if isinstance(s, Loops)]

    @property
    def externs(self) -> list[Extern]:
        return [s for s in self.steps if isinstance(s, Extern)]

    @property
    def storages(self) -> dict[str, Expr]:
        """Every storage and how many elements it must have room for."""
        return {b.storage: b.span for b in self.buffers.values()}

    def prune(self) -> None:
        """Drop steps nobody reads, and number the others."""
        needed = {b.name for b in self.outputs if isinstance(b, Buffer)}
        kept: list[Loops | Extern] = []
        for step in reversed(self.steps):
            # A draw advances the generator, read or not.
            drawn = isinstance(step, Extern) and step.op.kind == "random"
            if step.out.name in needed or drawn:
                needed |= _read_by(step)
                kept.append(step)
        self.steps = kept[::-1]
        for order, step in enumerate(self.steps):
            step.order = order

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.steps))


def _read_by(step: Loops | Extern) -> set[str]:
    """The buffers that must be there before it."""
    if isinstance(step, Extern):
        return {operand.buffer.name for operand in step.operands}
    into = set() if step.into is None else {step.into.name}
    return {name for name, _ in step.reads.loads} | into
