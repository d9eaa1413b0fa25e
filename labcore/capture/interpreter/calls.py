"""Calls: inlining Python functions, writing operators, computing builtins; and making functions."""

from __future__ import annotations

import functools
from types import CodeType
from typing import Any

from ...guards import source
from ...tensor import Tensor
from ...tensor.methods import Methods
from .. import objects
from ..attributes import calling_method
from ..bases import plain
from ..binding import bind
from ..breaks import Break, WouldRaise, no_rule
from ..bytecode import ON_THE_STACK, V13, Instruction
from ..callables import special_function
from ..frame import NULL, SymbolicFrame, is_mark
from ..lab_functions import tensor_method_name
from ..numbers import lifted
from ..substitutes import substitute_of
from ..tape_facts import keep_requires_grad
from ..variables import (
    Call,
    CellVariable,
    Constant,
    DictVariable,
    FunctionVariable,
    GeneratorVariable,
    MethodVariable,
    ObjectVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)
from .builtin_calls import call_builtin, call_method
from .continuations import settled
from .control import iterate
from .core import Interpreter
from .enums import call_enum, is_enum
from .exception_values import is_exception_class
from .exceptions import make_exception
from .fitting import fit_builtin
from .fold import python_value
from .generators import generator_method
from .instances import TYPE_CALL, call_class, create, makes_instances
from .iteration import all_items
from .rules import RULES
from .table import opcode
from .wrapping import call_cached, call_function_method, parts_of


@opcode("CALL")
def call_opcode(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    count, keywords = ins.arg
    if keywords is ON_THE_STACK:
        keywords = python_value(vm, frame.stack.pop())
    function, own, args = _operands(frame, count)
    if own is not None:
        args.insert(0, own)
    split = len(args) - len(keywords)
    call(vm, frame, function, args[:split], dict(zip(keywords, args[split:])))


def _operands(frame: SymbolicFrame, count: int) -> tuple[Variable, Variable | None, list[Variable]]:
    """(callable, self or None, arguments): NULL stands above the callable in 3.13, below it
    before."""
    args = frame.pop(count)
    first, second = frame.pop(2)
    if V13:
        return first, None if is_mark(second, NULL) else second, args
    return (second, None, args) if is_mark(first, NULL) else (first, second, args)


@opcode("CALL_FUNCTION_EX")
def call_function_ex(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    kwargs: dict[Any, Variable] = {}
    if ins.arg & 1:
        given = plain(vm, frame.stack.pop(), "__iter__")
        if not isinstance(given, DictVariable):
            raise Break("operation", what=f"** of a {given.kind}")
        kwargs = vm.looker.dict_items(given)
        if not all(type(key) is str for key in kwargs):
            raise Break("operation", what="** of a dict whose keys are no texts")
    given_args = frame.stack.pop()
    first, second = frame.pop(2)

    def then(args: list[Variable]) -> int | None:
        call(vm, frame, first if V13 else second, args, kwargs)
        return None

    return all_items(vm, given_args, then, room=True)


def call(
    vm: Interpreter,
    frame: SymbolicFrame,
    variable: Variable,
    args: list[Variable],
    kwargs: dict[str, Variable],
) -> None:
    """Push the result, or the frame of an inlined callee; the caller's operands are popped
    already."""
    function = _substituted(vm, vm.look(variable))
    if _leaves_a_context(function):
        raise Break("context-manager")
    if isinstance(function, MethodVariable) and function.function is not None:
        args = [function.owner, *args]
        function = function.function
    if isinstance(function, ObjectVariable):
        _call_object(vm, frame, function, args, kwargs)
        return
    if isinstance(function, FunctionVariable) and id(function.value) not in RULES:
        _call_function(vm, frame, function, args, kwargs)
        return
    if isinstance(function, Constant) and _call_constant(vm, frame, function.value, args, kwargs):
        return
    if isinstance(function, MethodVariable):
        owner = vm.look(function.owner)
        if isinstance(owner, GeneratorVariable) and not kwargs:
            generator_method(vm, owner, function.name, args)
            return
    result = _result(vm, function, args, kwargs)
    if result is None:  # it goes on in a frame, or has pushed something
        return
    if isinstance(result, Call) and result.plain:
        call(vm, frame, result.function, result.args, result.kwargs)
    else:
        settled(vm, result, lambda vm, value: frame.stack.append(value))


def _call_function(
    vm: Interpreter,
    frame: SymbolicFrame,
    function: FunctionVariable,
    args: list[Variable],
    kwargs: dict[str, Variable],
) -> None:
    name = tensor_method_name(function.value)
    owner = vm.look(args[0]) if args and name is not None else None  # else nobody looks at it yet
    if name is not None and isinstance(owner, TensorVariable):
        frame.stack.append(call_tensor_method(vm, owner, name, args[1:], kwargs))
        return
    special = special_function(vm, function, args, kwargs)
    if special is None:
        vm.push_frame(function, bind(vm, function, args, kwargs))
    elif isinstance(special, FunctionVariable):
        call(vm, frame, special, args, kwargs)
    else:
        frame.stack.append(special)


def _call_constant(
    vm: Interpreter,
    frame: SymbolicFrame,
    function: Any,
    args: list[Variable],
    kwargs: dict[str, Variable],
) -> bool:
    """A class that makes instances, or a builtin that asks an object; is it one of those?"""
    if is_exception_class(function):
        make_exception(vm, frame, function, args, kwargs)
    elif is_enum(function):
        frame.stack.append(call_enum(vm, function, args, kwargs))
    elif function is TYPE_CALL and args and isinstance(vm.look(args[0]), Constant):
        create(vm, frame, vm.look(args[0]).value, args[1:], kwargs)  # type: ignore[attr-defined]
    elif makes_instances(vm, function):
        call_class(vm, frame, function, args, kwargs)
    else:
        from .protocols import protocol_of  # late: its families of instructions call functions

        fit_builtin(function, args, kwargs)
        protocol = protocol_of(vm, function, args, kwargs)
        if protocol is None:
            return False
        protocol(vm, frame, args)
    return True


def _substituted(vm: Interpreter, function: Variable) -> Variable:
    """The Python function that is read in place of this one, or this one."""
    original = getattr(function, "value", None)
    found = None if original is None else substitute_of(original)
    if found is None:
        return function
    home = vm.builder.constant(found, found.__name__)
    return vm.look(vm.lazy(source.constant(found.__qualname__, home), found))


def _leaves_a_context(function: Variable) -> bool:
    """The `__exit__` of a context manager in C, which no bytecode tells of."""
    if isinstance(function, MethodVariable):
        return function.name == "__exit__" and isinstance(function.function, Constant)
    return isinstance(function, Constant) and getattr(function.value, "__name__", "") == "__exit__"


def _call_object(
    vm: Interpreter,
    frame: SymbolicFrame,
    function: ObjectVariable,
    args: list[Variable],
    kwargs: dict[str, Variable],
) -> None:
    """A partial, a cached function, or an object whose class has __call__."""
    if function.cls is objects.CACHED:
        call_cached(vm, frame, function, args, kwargs)
    elif function.cls is functools.partial:
        inner, first, named = parts_of(vm, function)
        call(vm, frame, inner, [*first, *args], {**named, **kwargs})
    else:
        call(vm, frame, calling_method(vm, function), args, kwargs)


def _result(
    vm: Interpreter, function: Variable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable | Call | None:
    if isinstance(function, MethodVariable):
        owner = vm.look(function.owner)
        if isinstance(owner, TensorVariable):
            return call_tensor_method(vm, owner, function.name, args, kwargs)
        if isinstance(owner, FunctionVariable):
            return call_function_method(vm, owner, function.name, args, kwargs)
        return call_method(vm, owner, function.name, args, kwargs)
    if isinstance(function, FunctionVariable):
        return RULES[id(function.value)](vm, args, kwargs)
    if isinstance(function, Constant):
        return call_builtin(vm, function.value, args, kwargs)
    if isinstance(function, (TensorVariable, TupleVariable, DictVariable)):
        raise WouldRaise(TypeError(f"{function.kind!r} object is not callable"))
    raise Break("unknown-call", name=f"a {function.kind}")


# Methods that only read shape, strides and type: the tensor's own code answers, on the stand-in.
READERS = frozenset("size stride dim __len__ element_size is_floating_point".split())
# And those whose code reads the array.
QUESTIONS = {
    "numel": lambda meta: meta.numel,
    "nelement": lambda meta: meta.numel,
    "is_contiguous": lambda meta: meta.is_contiguous,
}
NEEDS_NUMBERS = frozenset(
    "item tolist numpy __bool__ __int__ __float__ __index__ __array__ __contains__".split()
)


def call_tensor_method(
    vm: Interpreter,
    owner: TensorVariable,
    name: str,
    args: list[Variable],
    kwargs: dict[str, Variable],
) -> Variable:
    """owner.name(...)."""
    if name in READERS:
        return vm.operators.call(getattr(Tensor, name), [owner, *args], kwargs)
    if name in QUESTIONS and not args and not kwargs:
        return lifted(QUESTIONS[name](owner.meta))
    if name in NEEDS_NUMBERS:
        raise Break("tensor-to-python", name=name)
    if name == "requires_grad_":
        wanted = [*args, *kwargs.values(), Constant(True)][0]
        keep_requires_grad(vm, owner, wanted, name)
        return owner
    if hasattr(Methods, name):
        return vm.operators.method(owner, name, args, kwargs)
    raise no_rule(name)


@opcode("MAKE_FUNCTION")
def make_function(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    code = frame.stack.pop()
    if not isinstance(code, Constant) or not isinstance(code.value, CodeType):
        raise Break("opcode", name="MAKE_FUNCTION")
    made = FunctionVariable(code.value, frame.namespace)
    for flag in (8, 4, 2, 1):  # 3.13 has SET_FUNCTION_ATTRIBUTE instead
        if not V13 and ins.arg & flag:
            _attach(vm, made, flag, frame.stack.pop())
    frame.stack.append(made)


@opcode("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    made, value = vm.look(frame.stack.pop()), frame.stack.pop()
    if not isinstance(made, FunctionVariable) or made.value is not None:
        raise Break("mutation", what="a function")
    _attach(vm, made, ins.arg, value)
    frame.stack.append(made)


def _attach(vm: Interpreter, made: FunctionVariable, flag: int, value: Variable) -> None:
    """1: defaults, 2: keyword defaults, 4: annotations (which mean nothing to a call), 8: cells."""
    if flag == 1:
        made.defaults = iterate(vm, value)
    elif flag == 2:
        value = vm.look(value)
        if not isinstance(value, DictVariable) or value.value is not None:
            raise Break("opcode", name="MAKE_FUNCTION")
        made.keyword_defaults = dict(value.items)
    elif flag == 8:
        made.cells = iterate(vm, value)
        if not all(isinstance(cell, CellVariable) for cell in made.cells):
            raise Break("opcode", name="MAKE_FUNCTION")
    else:
        made.annotated = True
