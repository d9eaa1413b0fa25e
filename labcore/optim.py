"""Optimizers: `SGD`, `Adam`, `AdamW`.

In: parameters with gradients.  Out: the parameters, changed in place by `step()`.
Invariant: a step is ordinary tensor code under no_grad, in PyTorch's order of operations, so it can
be compiled: `torch.compile(optimizer.step)`. How many steps there were is a number, which becomes
an input of the graph. PyTorch has a fused and a batched form of each besides, and schedulers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .tensor import Tensor, enable_grad, no_grad, zeros_like

Group = dict[str, Any]  # "params", and the options of these parameters


class Optimizer:
    """What optimizers have in common: groups of parameters, and a state for each parameter."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[Group] = []
        self._states: list[list[dict[str, Any]]] = []  # of each group, of each of its parameters
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """More parameters, with options of their own. Raises TypeError or ValueError for what is
        no leaf tensor, or is in a group already."""
        params = param_group["params"]
        group = {**self.defaults, **param_group}
        group["params"] = [params] if isinstance(params, Tensor) else list(params)
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for parameter in group["params"]:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is "
                    f"{type(parameter).__name__}"
                )
            if not parameter.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(parameter) in known:
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)
        self._states.append([{} for _ in group["params"]])

    @property
    def state(self) -> dict[Tensor, dict[str, Any]]:
        """The state of each parameter that had a step."""
        pairs = zip(self._parameters(), (s for states in self._states for s in states))
        return {parameter: state for parameter, state in pairs if state}

    def zero_grad(self, set_to_none: bool = True) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change each parameter that has a gradient; what `closure` returns, called before."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group, states in zip(self.param_groups, self._states):
                for parameter, state in zip(group["params"], states):
                    if parameter.grad is not None:
                        self._update(parameter, parameter.grad, state, group)
        return loss

    def _update(self, parameter: Any, grad: Any, state: dict[str, Any], group: Group) -> None:
        raise NotImplementedError

    # ---- state ----

    def state_dict(self) -> dict[str, Any]:
        """State by the parameters' numbers, and the groups' options."""
        numbers = {p: k for k, p in enumerate(self._parameters())}
        groups = [
            {**group, "params": [numbers[p] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {numbers[p]: dict(values) for p, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Raises ValueError when the groups are of other sizes."""
        groups = state_dict["param_groups"]
        sizes = [len(g["params"]) for g in groups], [len(g["params"]) for g in self.param_groups]
        if len(sizes[0]) != len(sizes[1]):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if sizes[0] != sizes[1]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        for own, group in zip(self.param_groups, groups):
            own.update({k: v for k, v in group.items() if k != "params"})
        numbers = iter(range(len(self._parameters())))
        self._states = [
            [_copied(state_dict["state"].get(next(numbers), {})) for _ in group["params"]]
            for group in self.param_groups
        ]

    def _parameters(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {k: v.clone() if isinstance(v, Tensor) else v for k, v in state.items()}


def _check(**options: float) -> None:
    for name, value in options.items():
        if value < 0:
            raise ValueError(f"Invalid {name.replace('_', ' ')} value: {value}")


class SGD(Optimizer):
    """Along the gradient, or along a running sum of gradients (`momentum`)."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        _check(momentum=momentum, weight_decay=weight_decay)
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

    def _update(self, parameter: Any, grad: Any, state: dict[str, Any], group: Group) -> None:
        momentum = group["momentum"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        if momentum:
            if "momentum_buffer" in state:
                state["momentum_buffer"].mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            else:
                state["momentum_buffer"] = grad.detach().clone()
            buffer = state["momentum_buffer"]
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        parameter.add_(grad, alpha=-group["lr"])


class Adam(Optimizer):
    """Steps of a size of their own for each element, from running means of gradients and of their
    squares."""

    decoupled = False  # is weight decay apart from the gradient?

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        for place, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {place}: {beta}")
        _check(epsilon=eps, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
            },
        )

    def _update(self, parameter: Any, grad: Any, state: dict[str, Any], group: Group) -> None:
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(parameter), zeros_like(parameter)
        state["step"] += 1
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            if self.decoupled:
                parameter.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(parameter, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.add_(grad - mean, alpha=1 - beta1)
        square.mul_(beta2).add_(grad * grad, alpha=1 - beta2)
        size = lr / (1 - beta1 ** state["step"])
        spread = (1 - beta2 ** state["step"]) ** 0.5
        parameter.sub_(mean / (square.sqrt() / spread + group["eps"]), alpha=size)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters and leaves the gradients alone."""

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)
