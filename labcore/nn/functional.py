"""The operators that PyTorch has in `torch.nn.functional`, usually imported as `F`.

In: tensors.  Out: tensors; every name here is an operator of the table, nothing is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labcore import ops

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


__all__ = [name for name, op in ops.OPS.items() if "F" in op.homes]

globals().update({name: ops.OPS[name] for name in __all__})

for _name in ("relu", "tanh", "sigmoid"):
    globals()[_name] = ops.OPS[_name]
    __all__.append(_name)
unfold = ops.OPS["im2col"]
__all__.append("unfold")
