"""Random programs that write in place, and a compiler that checks itself in every way on the way.

A program is the text of a function of five tensors: arithmetic, broadcasts, views, shifted slices,
reductions, products, and writes into tensors and into parts of them, which capture makes
functional. What eager mode makes of it is what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import numpy as np

import labcore as torch
from labcore.autodiff import aot_compile
from labcore.codegen import compile_schedule, cpu, memory_plan, print_kernel, print_program
from labcore.fusion import (
    FusionOptions,
    count_by_running,
    count_in_source,
    ledger,
    lower,
    schedule,
)
from labcore.fusion.ir import Expr
from labcore.fusion.verify import verify_program
from labcore.graph import GraphModule
from labcore.measure.memory import peak_bytes
from labcore.shapes import Values
from labcore.tensor import Tensor, from_numpy
from tests.codegen.graphs import as_python

from .graphs import assert_same

BINARY = ["{a} + {b}", "{a} - {b}", "{a} * {b} * 0.5", "torch.maximum({a}, {b})",
          "torch.where({a} > {b}, {a}, {b} * 0.25)"]
UNARY = ["torch.relu({a})", "torch.tanh({a})", "{a}.neg()", "{a} * 0.5 + 1", "{a}.abs().sqrt()",
         "torch.sigmoid({a})", "{a}.clone()"]
WRITES = ["{a}.add_({b})", "{a}.mul_(0.5)", "{a}.copy_({b})", "{a} += {b}", "{a}.relu_()"]
TABLES = ("loads", "stores", "again", "rows", "folds")


class RandomProgram:
    """`text` defines f(x, y, row, column, turned); `shapes` are those of its variables."""

    def __init__(self, rng: np.random.Generator, length: int) -> None:
        self.rng = rng
        self.rows, self.columns = [(5, 7), (4, 4), (2, 9), (3, 2)][rng.integers(4)]
        self.shapes: dict[str, tuple[int, ...]] = {
            "x": (self.rows, self.columns), "y": (self.rows, self.columns),
            "row": (self.columns,), "column": (self.rows, 1), "turned": (self.rows, self.columns),
        }
        self.lines = ["def f(x, y, row, column, turned):"]
        for _ in range(length):
            self.grow()
        made = [name for name in self.shapes if name[0] == "t" and name[1:].isdigit()]
        chosen = list(dict.fromkeys([*made[-2:], *(made and [self.any(made)])])) or ["x"]
        self.lines.append(f"    return {', '.join(chosen)},")

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def inputs(self, seed: int) -> list[Tensor]:
        rng = np.random.default_rng(seed)
        given = [rng.standard_normal(self.shapes[n]).astype(np.float32)
                 for n in ("x", "y", "row", "column")]
        turned = rng.standard_normal((self.columns, self.rows)).astype(np.float32).T
        return [from_numpy(a) for a in (*given, turned)]

    def function(self) -> Callable[..., Any]:
        scope: dict[str, Any] = {"torch": torch}
        exec(compile(self.text, "<random program>", "exec"), scope)
        return scope["f"]

    # ---- lines ----

    def any(self, pool: Sequence[Any]) -> Any:
        """Rather a late one."""
        return pool[max(self.rng.integers(len(pool)), self.rng.integers(len(pool)))]

    def let(self, text: str, shape: tuple[int, ...]) -> None:
        name = f"t{sum(n[0] == 't' and n[1:].isdigit() for n in self.shapes)}"
        self.lines.append(f"    {name} = {text}")
        self.shapes[name] = shape

    def name(self, ndim: int | None = None) -> str:
        return self.any([n for n, s in self.shapes.items() if ndim is None or len(s) == ndim])

    def fitting(self, shape: tuple[int, ...]) -> str:
        """Something that broadcasts to a shape."""
        fits = [n for n, s in self.shapes.items() if len(s) <= len(shape)
                and all(a in (1, b) for a, b in zip(s[::-1], shape[::-1]))]
        return self.any([*fits, *fits, "0.5"]) if fits else "0.5"

    def grow(self) -> None:
        steps = [self.binary] * 4 + [self.unary] * 2 + [self.view] * 2 + [self.shifted] * 2
        steps += [self.rows_and_total] * 2
        steps += [self.reduce] * 3 + [self.write] * 3 + [self.write_part] * 3 + [self.product]
        steps[self.rng.integers(len(steps))]()

    def binary(self) -> None:
        a = self.name()
        self.let(self.any(BINARY[:3]).format(a=a, b=self.fitting(self.shapes[a])), self.shapes[a])

    def unary(self) -> None:
        a = self.name()
        self.let(self.any(UNARY).format(a=a), self.shapes[a])

    def view(self) -> None:
        a = self.name(2)
        rows, columns = self.shapes[a]
        self.let(*[
            (f"{a}.t()", (columns, rows)),
            (f"{a}.reshape(-1)", (rows * columns,)),
            (f"{a}[{self.rng.integers(rows)}]", (columns,)),
            (f"{a}.unsqueeze(0).expand(3, {rows}, {columns})", (3, rows, columns)),
        ][self.rng.integers(4)])

    def shifted(self) -> None:
        """Two parts of one tensor, one element apart."""
        a = self.name(2)
        rows, columns = self.shapes[a]
        if rows > 1 and self.rng.integers(2):
            self.let(f"{a}[1:] - {a}[:-1] * 0.5", (rows - 1, columns))
        elif columns > 1:
            self.let(f"{a}[:, 1:] + {a}[:, :-1]", (rows, columns - 1))

    def reduce(self) -> None:
        a = self.name()
        shape = self.shapes[a]
        if not shape:
            return
        dim, keep = int(self.rng.integers(len(shape))), bool(self.rng.integers(2))
        kept = tuple(1 if k == dim else n for k, n in enumerate(shape) if keep or k != dim)
        how = ["sum", "mean", "amax", "amin", "logsumexp", "norm", "var"][self.rng.integers(7)]
        if how == "var":
            made = f"t{len(self.lines)}_"
            self.lines.append(f"    {made} = {a} - {a}.mean({dim}, True)")
            spread = f"({made} * {made}).sum({dim}, True)"
            whole = self.rng.integers(2)
            self.let(*((f"{made} / ({spread} + 1)", shape) if whole else
                       (f"{a}.var({dim}, correction=0, keepdim={keep})", kept)))
        elif how == "norm":
            self.let(f"torch.sqrt(({a} * {a}).mean({dim}, {keep}) + 1)", kept)
        elif self.rng.integers(4) == 0:
            self.let(f"{a}.{how}({dim}).mean()", ())
        else:
            self.let(f"{a}.{how}({dim}, {keep}) * 0.5", kept)

    def rows_and_total(self) -> None:
        """What each row makes, what all of them make, and rows that read that."""
        a = self.name(2)
        dim = int(self.rng.integers(2))
        first, then = (["sum", "mean", "amax"][self.rng.integers(3)] for _ in range(2))
        made = f"t{len(self.lines)}_"
        self.lines.append(f"    {made} = {a}.{first}({dim}, True)")
        kept = tuple(1 if k == dim else n for k, n in enumerate(self.shapes[a]))
        over = int(self.rng.integers(2))
        self.let(f"{made} - {made}.{then}({over}, True) * 0.5", kept)

    def write(self) -> None:
        """Into a tensor that was made, or given. Expanded ones refuse."""
        a = self.any([n for n, s in self.shapes.items() if len(s) < 3])
        line = self.any(WRITES).format(a=a, b=self.fitting(self.shapes[a]))
        self.lines.append(f"    {line}" if "copy_(0.5" not in line else f"    {a}.fill_(0.5)")

    def write_part(self) -> None:
        """Into a part of a tensor, of what another part of it was."""
        a = self.name(2)
        rows, columns = self.shapes[a]
        if rows > 1 and self.rng.integers(2):
            self.lines.append(f"    {a}[1:] = {a}[:-1] * 0.5")
        elif columns > 1:
            self.lines.append(f"    {a}[:, :-1] += {a}[:, 1:] * 0.25")

    def product(self) -> None:
        a = self.name(2)
        rows, _ = self.shapes[a]
        self.let(f"torch.tanh({a} @ {a}.t())", (rows, rows))


class Checking:
    """A backend whose graphs are scheduled in a random order and run in every way there is."""

    def __init__(self, rng: np.random.Generator, machine: bool) -> None:
        self.rng, self.machine, self.graphs, self.fused = rng, machine, 0, 0

    def backend(self, gm: GraphModule, inputs: list[Any]) -> Callable[..., tuple]:
        return aot_compile(gm, inputs, self.compiler)

    def compiler(self, gm: GraphModule, phase: str) -> Callable[[list[Any]], tuple]:
        options = FusionOptions(online=bool(self.rng.integers(2)))
        program = verify_program(lower(gm.graph, bool(self.rng.integers(2)), options))
        plan = schedule(program, priority=lambda *_: self.rng.random(), options=options)
        names = plan.program.numbers
        with mock.patch.object(cpu, "BLOCK", int(self.rng.integers(1, 6))):  # of short rows
            kernels = [print_kernel(nest, k) for k, nest in enumerate(plan.nests)]
        python = as_python(print_program(plan, kernels, phase, check_inputs=True))
        machine = compile_schedule(plan, gm.attrs, phase) if self.machine else python
        self.graphs, self.fused = self.graphs + 1, self.fused + sum(v.ok for v in plan.verdicts)

        def call(args: list[Any]) -> tuple:
            inputs = list(args)
            args.clear()
            numbers = Values(zip(names, inputs))
            counted, ran = count_by_running(plan, inputs, gm.attrs)
            static = ledger(plan)
            for table in TABLES:
                found = [{b: t for b, n in getattr(side, table).items()
                          if (t := Expr.of(n).value(numbers))} for side in (counted, static)]
                assert found[0] == found[1], table
            text = sum(count_in_source(kernel.source, {
                p.name: numbers[p.storage] for p in kernel.parameters if p.number
            }).executed for kernel in kernels)
            assert text == static.executed.value(numbers)
            assert peak_bytes(python, list(inputs)) == memory_plan(plan, kernels).peak(numbers)
            outputs = machine(list(inputs))
            assert_same(arrays(python(list(inputs))), ran.outputs)
            assert_same(arrays(outputs), ran.outputs)
            return outputs

        return call


def arrays(values: Sequence[Any]) -> list[Any]:
    return [v.array if isinstance(v, Tensor) else v for v in values]


def check(seed: int, machine: bool, dynamic: bool = False) -> Checking:
    """One program, eager and compiled: results, layouts, and what became of the inputs; `dynamic`:
    with sizes that are symbols.

    One that eager mode refuses (it writes where it reads) says nothing.
    """
    rng = np.random.default_rng(seed)
    program = RandomProgram(rng, int(rng.integers(3, 12)))
    checking = Checking(rng, machine)
    plain, own = program.inputs(seed), program.inputs(seed)
    function = program.function()
    with np.errstate(all="ignore"), torch.no_grad():
        try:
            want = function(*plain)
        except RuntimeError:
            return checking
        compiled = torch.compile(
            function, backend=checking.backend, fullgraph=True, dynamic=dynamic)
        found = compiled(*own)
    assert_same(arrays(found), arrays(want))
    assert [t.stride() for t in found] == [t.stride() for t in want]
    assert_same(arrays(own), arrays(plain))
    return checking
