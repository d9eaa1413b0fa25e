"""What the lab's own Python functions mean while capturing: `torch.zeros`, `torch.rand`,
`torch.allclose` ...

In: the functions of `tensor/`.  Out: their meanings (see `callables.py`); the rest of that room
is never read as bytecode.
Invariant: a function of `tensor/` is an operator call, a constant under guard, or a Break that
says why.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from .. import dtypes
from ..tensor import factories, functions, modes, random
from ..tensor.modes import mode
from .breaks import Break
from .callables import Meaning, means, means_constant, means_operator
from .variables import Constant, TensorVariable, Variable

OPERATOR_LIKE = "arange full full_like ones ones_like zeros zeros_like".split()
RANDOM = "rand rand_like randint randn randn_like".split()
NEEDS_NUMBERS = "allclose equal".split()


def _stops(id: str, **particulars: object) -> Meaning:
    def meaning(*call: Any) -> Variable:
        raise Break(id, **particulars)

    return meaning


def _of_tensor(tell: Any) -> Meaning:
    """A question about a tensor that its meta answers."""

    def meaning(
        vm: Any, function: Any, args: list[Variable], kwargs: dict[str, Variable]
    ) -> Variable:
        value = vm.look([*args, *kwargs.values()][0])
        if not isinstance(value, TensorVariable):
            raise Break("operation", what=f"{function.code.co_name}() of a {value.kind}")
        return Constant(tell(value.meta))

    return meaning


def _is_tensor(
    vm: Any, function: Any, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    return Constant(isinstance(vm.look([*args, *kwargs.values()][0]), TensorVariable))


def _install() -> None:
    for name in OPERATOR_LIKE:
        means_operator(getattr(factories, name))
    for name in RANDOM:
        means(getattr(random, name), _stops("random-operator", name=f"torch.{name}"))
    for name in NEEDS_NUMBERS:
        means(getattr(functions, name), _stops("tensor-to-python", name=name))
    means_constant(modes.is_grad_enabled, lambda: mode.grad)
    means_constant(modes.is_inference_mode_enabled, lambda: mode.inference)
    means_constant(functions.get_default_dtype, lambda: dtypes.default)
    means(functions.is_floating_point, _of_tensor(lambda meta: meta.dtype.is_floating_point))
    means(functions.numel, _of_tensor(lambda meta: meta.numel))
    means(functions.is_tensor, _is_tensor)


def is_of_the_lab(function: FunctionType) -> bool:
    """Does it belong to the rooms whose code works on arrays, which capture does not read?"""
    return str(function.__globals__.get("__name__", "")).startswith(
        ("labcore.tensor", "labcore.ops")
    )


_install()
