"""`Optimizer`: groups of parameters with their settings, and what is remembered of each.

In: parameters with gradients.  Out: the parameters changed in place.
Invariant: `step` is ordinary Python over tensors and numbers, so it compiles like anything else:
its update of all parameters is one graph, and what counts the steps is a number that becomes an
input of it.
PyTorch counts the steps of each parameter in a tensor; here a group counts its own, and a parameter
how many of those it missed. Left out: hooks, foreach and fused variants, closures that are asked
more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..tensor import Tensor, enable_grad, no_grad

Group = dict[str, Any]


class Optimizer:
    """`params`: parameters, or dicts {"params": parameters, setting: value ...}, one a group.

    `param_groups` are those dicts, completed; `state[parameter]` is what a parameter has gathered.
    Raises ValueError and TypeError for what can't be optimized.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults, self.param_groups = defaults, list[Group]()
        self.state: dict[Tensor, dict[str, Any]] = {}
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                "but got a Tensor: write [parameter]"
            )
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Optimize more parameters, with settings of their own."""
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but got {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(p) in known:
                raise ValueError("some parameters appear in more than one parameter group")
            known.add(id(p))
        self.param_groups.append({**self.defaults, **param_group, "params": params, "step": 0})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = None if set_to_none else p.grad.detach() * 0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once by their gradients; those that have none are left alone.

        closure: computes the loss and its gradients first; its result is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                group["step"] += 1
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(group, p, p.grad)
                    elif p in self.state:
                        self.state[p]["missed"] += 1
        return loss

    def _update(self, group: Group, p: Tensor, grad: Any) -> None:
        """Change one parameter in place. Nothing is recorded."""
        raise NotImplementedError

    def _state(self, group: Group, p: Tensor) -> dict[str, Any]:
        """What was gathered of a parameter, begun at its first gradient."""
        if p not in self.state:
            self.state[p] = {"missed": group["step"] - 1, **self._begin(group, p)}
        return self.state[p]

    def _begin(self, group: Group, p: Tensor) -> dict[str, Any]:
        return {}

    # ---- its state ----

    def state_dict(self) -> dict[str, Any]:
        """Settings and state, with numbers in the place of parameters; the tensors are the
        optimizer's own."""
        numbers = {p: n for n, p in enumerate(self._all())}
        groups = [
            {**group, "params": [numbers[p] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {numbers[p]: dict(known) for p, known in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a `state_dict()` of an optimizer of the same groups; tensors are copied.

        Raises ValueError where the groups do not fit; then nothing has changed.
        """
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        for own, loaded in zip(self.param_groups, groups):
            own.update({**loaded, "params": own["params"]})
        numbers = {n: p for group, own in zip(groups, self.param_groups)
                   for n, p in zip(group["params"], own["params"])}  # fmt: skip
        self.state = {
            numbers[n]: {k: v.clone() if isinstance(v, Tensor) else v for k, v in known.items()}
            for n, known in state_dict["state"].items()
        }

    def _all(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for n, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {n}")
            lines += [f"    {k}: {v}" for k, v in sorted(group.items()) if k != "params"]
        return "\n".join([*lines, ")"])


def check(name: str, value: float, below: float = float("inf")) -> None:
    """Raises ValueError for a setting outside [0, below)."""
    if not 0.0 <= value < below:
        raise ValueError(f"Invalid {name}: {value}")
