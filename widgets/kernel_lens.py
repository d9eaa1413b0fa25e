"""KernelLens: a call's kernels on five levels, from the user's line to the machine's instruction.

In: a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: kernels, and what is kin to what, are the compiler's own; see `_lens.py`.
PyTorch prints the levels in logs of their own (TORCH_LOGS=aot_graphs,ir_post_fusion,output_code),
with the user's line in the last of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from . import _bundle
from ._graphs import fused_graphs
from ._inputs import example_inputs
from ._lens import Json, kernels_of
from ._lens_source import Sources
from ._lens_still import lens_picture
from ._recording import original
from ._widget import LabWidget
from ._words import counted

AT_ONCE = 6  # kernels whose machine code is made beforehand: a stored notebook shows no others
SIZE = 4096  # elements of an example that nobody gave: enough that loops stay loops


class KernelLens(LabWidget):
    """See one operation in your source, the graph, the loops, the kernel and the machine code.

    >>> KernelLens(block, x, bias)         # your arguments
    >>> KernelLens(block)                  # float32 examples are made, of 4096 elements
    >>> KernelLens(step, x, kernel=1)      # not the first kernel of the call, the second

    `kernel` is the number of the kernel, or library call, that is shown: those of the forward, then
    those of the backward, which is compiled too where an argument requires grad. `form` is "run",
    the kernel as it runs, or "plain", the form that is for reading. Both may be set from a cell,
    and are set by the view. `machine=False` leaves the machine code out, and compiles nothing; of a
    call with many kernels only those that are looked at are compiled for it.

    For tensors of a card the kernels are the card's, each below its launch, [grid, block], and the
    form that it has on the grid; the machine code is left out.

    The call is really made, once, on a compiled form of its own, and its gradients are computed;
    nobody's `.grad` changes. Raises ValueError where nothing of the call is compiled, and for a
    kernel that is not there; an exception of the call itself is raised as it is.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    kernel's statements with the lines they come from, which travels beside the widget in the same
    output; `.still()` gives that picture alone. `repr` has the same for all kernels, and nothing of
    the machine code, which is not the same everywhere.
    """

    _esm = _bundle.esm("kernel_lens")
    _css = _bundle.css("kernel_lens")

    machines = traitlets.Dict().tag(sync=True)  # number of the kernel -> its forms' machine code
    kernel = traitlets.Int(0, min=0).tag(sync=True)
    form = traitlets.Enum(["run", "plain"], default_value="run").tag(sync=True)

    def __init__(
        self, fn: Callable[..., Any], *args: Any, kernel: int = 0, form: str = "run",
        machine: bool = True, language: str = "en",
    ) -> None:  # fmt: skip
        __tracebackhide__ = True
        inner = original(fn)
        found = fused_graphs(fn, args or example_inputs(inner, SIZE), backward=True)
        kernels, self._makers = kernels_of(found, Sources(fn))
        if not kernels:
            raise ValueError("KernelLens: this call does no tensor arithmetic that is compiled")
        name = getattr(inner, "__name__", type(inner).__name__)
        trace = {"version": 1, "function": name, "machine": machine, "kernels": kernels}
        super().__init__(trace=trace, language=language, form=form, kernel=kernel)
        few = sum("library" not in each for each in kernels) <= AT_ONCE
        for number in range(len(kernels)) if few else [kernel]:
            self._make(number)

    @traitlets.validate("kernel")
    def _there(self, proposal: Any) -> int:
        count = len(self.trace.get("kernels", ()))
        if count and not 0 <= proposal.value < count:
            raise ValueError(f"KernelLens: this call has {count} kernel(s), numbered from 0")
        return int(proposal.value)

    @traitlets.observe("kernel")
    def _another(self, change: Any) -> None:
        self._make(self.kernel)

    def _make(self, number: int) -> None:
        """Compile a kernel for its machine code, which takes a moment."""
        if self.trace.get("machine") and str(number) not in self.machines:
            self.machines = {**self.machines, str(number): self._makers[number]()}

    @property
    def shown(self) -> Json:
        """The kernel that is chosen."""
        return self.trace["kernels"][self.kernel]

    def summary(self) -> str:
        """"2 kernels and 1 library call"."""
        kernels = self.trace["kernels"]
        calls = sum("library" in each for each in kernels)
        told = counted(len(kernels) - calls, "kernels")
        return told + (f" and {counted(calls, 'library calls')}" if calls else "")

    def picture(self) -> str:
        return lens_picture(self.trace["function"], self.shown, self.form)

    def __repr__(self) -> str:
        lines = [f"KernelLens({self.trace['function']}: {self.summary()})"]
        for kernel in self.trace["kernels"]:
            phase = "" if kernel["phase"] == "inference" else f"{kernel['phase']}: "
            note = f" (library: {kernel['library']})" if "library" in kernel else ""
            lines.append(f"  {phase}{kernel['name']}{note}")
            told = statements(kernel, self.form)
            wide = min(max((len(text) for text, _, _ in told), default=0), 52)
            lines += [f"    {text:<{wide}}  <- {where_of(node, no)}" for text, node, no in told]
        return "\n".join(lines)


def statements(kernel: Json, form: str) -> list[tuple[str, str, int | None]]:
    """(text, graph node, the user's line) of each statement of a kernel."""
    known = {kin["id"]: kin for kin in kernel["kin"]}
    told = []
    for row in kernel["stages"][form]:
        for kin in [known[key] for key in row["kin"] if key in known][:1]:
            told.append((row["text"].strip(), kin.get("node", ""), kin.get("line")))
    return told


def where_of(node: str, line: int | None) -> str:
    return f"{node}, line {line}" if line else node
