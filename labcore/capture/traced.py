"""A stand-in for a tensor, on which the lab's own methods and functions run while capturing.

In: a node.  Out: what a tensor is asked, from what is known of the node.
Invariant: it has a type and a shape, and no numbers: whoever asks for those ends the region.
"""

from __future__ import annotations

from typing import Any

from ..devices import device
from ..dtypes import dtype
from ..graph import Node, TensorMeta
from ..ops import OPS
from ..ops.dispatch import current
from ..tensor import Tensor
from ..tensor.methods import Methods
from ..tensor.size import Size
from .breaks import Break
from .variables import TensorVariable


class Traced(Methods):
    """A tensor that is only a node of the graph: it has a type and a shape, and no numbers."""

    __slots__ = ("node", "variable")

    def __init__(self, node: Node, variable: TensorVariable) -> None:
        self.node, self.variable = node, variable

    @property
    def meta(self) -> TensorMeta:
        return self.variable.meta

    @property
    def shape(self) -> Size:
        return Size(self.meta.shape)

    @property
    def _stride(self) -> tuple[int, ...]:
        return self.meta.stride

    @property
    def dtype(self) -> dtype:
        return self.meta.dtype

    @property
    def device(self) -> device:
        return self.meta.device

    @property
    def requires_grad(self) -> bool:
        tracer: Any = current()
        wanted: bool = tracer.memory.requires_grad(self.node)
        return wanted

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        raise Break("operation", what="making a new leaf that requires grad")

    @property
    def data(self) -> Any:
        return OPS["_data"](self)

    # As in Tensor, from shape, strides and dtype; without the first two Python would iterate by
    # trying x[0], x[1] ...
    __len__, __iter__ = Tensor.__len__, Tensor.__iter__
    ndim, dim, size, stride = Tensor.ndim, Tensor.dim, Tensor.size, Tensor.stride
    itemsize, element_size = Tensor.itemsize, Tensor.element_size
    is_floating_point = Tensor.is_floating_point

    def numel(self) -> int:
        return self.meta.numel

    nelement = numel

    def is_contiguous(self) -> bool:
        return self.meta.is_contiguous

    def __bool__(self) -> bool:
        raise Break("data-dependent-branch")

    def __int__(self) -> int:
        raise Break("tensor-to-python", name="__int__")

    def __float__(self) -> float:
        raise Break("tensor-to-python", name="__float__")

    def __index__(self) -> int:
        raise Break("tensor-to-python", name="__index__")

    def item(self) -> Any:
        raise Break("tensor-to-python", name="item")

    def tolist(self) -> Any:
        raise Break("tensor-to-python", name="tolist")

    def numpy(self) -> Any:
        raise Break("tensor-to-python", name="numpy")
