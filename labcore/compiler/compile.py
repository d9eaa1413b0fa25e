"""`compile`: wrap a function so that its calls run captured graphs.

In: a Python function, a bound method or a callable object.  Out: the same, compiled at its first
call.
Invariant: `compile` itself does no work; whatever the compiled function does, it gives what the
original would.
"""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from ..capture import means
from ..capture.variables import FunctionVariable, Variable
from ..guards import RECOMPILE_LIMIT, source
from .backends import BUILTIN, Backend, lookup, name_of
from .build import Options
from .dispatcher import STATE, dispatcher
from .state import State

# What a mode says to the backend "inductor".
MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "reduce-overhead": {"cudagraphs": True},
    "max-autotune": {"max_autotune": True, "cudagraphs": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True},
}


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Backend = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
) -> Any:
    """Compile a function at its first call, once for each kind of input.

    mode: "reduce-overhead" records what a graph launches on a card, and replays it;
    "max-autotune-no-cudagraphs" measures several forms of each kernel there and takes the fastest;
    "max-autotune" does both.
    fullgraph: raise Unsupported where capture would have to stop.  backend: a name of
    `list_backends()` or a callable.
    recompile_limit: how many variants there may be of a place, 8 unless told.
    disable: give `model` back unchanged.  dynamic: False makes a variant for each size and number;
    True one for all of them; None makes inputs of the graph of those that have changed.
    Usable as a call, as a decorator, and as a decorator with arguments; of a class, it gives that
    very class, whose instances' calls are compiled from then on.
    Raises InvalidBackend, TypeError or RuntimeError for arguments that make no sense; all else
    comes with the first call.
    """
    if model is None:
        return functools.partial(
            compile,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            disable=disable,
            recompile_limit=recompile_limit,
        )
    if disable:
        return model
    if not callable(model):
        raise TypeError(
            f"compile() expects a function, a method or a callable object, got "
            f"{type(model).__name__}. "
            "Used as a decorator with arguments, write @compile(backend=...)"
        )
    _check(mode, options, backend)
    options = options or (MODES[mode] if mode else None)
    if dynamic not in (None, True, False):
        raise TypeError(f"dynamic is True, False or None (after a size changes), not {dynamic!r}")
    if recompile_limit is not None and recompile_limit < 1:
        raise RuntimeError(
            f"recompile_limit is how many variants there may be of a place, not {recompile_limit}"
        )
    if options and isinstance(backend, str) and backend in BUILTIN:
        _check_options(backend, options)
    settings = Options(
        lookup(backend),
        name_of(backend),
        fullgraph,
        {"options": options} if options else {},
        dynamic,
        RECOMPILE_LIMIT if recompile_limit is None else recompile_limit,
    )
    return _wrap(model, settings)


def _check(mode: str | None, options: dict[str, Any] | None, backend: str | Backend) -> None:
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    if mode is not None and MODES[mode] and backend != "inductor":
        raise RuntimeError(f"mode={mode!r} is of backend 'inductor', which makes the launches")


def _check_options(backend: str, options: dict[str, Any]) -> None:
    from .pipeline import check_options

    try:
        check_options(backend, options)
    except ValueError as error:
        raise RuntimeError(str(error)) from None


def _wrap(model: Any, options: Options) -> Any:
    if isinstance(model, MethodType):
        return MethodType(_wrap(model.__func__, options), model.__self__)
    if isinstance(model, FunctionType):
        known = model.__globals__.get(STATE)
        return _compile_function(known.function if known else model, options)
    if isinstance(model, type):
        return _wrap_calls(model, options)
    call = type(model).__call__
    if isinstance(call, FunctionType):
        return CompiledObject(model, _wrap(call, options))
    return _compile_function(_calling(model), options)


def _wrap_calls(cls: type, options: Options) -> type:
    """The class itself: calls of its instances are compiled from now on. Raises TypeError where
    they cannot be called."""
    call = getattr(cls, "__call__", None)  # noqa: B004
    if not isinstance(call, FunctionType):
        raise TypeError(
            f"compile() of a class compiles the calls of its instances, and {cls.__qualname__} has "
            "no __call__ in Python. Compile the function that makes or uses them"
        )
    setattr(cls, "__call__", _wrap(call, options))  # noqa: B010 (mypy takes it for a method)
    return cls


def _compile_function(function: FunctionType, options: Options) -> Callable[..., Any]:
    state = State(function, options)
    compiled = dispatcher(function, state)
    assert isinstance(compiled, FunctionType)
    state.print_anew = functools.partial(_print_anew, weakref.ref(compiled), state)
    means(compiled, _inline)
    return compiled


def _print_anew(ref: weakref.ref[FunctionType], state: State) -> Callable[..., Any]:
    """Give a compiled function the signature that its original has now; gives it, or the original
    where nobody has it any more."""
    compiled = ref()
    if compiled is None:
        return state.function
    state.remember()
    fresh = dispatcher(state.function, state)
    assert isinstance(fresh, FunctionType)
    compiled.__globals__.update(fresh.__globals__)
    compiled.__code__, compiled.__defaults__ = fresh.__code__, fresh.__defaults__
    compiled.__kwdefaults__ = fresh.__kwdefaults__
    return compiled


def _calling(target: Any) -> FunctionType:
    """A Python function for something that has no bytecode of its own."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    assert isinstance(call, FunctionType)
    name = getattr(target, "__name__", None) or type(target).__name__
    call.__name__ = call.__qualname__ = str(name)
    return call


def _inline(
    vm: Any, called: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    """Called by a function that is being captured itself, a compiled function is the user's
    function again."""
    original = state_of(called.value).function
    home = vm.builder.constant(original, original.__name__)
    return vm.look(vm.lazy(source.constant(original.__qualname__, home), original))


def state_of(function: Callable[..., Any]) -> State:
    """The state of a compiled function, method or object. Raises KeyError for any other."""
    function = getattr(function, "__func__", function)
    if type(function) is CompiledObject:
        function = function._call
    return function.__globals__[STATE]


class CompiledObject:
    """A callable object whose calls are compiled; its class and all attributes are the original's,
    to read and to write. `_orig_mod` is the original."""

    __slots__ = ("__weakref__", "_call", "_orig_mod")

    def __init__(self, original: Any, call: Callable[..., Any]) -> None:
        object.__setattr__(self, "_orig_mod", original)
        object.__setattr__(self, "_call", call)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._orig_mod)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self._orig_mod, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __repr__(self) -> str:
        return f"compiled({self._orig_mod!r})"

    def __copy__(self) -> CompiledObject:
        return CompiledObject(copy.copy(self._orig_mod), self._call)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledObject:
        return CompiledObject(copy.deepcopy(self._orig_mod, memo), self._call)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("what is compiled cannot be pickled: pickle its _orig_mod instead")
