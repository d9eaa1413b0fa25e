"""`Module`: a function with parameters, and parts that are modules.

In: attributes.  Out: the same attributes by name: parameters, buffers, submodules, state dicts.
Invariant: what a module has is found among its ordinary attributes, in the order in which they were
set: a tensor made by `Parameter` is a parameter, a module is a submodule, what `register_buffer`
was told is a buffer. So a module is a plain object, to capture as well.
PyTorch keeps three dictionaries beside the object and finds them in `__getattr__`. Left out: hooks,
lazy and shared-memory modules.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..dtypes import dtype as DType
from ..tensor import Tensor, empty, no_grad

IncompatibleKeys = namedtuple("IncompatibleKeys", "missing_keys unexpected_keys")


class _ParameterType(type):
    """A parameter is a tensor with a mark, not a class of its own."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and getattr(value, "_parameter", False)


class Parameter(metaclass=_ParameterType):
    """`Parameter(data)`: a leaf tensor over the same memory that modules and optimizers know."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        made = (empty(0) if data is None else data).detach()
        if requires_grad:
            made.requires_grad_()
        made._parameter = True
        return made


class Module:
    """The base of all networks: subclass it, set parts in `__init__`, compute in `forward`."""

    training: bool
    _buffers: dict[str, bool]  # name -> is it part of the state?

    def __init__(self) -> None:
        self.training = True
        self._buffers = {}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    # ---- parts ----

    def _members(self) -> Iterator[tuple[str, Any]]:
        """All that may be a part, by name."""
        yield from vars(self).items()

    def named_children(self) -> Iterator[tuple[str, Module]]:
        for name, value in self._members():
            if isinstance(value, Module):
                yield name, value

    def children(self) -> Iterator[Module]:
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = ""
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        for _, module in self.named_modules():
            yield module

    def _named(
        self, belongs: Callable[[Module, str, Any], bool], prefix: str, recurse: bool
    ) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in module._members():
                if belongs(module, name, value) and id(value) not in seen:
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        return self._named(lambda _, name, value: isinstance(value, Parameter), prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        return self._named(
            lambda module, name, value: name in module._buffers and value is not None,
            prefix,
            recurse,
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """A tensor that belongs to the module and is not trained."""
        self._buffers[name] = persistent
        setattr(self, name, tensor)

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        setattr(self, name, param)

    def add_module(self, name: str, module: Module | None) -> None:
        setattr(self, name, module)

    # ---- modes ----

    def train(self, mode: bool = True) -> Any:
        """Dropout drops and batch norms learn in training, of this module and all below it."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Any:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """`fn` of each module, this one last."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # ---- types ----

    def to(self, dtype: DType | str | None = None) -> Any:
        """Floating point parameters and buffers in another type; they are new tensors."""
        if isinstance(dtype, DType):
            for module in self.modules():
                for name, value in list(module._members()):
                    if isinstance(value, Tensor) and value.dtype.is_floating_point:
                        module._put(name, _converted(value, dtype))
        return self

    def _put(self, name: str, value: Tensor) -> None:
        setattr(self, name, value)

    def float(self) -> Any:
        from .. import float32

        return self.to(float32)

    def double(self) -> Any:
        from .. import float64

        return self.to(float64)

    # ---- state ----

    def _state(self) -> Iterator[tuple[str, Any]]:
        """Parameters, then buffers that persist, of each module in turn."""
        for path, module in self.named_modules():
            start = f"{path}." if path else ""
            members = list(module._members())
            yield from ((start + n, v) for n, v in members if isinstance(v, Parameter))
            yield from (
                (start + n, v) for n, v in members if module._buffers.get(n) and v is not None
            )

    def state_dict(self) -> dict[str, Tensor]:
        """All tensors that make up the module by name; they share its memory."""
        return {name: value.detach() for name, value in self._state()}

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> Any:
        """Copy these values in. Raises RuntimeError for shapes that do not fit, and, unless not
        `strict`, for names that are missing or not expected."""
        own = dict(self._state())
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = _misfits(own, state_dict)
        if strict and unexpected:
            names = ", ".join(f'"{n}"' for n in unexpected)
            wrong.insert(0, f"Unexpected key(s) in state_dict: {names}. ")
        if strict and missing:
            names = ", ".join(f'"{n}"' for n in missing)
            wrong.insert(0, f"Missing key(s) in state_dict: {names}. ")
        if wrong:
            lines = "\n\t".join(wrong)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
            )
        with no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    tensor.copy_(state_dict[name])
        return IncompatibleKeys(missing, unexpected)

    # ---- how it looks ----

    def extra_repr(self) -> str:
        return ""

    def __repr__(self) -> str:
        parts = [f"({name}): {_indented(repr(child))}" for name, child in self.named_children()]
        extra = self.extra_repr()
        if not parts:
            return f"{type(self).__name__}({extra})"
        lines = "\n  ".join([*([extra] if extra else []), *parts])
        return f"{type(self).__name__}(\n  {lines}\n)"


def _converted(value: Tensor, dtype: DType) -> Tensor:
    made = value.detach().to(dtype)
    return Parameter(made, value.requires_grad) if isinstance(value, Parameter) else made


def _misfits(own: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> list[str]:
    return [
        f"size mismatch for {name}: copying a param with shape torch.Size("
        f"{list(given[name].shape)}) from checkpoint, the shape in current model is torch.Size("
        f"{list(tensor.shape)})."
        for name, tensor in own.items()
        if name in given and given[name].shape != tensor.shape
    ]


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
