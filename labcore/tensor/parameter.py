"""`Parameter`: a tensor that a module owns and an optimizer changes.

In: a tensor.  Out: a leaf over the same memory, that requires grad.
Invariant: operators know it as any other tensor, and give plain tensors.
"""

from __future__ import annotations

from typing import Any

from .factories import empty
from .tensor import Tensor, alias


class Parameter(Tensor):
    """`Parameter(data)`. What is assigned to an attribute of a module as one of these is among its
    `parameters()`.

    Raises RuntimeError where `data` is of a dtype that has no gradient.
    """

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = empty(0)
        made: Any = alias(data, data.array)
        made.__class__ = cls
        made.requires_grad_(requires_grad)
        return made

    def __repr__(self) -> str:
        return f"Parameter containing:\n{Tensor.__repr__(self)}"

    def __copy__(self) -> Parameter:
        return Parameter(self, self._layout.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A copy of the numbers; the gradient is not copied."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self._layout.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _restored, (type(self), self.detach(), self._layout.requires_grad)


TENSORS = (Tensor, Parameter)  # what capture knows all about; another subclass may do anything


def _restored(cls: type[Parameter], data: Tensor, requires_grad: bool) -> Parameter:
    return cls(data, requires_grad)
