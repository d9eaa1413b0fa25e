"""The operators that PyTorch has in `torch.nn.functional`, usually imported as `F`.

In: tensors.  Out: tensors; every name here is an operator of the table, nothing is computed here.
Invariant: with `inplace=True` the result is written into the input, and is the input; a softmax
that is not told its axis takes the one it always took, with PyTorch's warning.
"""

from __future__ import annotations

import warnings
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


def _of_some_axis(op: Op) -> Callable[..., Any]:
    """The operator, with PyTorch's deprecated default of `dim`."""
    name = op.name

    def function(
        input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
    ) -> Any:
        if dim is None:
            warnings.warn(
                f"Implicit dimension choice for {name} has been deprecated. Change the call to "
                "include dim=X as an argument.",
                stacklevel=_stacklevel,
            )
            dim = 0 if input.ndim in (0, 1, 3) else 1
        return op(input, dim, dtype)

    function.__name__ = function.__qualname__ = name
    return function


NAMES = {name: op for name, op in ops.OPS.items() if "F" in op.homes}
NAMES |= {name: ops.OPS[name] for name in ("relu", "tanh", "sigmoid")}
NAMES["unfold"] = ops.OPS["im2col"]

for _name, _op in NAMES.items():
    globals()[_name] = _writing(_op) if _name in INPLACE else _op
for _name in ("softmax", "log_softmax", "softmin"):
    globals()[_name] = _of_some_axis(NAMES[_name])
