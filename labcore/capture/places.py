"""A region computes in one place: on the host, or on the card.

In: the operators of a region, in order.  Out: for those that make a tensor from nothing, where it
shall lie; a Break where the other device would have to compute.
Invariant: a node's meta says where its tensor lies eagerly. What a function of the lab's makes for
itself lies beside its operands; what the user makes, where he says. A tensor of the host's that is
one number is an operand of the card's, as it is eagerly; what computes such a number is the host's
work.
PyTorch compiles one graph for several devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import devices
from ..graph import TensorMeta
from ..ops import Op
from ..tensor.nodes import MAKES_ANEW
from .breaks import Break

HOST = {"device": str(devices.cpu)}


class Place:
    """`device` of a region; None before it computes anything. `on_card`: inside a function of the
    lab's whose operands are on the card."""

    def __init__(self) -> None:
        self.device: devices.device | None = None
        self.on_card = False

    @contextmanager
    def beside(self, operands: Iterable[TensorMeta | None]) -> Iterator[None]:
        """What is made from nothing inside lies where these do."""
        before = self.on_card
        self.on_card = before or _is_on_card(operands)
        try:
            yield
        finally:
            self.on_card = before

    def named(self, op: Op, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of what makes a tensor, with its device among them; where there is no card
        it need not be said."""
        told = "device" in kwargs or "device" not in op.signature.parameters
        if told or not devices.device.in_use:
            return kwargs
        return kwargs | (devices.placing(devices.cuda) if self.on_card else HOST)

    def enter(self, op: Op, args: tuple, kwargs: dict[str, Any],
              operands: list[TensorMeta | None]) -> None:
        """Raises RuntimeError where operands lie apart, as eager mode does, and Break where the
        region has computed on the other device."""
        if not devices.device.in_use:
            return
        on_card = _is_on_card(operands) or kwargs.get("device") == str(devices.cuda)
        # A number of the host's is an operand like others, but not written by the card.
        kept = [m for k, m in enumerate(operands) if m and (m.ndim or op.mutates and k == 0)]
        if on_card and any(meta.device is devices.cpu for meta in kept):
            if op.name == "copy_":
                raise Break("device-copy", device=str(kept[0].device))
            raise RuntimeError(devices.APART)
        if not on_card and op.kind in MAKES_ANEW and isinstance(args[0], tuple) and not args[0]:
            return
        here = devices.cuda if on_card else devices.cpu
        if self.device is not None and self.device is not here:
            raise Break("several-devices", name=op.name, here=str(here), before=str(self.device))
        self.device = here


def _is_on_card(operands: Iterable[TensorMeta | None]) -> bool:
    return any(meta is not None and meta.device is devices.cuda for meta in operands)
