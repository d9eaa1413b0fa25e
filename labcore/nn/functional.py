"""The operators that PyTorch has in `torch.nn.functional`, usually imported as `F`.

In: tensors.  Out: tensors; every name here is an operator of the table, nothing is computed here.
Invariant: with `inplace=True` the result is written into the input, and is the input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labcore import ops
from labcore.ops import Op

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


INPLACE = frozenset(
    "relu relu6 silu mish leaky_relu elu selu hardtanh hardsigmoid hardswish threshold "
    "dropout".split()
)


def _writing(op: Op) -> Callable[..., Any]:
    """The operator, with `inplace`."""

    def function(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        found = op(input, *args, **kwargs)
        return ops.copy_(input, found) if inplace else found

    function.__name__ = function.__qualname__ = op.name
    return function


NAMES = {name: op for name, op in ops.OPS.items() if "F" in op.homes}
NAMES |= {name: ops.OPS[name] for name in ("relu", "tanh", "sigmoid")}
NAMES["unfold"] = ops.OPS["im2col"]

for _name, _op in NAMES.items():
    globals()[_name] = _writing(_op) if _name in INPLACE else _op
