"""What the tape keeps of a tensor until the backward, and the hooks that may keep it otherwise.

In: a tensor that a derivative's rule reads.  Out: `Saved`, with the version that the memory must
still have, or `Packed`, with what the user's pack hook made of it.
Invariant: neither holds a history, or a region would keep itself alive.
As in PyTorch a hook gets the tensor without its history, under no_grad, may not write to it, and
answers for its value itself: versions are not checked. `labcore.autograd.graph` is this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .modes import mode, no_grad
from .storage import Storage
from .tensor import Tensor, storage_of, wrap


class Saved:
    """A value kept for the backward: its memory, and the version it must still have."""

    __slots__ = ("array", "storage", "writes")

    def __init__(self, array: np.ndarray, storage: Storage) -> None:
        if storage.inference:
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors "
                "created in inference mode in computation tracked by autograd. To work around "
                "this, you can make a clone to get a normal tensor and use it in autograd, or "
                "use `torch.no_grad()` instead of `torch.inference_mode()`."
            )
        self.array, self.storage, self.writes = array, storage, storage.writes

    def value(self, source: str) -> Tensor:
        """The tensor, without history. `source` is the node it came from, for the error."""
        tensor = wrap(self.array)
        tensor._storage = self.storage
        if self.storage.writes != self.writes:
            expected = self.storage.unseen + self.writes
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: [torch.{tensor.dtype.title}Tensor "
                f"{list(tensor.shape)}]{source} is at version {self.storage.version}; expected "
                f"version {expected} instead. Save a copy with .clone() before the in-place "
                "operation, or use the operator that writes a new tensor."
            )
        return tensor


class Packed:
    """What a pack hook returned, and the hook that turns it into a tensor again."""

    __slots__ = ("packed", "unpack")

    def __init__(self, tensor: Tensor, pack: Callable, unpack: Callable) -> None:
        given = tensor.detach()
        before = storage_of(given).version
        with no_grad():
            self.packed, self.unpack = pack(given), unpack
        if storage_of(given).version != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook can not be modified by in-place operations as this can lead "
                "to unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )

    def value(self, source: str) -> Tensor:
        """What the unpack hook makes of it. Raises TypeError when that is no tensor."""
        with no_grad():
            found = self.unpack(self.packed)
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(found).__name__}"
            )
        return found.detach()


class saved_tensors_hooks:
    """Inside, `pack_hook(tensor)` decides what is kept of each tensor that is saved for a backward;
    there `unpack_hook` gets that, and returns the tensor."""

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        mode.hooks = (*mode.hooks, (self.pack_hook, self.unpack_hook))

    def __exit__(self, *error: object) -> None:
        mode.hooks = mode.hooks[:-1]


def save(value: Any) -> Any:
    """Tensors as `Saved` or `Packed`, in lists too; everything else as it is."""
    if isinstance(value, Tensor):
        if mode.hooks:
            return Packed(value, *mode.hooks[-1])
        return Saved(value.array, storage_of(value))
    if isinstance(value, (list, tuple)):
        return [save(v) for v in value]
    return value
