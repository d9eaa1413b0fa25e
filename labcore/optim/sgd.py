"""`SGD`: along the gradient, with momentum.

Source: Sutskever et al. 2013, "On the importance of initialization and momentum in deep learning",
in PyTorch's form, where the learning rate multiplies the velocity as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..tensor import Tensor
from .optimizer import Group, Optimizer, check


class SGD(Optimizer):
    """g = grad + weight_decay · p;  v = momentum · v + (1 - dampening) · g;  p -= lr · v.

    The first v is g. nesterov: p -= lr · (g + momentum · v). maximize: with -grad.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check("learning rate", lr)
        check("momentum value", momentum)
        check("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
            },
        )

    def _update(self, group: Group, p: Tensor, grad: Any) -> None:
        momentum = group["momentum"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad + p * group["weight_decay"]
        if momentum:
            state = self._state(group, p)
            velocity = state["momentum_buffer"]
            if velocity is None:
                velocity = state["momentum_buffer"] = grad.clone()
            else:
                velocity.mul_(momentum).add_(grad * (1 - group["dampening"]))
            grad = grad + velocity * momentum if group["nesterov"] else velocity
        p.sub_(grad * group["lr"])

    def _begin(self, group: Group, p: Tensor) -> dict[str, Any]:
        return {"momentum_buffer": None}
