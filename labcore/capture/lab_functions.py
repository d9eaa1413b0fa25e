"""What the lab's own Python functions mean while capturing: `torch.zeros`, `torch.rand`,
`torch.allclose` ...

In: the functions of `tensor/`.  Out: their meanings (see `callables.py`); the rest of that room
is never read as bytecode.
Invariant: a function of `tensor/` is an operator call, a constant under guard, or a Break that
says why.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import dtypes
from ..ops import OPS
from ..ops.dispatch import interpreting
from ..shapes import SymNumber, hint
from ..tensor import Tensor, custom, factories, function, functions, hooks, modes, random, several
from ..tensor.methods import Methods
from .breaks import Break
from .callables import Meaning, means, means_constant, means_operator
from .numbers import lifted
from .variables import Constant, TensorVariable, Variable

OPERATOR_LIKE = "arange full full_like ones ones_like zeros zeros_like".split()
# Memory that nobody wrote may hold anything: zeros, in a graph.
UNWRITTEN = {"empty": factories.zeros, "empty_like": factories.zeros_like}
RANDOM = "rand rand_like randn randn_like".split()
NEEDS_NUMBERS = "allclose equal".split()
# Of the rooms that work on arrays, what is Python like the user's.
READ_MODULES = {module.__name__ for module in (custom, function, hooks, modes)}


def _stops(id: str, **particulars: object) -> Meaning:
    def meaning(*call: Any) -> Variable:
        raise Break(id, **particulars)

    return meaning


def _as_operator(function: Any) -> Meaning:
    return lambda vm, called, *call: vm.operators.call(function, *call)


def _of_tensor(tell: Any) -> Meaning:
    """A question about a tensor that its meta answers."""

    def meaning(
        vm: Any, function: Any, args: list[Variable], kwargs: dict[str, Variable]
    ) -> Variable:
        value = vm.look([*args, *kwargs.values()][0])
        if not isinstance(value, TensorVariable):
            raise Break("operation", what=f"{function.code.co_name}() of a {value.kind}")
        return lifted(tell(value.meta))

    return meaning


MAX_DATA = 64  # numbers of a torch.tensor(...) that are written into the graph one by one


def _from_data(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """torch.tensor(...) as operators: each number a `full`, put together."""
    if requires_grad:
        raise Break("operation", what="making a new leaf that requires grad")
    if _holds_a_tensor(data):
        raise Break("tensor-as-number", name="torch.tensor")
    with interpreting(None):  # eagerly
        made = factories.tensor(_mapped(data, hint), dtype=dtype, device=device)
        numbers = made.flatten().tolist()
    given: list[Any] = []
    _mapped(data, given.append)
    if any(isinstance(value, SymNumber) for value in given):  # which stay symbols
        numbers = given
    if len(numbers) > MAX_DATA:
        raise Break("operation", what=f"torch.tensor() of more than {MAX_DATA} numbers")
    where: dict[str, Any] = {"dtype": made.dtype, "device": made.device}
    flat = [factories.full((), value, **where) for value in numbers]
    if not flat:
        return factories.zeros(tuple(made.shape), **where)
    return OPS["stack"](flat).reshape(tuple(made.shape)) if made.ndim else flat[0]


def _mapped(data: Any, function: Callable[[Any], Any]) -> Any:
    """Nested sequences, with each number replaced."""
    if isinstance(data, (list, tuple)):
        return [_mapped(item, function) for item in data]
    return function(data)


def _holds_a_tensor(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(map(_holds_a_tensor, data))
    return isinstance(data, Methods)


def _is_tensor(
    vm: Any, function: Any, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    return Constant(isinstance(vm.look([*args, *kwargs.values()][0]), TensorVariable))


def _install() -> None:
    for name in OPERATOR_LIKE:
        means_operator(getattr(factories, name))
    for name, instead in UNWRITTEN.items():
        means(getattr(factories, name), _as_operator(instead))
    for of_several in several.FUNCTIONS.values():
        means_operator(of_several)
    for name in RANDOM:
        means_operator(getattr(random, name))
    means(random.randint, _stops("random-operator", name="torch.randint"))
    for name in NEEDS_NUMBERS:
        means(getattr(functions, name), _stops("tensor-to-python", name=name))
    means(factories.tensor, _as_operator(_from_data))
    means(modes.is_grad_enabled, lambda vm, *call: vm.modes.read("grad"))
    means(modes.is_inference_mode_enabled, lambda vm, *call: vm.modes.read("inference"))
    means_constant(functions.get_default_dtype, lambda: dtypes.default)
    means(functions.is_floating_point, _of_tensor(lambda meta: meta.dtype.is_floating_point))
    means(functions.numel, _of_tensor(lambda meta: meta.numel))
    means(functions.is_tensor, _is_tensor)


# Functions that are methods of Tensor, called by the class: torch.Tensor.add(x, y).
_METHODS = {
    id(function): name
    for cls in reversed(Tensor.__mro__)
    for name, function in vars(cls).items()
    if type(function) is FunctionType
}


def tensor_method_name(function: FunctionType) -> str | None:
    """The name of a method of Tensor, None for any other function."""
    return _METHODS.get(id(function))


def is_of_the_lab(function: FunctionType) -> bool:
    """Does it belong to the rooms whose code works on arrays, which capture does not read?"""
    module = str(function.__globals__.get("__name__", ""))
    return module.startswith(("labcore.tensor", "labcore.ops")) and module not in READ_MODULES


_install()
