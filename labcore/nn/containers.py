"""Modules that hold modules.

In: modules.  Out: one module that calls them in turn, or that only keeps them.
Invariant: a child stands under its index, or its key, among the attributes, as in PyTorch: that is
its name in `named_parameters` and in the `state_dict`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .module import Module


class _Numbered(Module):
    """Children "0", "1", ..."""

    def __len__(self) -> int:
        return len(self._modules())

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules())

    def __getitem__(self, index: int | slice) -> Any:
        found: Any = self._modules()[index]
        if not isinstance(index, slice):
            return found
        made = type(self)()
        return made.extend([*found])

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, str(range(len(self))[index]), _checked(self, module))

    def _modules(self) -> list[Module]:
        return [value for value in self.__dict__.values() if isinstance(value, Module)]

    def append(self, module: Module) -> Any:
        setattr(self, str(len(self)), _checked(self, module))
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        for module in modules:
            self.append(module)
        return self


class Sequential(_Numbered):
    """`Sequential(a, b, c)(x)` is `c(b(a(x)))`. A dict of modules gives them names."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, _checked(self, module))
        else:
            self.extend(modules)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules, whose parameters are its own."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self.extend(modules)


class ModuleDict(Module):
    """A dict of modules, whose parameters are its own."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: Mapping[str, Module]) -> None:
        for name, module in modules.items():
            self[name] = module

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, _checked(self, module))

    def __getitem__(self, name: str) -> Module:
        return dict(self.items())[name]

    def __delitem__(self, name: str) -> None:
        delattr(self, name)

    def __len__(self) -> int:
        return len(self.items())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: str) -> bool:
        return name in self.keys()  # noqa: SIM118: it is its own mapping

    def items(self) -> list[tuple[str, Module]]:
        return [(name, v) for name, v in self.__dict__.items() if isinstance(v, Module)]

    def keys(self) -> list[str]:
        return [name for name, _ in self.items()]

    def values(self) -> list[Module]:
        return [module for _, module in self.items()]


def _checked(owner: Module, module: Any) -> Module:
    if not isinstance(module, Module):
        kinds = type(module).__name__, type(owner).__name__
        raise TypeError(f"{kinds[0]} is not a Module subclass, in {kinds[1]}")
    return module
