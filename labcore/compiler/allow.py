"""What user code says about how a call is captured: `allow_in_graph`, `nonstrict_trace`,
`assume_constant_result`, `substitute_in_graph`.

Invariant: what is said is believed: capture does not check that a result never changes, or that a
substitute computes the same.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

from ..capture import Break, means
from ..capture.interpreter.fold import python_value
from ..capture.opaque import one_node
from ..capture.substitutes import substitute
from ..capture.variables import FunctionVariable, TensorVariable, Variable
from ..guards import source


def allow_in_graph(fn: Any) -> Any:
    """Have capture write a call of `fn` as one node, whatever its Python is like; gives `fn`.

    fn: a Python function of tensors and plain values that returns new tensors, alone or in tuples,
    lists and dicts; or a list or tuple of such functions. Backend "eager" calls it, autodiff looks
    into it. Raises TypeError for anything else.
    """
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(function) for function in fn]
    means(_python_function("allow_in_graph", fn), one_node(fn))
    return fn


def nonstrict_trace(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Like `allow_in_graph`, for calls by the function that is returned only."""
    _python_function("nonstrict_trace", fn)

    @functools.wraps(fn)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return allow_in_graph(traced)


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Have capture call `fn` and take what it returns for a constant of the graph; gives `fn`.

    Later calls do not call it, nor notice that it would return something else.
    Raises TypeError for what is no Python function.
    """

    def meaning(
        vm: Any, called: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
    ) -> Variable:
        given = [_value(vm, fn, arg) for arg in args]
        named = {name: _value(vm, fn, arg) for name, arg in kwargs.items()}
        try:
            result = fn(*given, **named)
        except Exception as error:
            told = f"raises {type(error).__name__}"
            raise Break("constant-result", name=fn.__qualname__, what=told) from None
        home = vm.builder.constant(result, f"{fn.__name__}_result")
        return vm.look(vm.lazy(source.constant(f"{fn.__name__}()", home), result))

    means(_python_function("assume_constant_result", fn), meaning)
    return fn


def _value(vm: Any, fn: Callable[..., Any], variable: Variable) -> Any:
    """The argument that `fn` is called with: a plain value, or a tensor from outside."""
    value = vm.look(variable)
    if isinstance(value, TensorVariable):
        if value.value is None:
            told = "is given a tensor that the graph computes"
            raise Break("constant-result", name=fn.__qualname__, what=told)
        return value.value
    return python_value(vm, value)


def substitute_in_graph(
    original_fn: Callable[..., Any], *, skip_signature_check: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: capture reads the decorated Python function in place of `original_fn`.

    original_fn: a function, usually one in C. The decorated name calls the original. Raises
    TypeError for what is no function, or where the parameters differ, and ValueError when it has
    a substitute already.
    """
    if not isinstance(original_fn, (FunctionType, BuiltinFunctionType)):
        kind = type(original_fn)
        raise TypeError(f"substitute_in_graph expects a function but got {kind!r}")

    def decorate(replacement: Callable[..., Any]) -> Callable[..., Any]:
        function = _python_function("@substitute_in_graph(...)", replacement)
        if not skip_signature_check:
            _check_signatures(original_fn, function)
        substitute(original_fn, function)

        @functools.wraps(function)
        def original(*args: Any, **kwargs: Any) -> Any:
            return original_fn(*args, **kwargs)

        substitute(original, function)
        return original

    return decorate


def _check_signatures(original: Callable[..., Any], replacement: Callable[..., Any]) -> None:
    try:
        wanted = inspect.signature(original)
    except ValueError:  # a function in C that does not tell
        return
    given = inspect.signature(replacement)
    shapes = _shape(wanted), _shape(given)
    if shapes[0] != shapes[1] and _shape(inspect.signature(lambda *a, **k: None)) not in shapes:
        raise TypeError(
            f"Signature mismatch between {original} and {replacement}: {wanted} != {given}"
        )


def _shape(signature: inspect.Signature) -> Any:
    """Names and defaults; how *args and **kwargs are called means nothing."""
    parameters = signature.parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    in_order = [p.name for p in named if p.kind is not p.KEYWORD_ONLY]
    return in_order, {p.name: p.default for p in named}


def _python_function(who: str, fn: Any) -> FunctionType:
    if not isinstance(fn, FunctionType):
        raise TypeError(f"{who} expects a Python function, got {type(fn).__name__}")
    return fn
