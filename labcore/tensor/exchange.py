"""Memory shared with other libraries: `__cuda_array_interface__`, DLPack, `from_dlpack`.

In: a tensor, or an object of another library's.  Out: what that library asks for, or a tensor over
its memory; nothing is copied.
Invariant: a tensor of the host gives what numpy gives of its array. One on a card that requires
grad is refused, as in PyTorch: the other library would know nothing of its history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labcore import dtypes

from .cuda import card, is_on_card
from .storage import address

if TYPE_CHECKING:
    from .tensor import Tensor


class Exchange:
    """The part of `Tensor` that others look at."""

    __slots__ = ()

    if TYPE_CHECKING:
        array: np.ndarray

        def __getattr__(self, name: str) -> Any: ...

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 2: address, shape, strides in bytes, type. Raises AttributeError for a tensor
        that lies on no card of silicon, RuntimeError for one that requires grad."""
        if self.dtype is dtypes.bfloat16:
            raise AttributeError("the interface knows no bfloat16: share it by DLPack")
        array = _shared(self, AttributeError)
        return {
            "data": (address(array) if array.size else 0, False), "shape": tuple(array.shape),
            "strides": array.strides, "typestr": array.dtype.str, "version": 2,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0) if is_on_card(self.array) else (1, 0)

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        """A capsule. `stream`: whose next work is to see what was written; None and 1 are CUDA's
        default stream, which waits by itself, -1 waits for nothing."""
        from ..runtime.dlpack import CPU, capsule_of

        if not is_on_card(self.array):
            array = self.numpy()
            if self.dtype is dtypes.bfloat16:  # which numpy gives to nobody
                return capsule_of(array, address(array), CPU)
            return array.__dlpack__()
        array = _shared(self, BufferError)
        if stream not in (None, 0, 1, -1):
            card().driver.wait_for(stream)  # type: ignore[attr-defined]
        return capsule_of(array, address(array))


def _shared(tensor: Any, error: type[Exception]) -> np.ndarray:
    from ..runtime.card import CardArray

    if not isinstance(tensor.array, CardArray):
        where = tensor.device if not is_on_card(tensor.array) else "the simulated card"
        raise error(f"the tensor lies on {where}: only memory of an NVIDIA card can be shared so")
    if tensor.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. Use "
            "var.detach() first."
        )
    return tensor.array


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor over the memory of another library's; a write to one shows in the other. Raises
    TypeError for types that the lab does not compute with."""
    from .factories import from_numpy
    from .tensor import wrap

    if ext_tensor.__dlpack_device__()[0] == 1:
        return from_numpy(_of_host(ext_tensor))
    found = card()
    from ..runtime.card import SiliconCard
    from ..runtime.dlpack import interface_of

    if not isinstance(found, SiliconCard):
        raise RuntimeError("the simulated card cannot look into memory of a card of silicon")
    capsule = ext_tensor.__dlpack__(stream=found.driver.stream_id)
    interface, owner, dtype = interface_of(capsule)
    return wrap(found.foreign(interface, owner).view(dtype.numpy))


def _of_host(ext_tensor: Any) -> np.ndarray:
    """numpy looks into the memory; bfloat16, which it does not know, is words to it."""
    from ..runtime.dlpack import CPU, Foreign, interface_of

    try:
        return np.from_dlpack(ext_tensor)
    except (BufferError, RuntimeError):
        interface, owner, dtype = interface_of(ext_tensor.__dlpack__(), CPU)
        return np.asarray(Foreign(interface, owner, None)).view(dtype.numpy)


def from_interface(data: Any) -> Tensor:
    """A tensor over what `__cuda_array_interface__` says; for `as_tensor`. Raises TypeError for
    types that the lab does not compute with."""
    from ..runtime.card import SiliconCard
    from .tensor import wrap

    found = card()
    if not isinstance(found, SiliconCard):
        raise RuntimeError("the simulated card cannot look into memory of a card of silicon")
    given = dict(data.__cuda_array_interface__)
    dtype = np.dtype(given["typestr"])
    if given.get("strides") is None:
        given["strides"] = _rows(given["shape"], dtype.itemsize)
    dtypes.from_numpy(dtype)  # raises where the lab does not compute with it
    given["version"] = 3
    interface = {k: given[k] for k in ("data", "shape", "strides", "typestr", "version")}
    found.synchronize()
    return wrap(found.foreign(interface, data))


def _rows(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    steps = [itemsize] * len(shape)
    for k in reversed(range(len(shape) - 1)):
        steps[k] = steps[k + 1] * shape[k + 1]
    return tuple(steps)
