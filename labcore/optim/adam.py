"""`Adam` and `AdamW`: steps scaled by running moments of the gradient.

Sources: Kingma and Ba 2015, "Adam"; Loshchilov and Hutter 2019, "Decoupled weight decay
regularization"; Reddi et al. 2018, "On the convergence of Adam and beyond" (amsgrad).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..tensor import Tensor, zeros_like
from .optimizer import Group, Optimizer, check


class Adam(Optimizer):
    """m = β₁ m + (1 - β₁) g;  v = β₂ v + (1 - β₂) g²;  p -= lr · m̂ / (√v̂ + eps), where
    m̂ = m / (1 - β₁ᵗ) and v̂ = v / (1 - β₂ᵗ) at a parameter's step t.

    weight_decay: g has weight_decay · p in it. amsgrad: the largest v̂ so far. maximize: with -g.
    """

    decoupled = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check("learning rate", lr)
        check("epsilon value", eps)
        check("beta parameter at index 0", betas[0], 1.0)
        check("beta parameter at index 1", betas[1], 1.0)
        check("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            },
        )

    def _update(self, group: Group, p: Tensor, grad: Any) -> None:
        (beta1, beta2), lr, decay = group["betas"], group["lr"], group["weight_decay"]
        state = self._state(group, p)
        step = group["step"] - state["missed"]
        if group["maximize"]:
            grad = -grad
        if decay and self.decoupled:
            p.mul_(1 - lr * decay)
        elif decay:
            grad = grad + p * decay
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first.mul_(beta1).add_(grad * (1 - beta1))
        second.mul_(beta2).add_(grad * grad * (1 - beta2))
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            largest.copy_(largest.maximum(second))
            second = largest
        root = second.sqrt() / math.sqrt(1 - beta2**step) + group["eps"]
        p.sub_(first / root * (lr / (1 - beta1**step)))

    def _begin(self, group: Group, p: Tensor) -> dict[str, Any]:
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        return {name: zeros_like(p) for name in names}


class AdamW(Adam):
    """Adam with the decay apart from the gradient: p *= 1 - lr · weight_decay, before the step."""

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
