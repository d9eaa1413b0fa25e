"""GridView: a function on the simulated card, request after request of one block's warps.

In: a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: kernels, launches and requests are those of the compiled call that was just made.
NVIDIA's Nsight Compute counts sectors and bank conflicts on a card; it shows sums, not the warp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from . import _bundle
from ._grid import Json, grid_trace
from ._grid_still import grid_picture, sizes
from ._inputs import example_inputs
from ._widget import LabWidget

SIZE = 64  # elements of an example that nobody gave


class GridView(LabWidget):
    """See which threads touch which memory, and what it costs.

    >>> GridView(block, x, bias)         # your tensors; they are copied to the simulated card
    >>> GridView(block, x, bias, watch=3)           # the requests of another block
    >>> view.kernel = 1                             # another kernel of the call

    The call is really made, once, on a compiled form of its own, by the grid simulator. Raises
    ValueError where nothing of it became a kernel; GridError and what else the call raises come as
    they are.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    kernels with their traffic, which travels beside the widget in the same output; `.still()` gives
    that picture alone. `repr` has each kernel's launch and counts.
    """

    _esm = _bundle.esm("grid_view")
    _css = _bundle.css("grid_view")

    kernel = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(
        self, fn: Callable[..., Any], *args: Any, watch: int = 0, kernel: int = 0,
        language: str = "en",
    ) -> None:
        __tracebackhide__ = True
        given = args or tuple(example_inputs(fn, SIZE))
        super().__init__(trace=grid_trace(fn, given, watch), kernel=kernel, language=language)

    @property
    def shown(self) -> Json:
        """The kernel that is chosen, or the last one."""
        kernels = self.trace["kernels"]
        return kernels[min(self.kernel, len(kernels) - 1)]

    def picture(self) -> str:
        return grid_picture(self.trace, repr(self).splitlines()[0])

    def __repr__(self) -> str:
        kernels = self.trace["kernels"]
        total = sum(row["sectors"] for kernel in kernels for row in kernel["traffic"])
        fewest = sum(row["fewest"] for kernel in kernels for row in kernel["traffic"])
        count = f"{len(kernels)} kernel{'' if len(kernels) == 1 else 's'}"
        head = f"GridView({self.trace['function']}: {count}, {total} sectors, {fewest} would do)"
        return "\n".join([head, *(line for kernel in kernels for line in _told(kernel))])


def _told(kernel: Json) -> list[str]:
    lines = [f"  {kernel['name']}[{sizes(kernel['grid'])}, {sizes(kernel['block'])}]",
             f"    {kernel['form']}: {kernel['reason']}"]
    lines += [f"    {row['array']}: {row['reads']} read, {row['writes']} written, "
              f"{row['sectors']} sectors of {row['fewest']}" for row in kernel["traffic"]]
    lines += [f"    {row['array']}: {row['requests']} requests of shared memory, "
              f"{row['lost']} turns lost" for row in kernel["shared"]]
    return lines
