"""The output code: a Python file that holds a graph's kernels and `call(args)`, which runs them in
order.

In: a `Schedule` and its printed kernels.  Out: the text of the file.
`call` takes its inputs out of the list (so that they can be freed as soon as they are not needed),
allocates or uses dead buffers again as the memory plan says, launches, calls the operators that
have no loops, lets go of what is dead, and returns a tuple.
Invariant: kernels are launched on arrays whose dtype, shape and strides are those they were printed
for.  Three things see to it: guards check the inputs, `empty_strided` makes buffers from the same
numbers, `assert_layout` checks the rest. PyTorch's wrapper does the same for C++ and Triton
kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .. import dtypes
from ..devices import device
from ..fusion.ir import Buffer, Expr
from ..fusion.memory import MemoryPlan, plan_memory
from ..fusion.nest import Nest
from ..fusion.program import Extern, Operand
from ..fusion.scheduler import Schedule
from ..shapes import bare
from .printer import WORDS, Kernel, Parameter, unique_name
from .products import product

TAKEN = {
    "math",
    "args",
    "call",
    "kernel",
    "program",
    "dtypes",
    "ops",
    "devices",
    "compiled",
    "empty_strided",
    "no_grad",
    "numpy",
    "strided",
    "assert_layout",
}


SAMPLES = {"s": 3, "f": 0.5}  # what a program that is run on its own takes for its symbols


def print_program(
    schedule: Schedule, kernels: list[Kernel], phase: str, check_inputs: bool = False
) -> str:
    """The whole file. `check_inputs`: print an `assert_layout` for every input."""
    return Wrapper(schedule, kernels, phase, check_inputs).print()


def memory_plan(schedule: Schedule, kernels: Sequence[Any]) -> MemoryPlan:
    """The plan of a schedule whose kernels want scratch."""
    printed = iter(kernels)
    lent = [_scratch(next(printed)) if isinstance(step, Nest) else Expr()
            for step in schedule.steps]
    return plan_memory(schedule, lent)


def _scratch(kernel: Any) -> Expr:
    """The bytes that the wrapper lends to a kernel while it runs."""
    lent = [p.scratch * p.dtype.itemsize for p in kernel.parameters if p.scratch is not None]
    return sum(lent, Expr())


class Wrapper:
    """`holders`: the variable that has each place in memory, at the step that is being printed.
    `compiled` and `memory` are the modules that a program's kernels and its tensors come from."""

    compiled, memory = "labcore.codegen.program", "labcore.tensor"

    def __init__(
        self, schedule: Schedule, kernels: list[Kernel], phase: str, check_inputs: bool
    ) -> None:
        self.schedule, self.program, self.kernels = schedule, schedule.program, kernels
        self.phase, self.check_inputs = phase, check_inputs
        self.plan = memory_plan(schedule, kernels)
        self.unprinted = iter(kernels)
        self.names: dict[str, str] = {}  # buffers -> variables
        self.used = {*TAKEN, *WORDS, *(k.name for k in kernels), *self.program.numbers}
        self.holders: dict[str, str] = {}
        self.dying = self._dying()

    def name(self, buffer: str) -> str:
        """A variable of its own for a buffer, or for a kernel's scratch."""
        if buffer not in self.names:
            self.names[buffer] = unique_name(buffer, self.used)
            self.used.add(self.names[buffer])
        return self.names[buffer]

    def holder(self, buffer: str) -> str:
        """The variable that has the memory of a buffer."""
        found = self.schedule.buffers.get(buffer)
        place = buffer if found is None else found.storage
        return self.holders.get(place) or self.name(place)

    # ---- the file ----

    def print(self) -> str:
        inputs, constants = list(self._inputs()), list(self._constants())
        body = [line for k in range(len(self.schedule.steps)) for line in self._step(k)]
        if around := self._around():
            body = [f"with {around}:", *(f"    {line}" for line in body)]
        call = ["def call(args):", *(f"    {line}" for line in (*inputs, *body, self._result()))]
        parts = [
            "\n".join([*self._head(call), *constants]),
            *(source.rstrip() for source in self.sources),
            "\n".join(call),
            "\n".join(self._main()),
        ]
        return "\n\n\n".join(parts) + "\n"

    @property
    def sources(self) -> list[str]:
        """The text of each kernel."""
        return [f"@kernel\n{k.source}" for k in self.kernels]

    def _around(self) -> str:
        """What holds while the steps run, because of those that are not kernels."""
        products = [step.is_product for step in self.schedule.externs]
        told = [] if all(products) else ["no_grad()"]
        return ", ".join([*told, 'numpy.errstate(all="ignore")'] if any(products) else told)

    def _head(self, call: list[str]) -> Iterator[str]:
        kernels, externs = len(self.kernels), len(self.schedule.externs)
        counts = f"{_count(kernels, 'kernel')}, {_count(externs, 'operator call')}"
        yield f"# Output code of the {self.phase} graph: {counts}."
        yield "# This is what runs. `python` this file to time it on random inputs."
        text = "\n".join(call)
        if "math." in text:
            yield "import math"
        if "numpy." in text:
            yield "import numpy"
        yield "from labcore import dtypes" + (", ops" if "ops." in text else "")
        yield f"from {self.compiled} import compiled"
        words = {word for k in self.kernels for word in re.findall(r"\w+", k.source)} & WORDS
        if words:
            yield f"from labcore.codegen.kernel_math import {', '.join(sorted(words))}"
        layout = [word for word in ("assert_layout", "strided") if f"{word}(" in text]
        if layout:
            yield f"from labcore.runtime.layout import {', '.join(layout)}"
        imports = (("empty_strided", self.memory), ("no_grad", "labcore.tensor"))
        wanted: dict[str, list[str]] = {}
        for word, module in imports:
            if f"{word}(" in text:
                wanted.setdefault(module, []).append(word)
        for module, tensor in wanted.items():
            yield f"from {module} import {', '.join(tensor)}"
        yield ""
        yield "program = compiled(__file__)"
        yield "kernel = program.kernel"

    def _constants(self) -> Iterator[str]:
        for storage, attribute in self.program.constants.items():
            layout = _layout(self.program.buffers[storage])
            yield f"{self.holder(storage)} = program.constant({attribute!r}, {layout})"

    def _main(self) -> Iterator[str]:
        yield 'if __name__ == "__main__":'
        yield from (f"    {name} = {SAMPLES[name[0]]}" for name in self.program.numbers)
        yield "    program.time(call, ["
        for name in self.program.numbers:
            yield f"        ({name!r}, {name}),"
        yield from (f"        ({b.name!r}, {_layout(b)})," for b in self.program.inputs)
        yield "    ])"

    # ---- the body of call ----

    def _inputs(self) -> Iterator[str]:
        names = [*self.program.numbers, *(self.holder(b.name) for b in self.program.inputs)]
        if names:
            yield f"{', '.join(names)}{',' if len(names) == 1 else ''} = args"
            yield "args.clear()"
        if self.check_inputs:
            yield from (self._assertion(b) for b in self.program.inputs)

    def _step(self, index: int) -> Iterator[str]:
        step = self.schedule.steps[index]
        if isinstance(step, Nest):
            yield from self._kernel(step, index)
        else:
            yield from self._product(step, index) if step.is_product else self._extern(step)
        if index + 1 < len(self.schedule.steps) and index in self.dying:
            yield f"del {', '.join(map(self.holder, self.dying[index]))}"

    def _kernel(self, nest: Nest, index: int) -> Iterator[str]:
        kernel = next(self.unprinted)
        for name in nest.made:
            yield from self._memory_for(name, index)
        scratch = [p for p in kernel.parameters if p.scratch is not None]
        yield from self._lend(scratch)
        given = ", ".join(self._given(p) for p in kernel.parameters)
        yield f"{kernel.name}({given})"
        if scratch:
            yield f"del {', '.join(self.name(p.storage) for p in scratch)}"

    def _lend(self, scratch: list[Parameter]) -> Iterator[str]:
        for p in scratch:
            layout = f"({p.scratch},), (1,), dtypes.{p.dtype.name}"
            yield f"{self.name(p.storage)} = empty_strided({layout})"

    def _memory_for(self, buffer: str, index: int) -> Iterator[str]:
        """What a kernel writes a buffer into: new memory, or that of a dead buffer."""
        place = self.schedule.buffers[buffer].storage
        life = self.plan.lives.get(place)
        if life is None:
            return  # an input, overwritten
        old, how = self.holders.get(place), "in place"
        if old is None and life.reuses:  # the first of those that lie there
            old, how = self.holders[life.reuses], "used again"
        self.holders[place] = self.name(buffer)
        if old is None:
            yield f"{self.name(buffer)} = empty_strided({_layout(self.program.buffers[buffer])})"
        else:
            yield f"{self.name(buffer)} = {old}  # {how}: nobody reads {old} any more"
            yield f"del {old}"

    def _given(self, parameter: Parameter) -> str:
        """What the kernel gets for a parameter: numbers are computed by Python."""
        if parameter.number:
            return bare(parameter.storage)
        return f"{self.holder(parameter.storage)}.array"

    def _product(self, step: Extern, index: int) -> Iterator[str]:
        yield from self._memory_for(step.out.name, index)
        yield f"{product(step, self.holder)}  # {step.reason}"

    def _extern(self, step: Extern) -> Iterator[str]:
        given = [self._argument(a) for a in step.args] + [
            f"{k}={self._argument(v)}" for k, v in step.kwargs.items()
        ]
        result = self.holders[step.out.storage] = self.name(step.out.name)
        yield f"{result} = ops.{step.op.name}({', '.join(given)})  # {step.reason}"
        yield self._assertion(step.out)

    def _argument(self, value: Any) -> str:
        """An operator's argument as Python text."""
        if isinstance(value, Operand):
            name = self.holder(value.buffer.name)
            start = f", {name}.storage_offset() + {value.offset}" if value.offset else ""
            view = f"{name}.as_strided({value.shape}, {value.strides}{start})"
            return name if value.whole else view
        if isinstance(value, (list, tuple)):
            items = ", ".join(self._argument(v) for v in value)
            return (
                f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
            )
        if isinstance(value, dtypes.dtype):
            return f"dtypes.{value.name}"
        if isinstance(value, device):
            return repr(str(value))
        if isinstance(value, float) and value - value != 0:
            return f'float("{value}")'
        return repr(value)

    def _assertion(self, buffer: Buffer) -> str:
        return f"assert_layout({self.holder(buffer.name)}, {buffer.name!r}, {_layout(buffer)})"

    def _result(self) -> str:
        values = [
            self.holder(v.name) if isinstance(v, Buffer) else self._argument(v)
            for v in self.program.outputs
        ]
        return f"return ({', '.join(values)}{',' if len(values) == 1 else ''})"

    def _dying(self) -> dict[int, list[str]]:
        """After each step, the places that nobody needs any more: inputs, and what was made here.
        """
        last: dict[str, int] = {}
        inputs = {b.storage for b in self.program.inputs} - self.schedule.returned
        for index, step in enumerate(self.schedule.steps):
            used = [self.schedule.buffers[b].storage for b in (*step.made, *step.used)]
            last.update((storage, index) for storage in used if storage in inputs)
        last.update((place, life.last) for place, life in self.plan.lives.items() if not life.heir)
        found: dict[int, list[str]] = {}
        for place, index in last.items():
            found.setdefault(index, []).append(place)
        return found


def _layout(buffer: Buffer) -> str:
    """Shape, strides and dtype as arguments."""
    shape, strides = (
        f"({', '.join(map(str, v))}{',' if len(v) == 1 else ''})"
        for v in (buffer.shape, buffer.strides)
    )
    return f"{shape}, {strides}, dtypes.{buffer.dtype.name}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
