"""Backends by name: what turns a captured graph into something callable.

In: a name, or a callable `(GraphModule, example_inputs) -> callable`.  Out: the callable, and the
name errors use.
Invariant: the built-in ones are imported by the first graph that needs them, so looking one up
costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph import GraphModule
from ..tensor import Tensor
from .exc import InvalidBackend

Backend = Callable[..., Callable[..., Any]]


def _builtin(name: str) -> Backend:
    def backend(
        gm: GraphModule, example_inputs: list[Tensor], **options: Any
    ) -> Callable[..., Any]:
        from . import pipeline

        return getattr(pipeline, name)(gm, example_inputs, **options)

    backend.__name__ = name
    return backend


BUILTIN = ("eager", "aot_eager", "inductor")
_backends: dict[str, Backend] = {name: _builtin(name) for name in BUILTIN}


def register_backend(name: str, backend: Backend) -> Backend:
    """Make `backend` available as `compile(..., backend=name)`."""
    _backends[name] = backend
    return backend


def list_backends() -> list[str]:
    """The names `compile` knows."""
    return sorted(_backends)


def lookup(backend: str | Backend) -> Backend:
    """The backend of that name, or the callable itself. Raises InvalidBackend for anything else."""
    if callable(backend):
        return backend
    found = _backends.get(backend) if isinstance(backend, str) else None
    if found is None:
        names = ", ".join(list_backends())
        raise InvalidBackend(
            f"Invalid backend: {backend!r}. A backend is a callable "
            f"(graph_module, example_inputs) -> callable, or one of these names: {names}"
        )
    return found


def name_of(backend: str | Backend) -> str:
    """What errors call it."""
    return (
        backend
        if isinstance(backend, str)
        else getattr(backend, "__name__", type(backend).__name__)
    )
