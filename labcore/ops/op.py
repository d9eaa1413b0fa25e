"""What an operator is, and the table of all of them.

In: registrations, one place per family (`pointwise.py`, `reductions.py`, `views.py` ...).  Out:
`OPS[name]`, an `Op`.
An operator is one name under several interpretations: `kernel` computes on numpy arrays, `meta`
tells shape, strides and dtype without data, `derivatives` give gradients in terms of other
operators; `fusion` keeps a table that lowers it to loops.
Invariant: `kernel` and `meta` agree on shape, dtype and strides for every input; tests compare
them.
PyTorch: native_functions.yaml (over 2,000 entries), derivatives.yaml, and a meta registration each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from types import FunctionType
from typing import Any

from .. import devices
from ..graph import TensorMeta
from . import dispatch

OPS: dict[str, Op] = {}


class Op:
    """One operator. Calling it runs it under the current interpreter: eagerly, or into a graph.

    kind: "pointwise", "reduction", "view", "detach", "matmul", "factory", "random", "inplace",
    "copy", "composite", "custom" (a program's own derivative, in a graph) or "other".
    `kernel` checks its arguments itself, through the meta rule where that is needed, so calling it
    alone is enough.
    `derivatives` maps a parameter's name to its rule; see `derivatives.py`.
    `alias`: the result shares its input's storage.  `mutates`: the first argument is written.
    `compose`: a composite (`reshape`, `contiguous`, `to` ...) in terms of other operators; called
    with tensors or nodes, it decides by their metas whether the result is the input itself, a view
    of it, or a copy.
    `ufunc`, `direct`: `ufunc(*operands)` is all of the operator when the operands are contiguous,
    of one shape, and of one of the numpy types in `direct`; a shortcut past every rule, for small
    tensors.
    `decompose`: an operator with derivatives of its own in terms of simpler operators; taken apart
    after differentiation, before lowering, so that its parts fuse.
    `homes`: where the user finds it: "torch", "Tensor" (a method), "F" (`nn.functional`).
    `offset`: for a view, by how many elements its first lies after the input's first (arguments as
    for `meta`).
    `opaque`: a composite that capture leaves whole, a function of the user's.
    `functional`: for an in-place operator, the one that computes the same into a new tensor.
    It has no attributes but these: `functools.wraps` copies what an object's `__dict__` holds.
    """

    __slots__ = (
        "__name__", "__weakref__", "_signature", "alias", "compose", "decompose", "derivatives",
        "direct", "functional", "homes", "kernel", "kind", "meta", "mutates", "name", "offset",
        "opaque", "ufunc",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        kernel: Callable,
        meta: Callable,
        *,
        functional: Op | None = None,
        compose: Callable | None = None,
        decompose: Callable | None = None,
        homes: str = "torch Tensor",
        offset: Callable[..., int] | None = None,
        ufunc: Callable | None = None,
        direct: frozenset = frozenset(),
    ) -> None:
        self.name = self.__name__ = name
        self.kind, self.kernel, self.meta = kind, kernel, naming(name, meta)
        self.functional, self.compose, self.offset = functional, compose, offset
        self.decompose, self.homes = decompose, frozenset(homes.split())
        self.ufunc, self.direct = ufunc, direct
        self.alias = kind in ("view", "detach")
        self.mutates = kind == "inplace"
        self.opaque = False
        self.derivatives: dict[str, Any] = {}
        self._signature: inspect.Signature | None = None

    @property
    def signature(self) -> inspect.Signature:
        """The call's parameters, taken from the meta rule."""
        if self._signature is None:
            self._signature = inspect.signature(self.meta)
        return self._signature

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names alone, which is all that the lab needs while it is imported: a signature
        takes ten times as long."""
        return parameter_names(self.meta)

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """All parameters by name, defaults filled in. Raises TypeError naming the operator."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # IPython and pytest leave out frames that ask for it
        return dispatch.call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> tuple:
        return _find, (self.name,)  # a copied or unpickled operator is the very same object


class Table:
    """The operators as attributes, for modules that the finished package is made of."""

    def __getattr__(self, name: str) -> Op:
        return OPS[name]


def _find(name: str) -> Op:
    return OPS[name]


def register(name: str, kind: str, kernel: Callable, meta: Callable, **more: Any) -> Op:
    """Put an operator into the table. Raises ValueError when the name is taken."""
    if name in OPS:
        raise ValueError(f"operator {name} is registered twice")
    OPS[name] = op = Op(name, kind, kernel, meta, **more)
    return op


def placed(result: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The meta of a result lies on the card where an operand does. Operands that lie apart are
    refused where they are met: in eager mode, and where a graph is compiled."""
    if not isinstance(result, TensorMeta) or result.device is not devices.cpu:
        return result
    on_card = any(m.device is not devices.cpu for m in _metas((args, tuple(kwargs.values()))))
    return replace(result, device=devices.cuda) if on_card else result


def _metas(value: Any) -> Iterator[TensorMeta]:
    if isinstance(value, TensorMeta):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _metas(item)


def naming(name: str, meta: Callable) -> Callable:
    """The meta rule; its errors carry a note that says which operator on which tensors failed."""
    if getattr(meta, "names_errors", False):
        return meta

    @wraps(meta)
    def named(*args: Any, **kwargs: Any) -> Any:
        try:
            return placed(meta(*args, **kwargs), args, kwargs)
        except (RuntimeError, IndexError, TypeError, ValueError, OverflowError) as error:
            given = [str(a) for a in args] + [f"{k}={v}" for k, v in kwargs.items()]
            error.add_note(f"in {name}({', '.join(given)})")
            raise

    named.names_errors = True  # type: ignore[attr-defined]
    return named


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """As `inspect.signature` has them, which takes ten times as long for a plain function."""
    plain = inspect.unwrap(function, stop=lambda f: hasattr(f, "__signature__"))
    if type(plain) is not FunctionType or hasattr(plain, "__signature__"):
        return tuple(inspect.signature(function).parameters)
    code = plain.__code__
    packed = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    named = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[: named + packed.bit_count()]
