"""Modules that hold modules: `Sequential`, `ModuleList`, `ModuleDict`.

In: modules.  Out: one module; its parts are named by their places, or their keys.
Invariant: the parts are in one list (or dict) of the object, which loops of the user's go over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .module import Module


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self._items: list[Module] = list(modules or ())

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from super()._members()
        for place, module in enumerate(self._items):
            yield str(place), module

    def __iter__(self) -> Iterator[Module]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        found = self._items[index]
        return type(self)(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, module: Module) -> None:
        self._items[index] = module

    def append(self, module: Module) -> Any:
        self._items.append(module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        self._items.extend(modules)
        return self

    def insert(self, index: int, module: Module) -> None:
        self._items.insert(index, module)


class Sequential(ModuleList):
    """Modules, each called with what the one before it returned."""

    def __init__(self, *modules: Any) -> None:
        named = len(modules) == 1 and isinstance(modules[0], Mapping)
        self._names = list(modules[0]) if named else None
        super().__init__(modules[0].values() if named else modules)

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from Module._members(self)
        for place, module in enumerate(self._items):
            named = self._names is not None and place < len(self._names)
            yield (self._names[place] if named and self._names else str(place)), module

    def __getitem__(self, index: Any) -> Any:
        found = self._items[index]
        return Sequential(*found) if isinstance(index, slice) else found

    def forward(self, input: Any) -> Any:
        for module in self._items:
            input = module(input)
        return input


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self._items: dict[str, Module] = dict(modules or {})

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from super()._members()
        yield from self._items.items()

    def __getitem__(self, key: str) -> Module:
        return self._items[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self._items[key] = module

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def keys(self) -> Iterable[str]:
        return self._items.keys()

    def values(self) -> Iterable[Module]:
        return self._items.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        return self._items.items()
