"""`Module`: a function with parameters.

In: attributes, as they are assigned.  Out: parameters, buffers and children, found among them.
Invariant: a module is an ordinary object. What it owns stands in its `__dict__` and nowhere else,
so capture reads a weight as it reads any attribute, and guards nothing but that.
In PyTorch parameters, buffers and children live in three dicts behind `__getattr__`; names, order
and meanings are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from .. import devices
from ..dtypes import dtype as DType
from ..tensor import Tensor, no_grad
from ..tensor.hooks import Hook, RemovableHandle, register
from ..tensor.parameter import Parameter
from .hooks import Hooks

M = TypeVar("M", bound="Module")
NO_BUFFERS: Mapping[str, bool] = MappingProxyType({})


class Module:
    """Subclass it, assign parameters and modules in `__init__`, and write `forward`."""

    training: bool = True
    _buffers: Mapping[str, bool] = NO_BUFFERS  # name: is it part of the state_dict?
    _hooks: Hooks | None = None

    def __init__(self) -> None:
        """Nothing to prepare: subclasses call it as they do in PyTorch."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        return self._hooks.call(self, args, kwargs)

    def register_forward_pre_hook(self, hook: Hook) -> RemovableHandle:
        """`hook(module, args)` before each call; other arguments if it returns some."""
        return register(self._own_hooks().before, hook)

    def register_forward_hook(self, hook: Hook) -> RemovableHandle:
        """`hook(module, args, result)` after each call; another result if it returns one."""
        return register(self._own_hooks().after, hook)

    def _own_hooks(self) -> Hooks:
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises TypeError where a parameter would silently become an ordinary tensor."""
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            if isinstance(self.__dict__.get(name), Parameter):
                raise TypeError(
                    f"cannot assign a Tensor as parameter {name!r} (Parameter or None expected): "
                    f"wrap it in Parameter, or write self.{name}.data = ..."
                )
        object.__setattr__(self, name, value)

    # ---- what it owns ----

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """The same as assigning it."""
        setattr(self, _new_name(self, name), param)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as assigning it."""
        setattr(self, _new_name(self, name), module)

    add_module = register_module

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """A tensor that belongs to the module's state and that no optimizer changes.

        persistent: is it in the `state_dict`?
        """
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign a {type(tensor).__name__} object to buffer {name!r} (Tensor or "
                f"None required)"
            )
        setattr(self, _new_name(self, name), tensor)
        object.__setattr__(self, "_buffers", {**self._buffers, name: persistent})

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the direct children, each module once."""
        seen: set[int] = set()
        for name, value in self.__dict__.items():
            if isinstance(value, Module) and id(value) not in seen:
                seen.add(id(value))
                yield name, value

    def children(self) -> Iterator[Module]:
        for _, module in self.named_children():
            yield module

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module (under `prefix`) and all below it, each once, parents first."""
        seen: set[int] = set()
        for name, module in _walk(self, prefix):
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self) -> Iterator[Module]:
        for _, module in self.named_modules():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter), each parameter once though several modules share it."""
        yield from _once(self, prefix, recurse, _own_parameters)  # type: ignore[misc]

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """(dotted name, buffer), each buffer once."""
        yield from _once(self, prefix, recurse, _own_buffers)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name, this one for "". Raises AttributeError."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = module.__dict__.get(name)
            if not isinstance(module, Module):
                raise AttributeError(f"{type(self).__name__} has no module {target!r}")
        return module

    # ---- what is done with it ----

    def apply(self: M, function: Callable[[Module], Any]) -> M:
        """function(module) for all below and then for this one."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def train(self: M, mode: bool = True) -> M:
        """Dropout drops, or with `mode=False` does not."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: M) -> M:
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.grad = None if set_to_none else parameter.grad.detach() * 0

    def cuda(self: M) -> M:
        """Parameters and buffers move to the card. Raises RuntimeError when there is none."""
        return self.to(device="cuda")

    def cpu(self: M) -> M:
        """Parameters and buffers move to the host."""
        return self.to(device="cpu")

    def to(self: M, *args: Any, dtype: Any = None, device: Any = None) -> M:
        """Parameters and buffers move to a device; those of a floating point dtype become `dtype`,
        or that of a tensor. In place.

        Raises TypeError for a dtype that is none, RuntimeError for a device that is not there.
        """
        for arg in args:
            if isinstance(arg, Tensor):
                dtype, device = arg.dtype, arg.device
            elif isinstance(arg, (str, devices.device)):
                device = arg
            else:
                dtype = arg
        if device is not None:
            for tensor in [*self.parameters(), *self.buffers()]:
                tensor.data = tensor.detach().to(devices.device(device))
        if dtype is None:
            return self
        if not isinstance(dtype, DType) or not dtype.is_floating_point:
            raise TypeError(f"Module.to only accepts floating point dtypes, but got {dtype}")
        for tensor in [*self.parameters(), *self.buffers()]:
            if tensor.dtype.is_floating_point:
                tensor.data = tensor.detach().to(dtype)
        return self

    def float(self: M) -> M:
        return self.to(_by_name("float32"))

    def half(self: M) -> M:
        return self.to(_by_name("float16"))

    def bfloat16(self: M) -> M:
        return self.to(_by_name("bfloat16"))

    def double(self: M) -> M:
        return self.to(_by_name("float64"))

    # ---- its state ----

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """{dotted name: tensor}, over the very memory of the parameters and persistent buffers."""
        found: dict[str, Tensor] = {}
        for path, module in _walk(self, prefix.removesuffix(".")):
            for name, tensor in (*_own_parameters(module), *_own_buffers(module)):
                if module._buffers.get(name, True):
                    found[f"{path}.{name}" if path else name] = tensor.detach()
        return found

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> LoadedKeys:
        """Copy the tensors of a `state_dict()` into this module's own.

        strict: every name must be there, and no other. Raises RuntimeError, with all that does not
        fit; then nothing was copied.
        """
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = [
            f"size mismatch for {name}: copying a param with shape {state_dict[name].shape} from "
            f"checkpoint, the shape in current model is {tensor.shape}."
            for name, tensor in own.items()
            if name in state_dict and state_dict[name].shape != tensor.shape
        ]
        if strict and unexpected:
            problems.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if strict and missing:
            problems.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if problems:
            told = "".join(f"\n\t{problem}" for problem in problems)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:{told}")
        with no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    tensor.copy_(state_dict[name])
        return LoadedKeys(missing, unexpected)

    # ---- how it is shown ----

    def extra_repr(self) -> str:
        """The line of `repr` about this module's own settings."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {_indented(repr(child))}" for name, child in _all_children(self)]
        extra, title = self.extra_repr(), type(self).__name__
        if not lines:
            return f"{title}({extra})"
        body = "\n  ".join([*([extra] if extra else []), *lines])
        return f"{title}(\n  {body}\n)"


class LoadedKeys(NamedTuple):
    """What `load_state_dict` did not find."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not any(self):
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"LoadedKeys(missing_keys={missing}, unexpected_keys={unexpected})"


def _new_name(module: Module, name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name should be a string. Got {type(name).__name__}")
    if not name or "." in name:
        raise KeyError(f'a name can\'t contain "." or be empty, got {name!r}')
    if hasattr(module, name) and name not in module.__dict__:
        raise KeyError(f"attribute {name!r} already exists")
    return name


def _all_children(module: Module) -> Iterator[tuple[str, Module]]:
    for name, value in module.__dict__.items():
        if isinstance(value, Module):
            yield name, value


def _walk(module: Module, path: str) -> Iterator[tuple[str, Module]]:
    """It and all below by every way there, parents first."""
    yield path, module
    for name, child in _all_children(module):
        yield from _walk(child, f"{path}.{name}" if path else name)


def _own_parameters(module: Module) -> Iterator[tuple[str, Tensor]]:
    for name, value in module.__dict__.items():
        if isinstance(value, Parameter):
            yield name, value


def _own_buffers(module: Module) -> Iterator[tuple[str, Tensor]]:
    for name in module._buffers:
        value = module.__dict__.get(name)
        if isinstance(value, Tensor):
            yield name, value


def _once(
    module: Module,
    prefix: str,
    recurse: bool,
    owned: Callable[[Module], Iterator[tuple[str, Tensor]]],
) -> Iterator[tuple[str, Tensor]]:
    seen: set[int] = set()
    for path, part in _walk(module, prefix) if recurse else [(prefix, module)]:
        for name, tensor in owned(part):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _by_name(name: str) -> DType:
    from ..dtypes import BY_NAME

    return BY_NAME[name]
