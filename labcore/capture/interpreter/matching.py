"""`match`: what kind of thing the subject is, and which parts of it the pattern asks for.

In: the subject's variable.  Out: bools, lengths, and tuples of the parts, or None where the pattern
does not fit.
Invariant: a pattern asks of the subject what CPython asks, in its order; each answer is guarded as
it is for `isinstance`, `in` and attributes.
"""

from __future__ import annotations

from ..attributes import attribute
from ..bases import plain
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..variables import Constant, DictVariable, TupleVariable, Variable
from .calls import call
from .core import Interpreter
from .fold import python_value
from .iteration import push
from .protocols import attribute_then
from .rules import RULES
from .table import opcode
from .type_of import type_of

SEQUENCE, MAPPING, MATCHES_ITSELF = 1 << 5, 1 << 6, 1 << 22  # Py_TPFLAGS
NONE = Constant(None)


@opcode("MATCH_SEQUENCE")
def match_sequence(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(Constant(bool(type_of(vm, frame.stack[-1]).__flags__ & SEQUENCE)))


@opcode("MATCH_MAPPING")
def match_mapping(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(Constant(bool(type_of(vm, frame.stack[-1]).__flags__ & MAPPING)))


@opcode("GET_LEN")
def get_len(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    call(vm, frame, Constant(len), [frame.stack[-1]], {})


@opcode("MATCH_KEYS")
def match_keys(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    """The values of all keys, or None."""
    subject, keys = plain(vm, frame.stack[-2], "get"), python_value(vm, frame.stack[-1])
    if not isinstance(subject, DictVariable):
        raise Break("operation", what=f"a mapping pattern on a {subject.kind}")
    if len(set(keys)) < len(keys):
        raise WouldRaise(ValueError("mapping pattern checks duplicate key"))
    found = all(vm.looker.has_key(subject, key) for key in keys)
    values = [vm.looker.item(subject, key) for key in keys] if found else []
    frame.stack.append(TupleVariable(values) if found else NONE)


@opcode("MATCH_CLASS")
def match_class(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    """The attributes that a class pattern names, by place and by name, or None."""
    subject, kind, named = frame.pop(3)
    cls = vm.look(kind)
    if not isinstance(cls, Constant) or not issubclass(type(cls.value), type):
        raise WouldRaise(TypeError("called match pattern must be a class"), exact=True)
    fits = RULES[id(isinstance)](vm, [subject, cls], {})
    if not isinstance(fits, Constant):
        raise Break("operation", what=f"a pattern of class {cls.value.__name__}")
    if not fits.value:
        frame.stack.append(NONE)
        return None
    names: list[str | None] = [*_by_place(vm, cls, ins.arg), *python_value(vm, named)]
    if len(set(names)) < len(names):
        raise WouldRaise(TypeError(f"{cls.value.__name__}() got multiple sub-patterns"))
    return _collect(vm, subject, names, [])


def _by_place(vm: Interpreter, cls: Constant, count: int) -> list[str | None]:
    """The names that the class gives its first parts; None: the subject itself."""
    if not count:
        return []
    try:
        given = python_value(vm, attribute(vm, cls, "__match_args__"))
    except WouldRaise:
        given = (None,) if cls.value.__flags__ & MATCHES_ITSELF else ()
    if type(given) is not tuple or not all(type(name) in (str, type(None)) for name in given):
        raise WouldRaise(TypeError(f"{cls.value.__name__}.__match_args__ must be a tuple"))
    if len(given) < count:
        text = f"{cls.value.__name__}() accepts {len(given)} positional sub-pattern"
        raise WouldRaise(TypeError(f"{text} ({count} given)"))
    return list(given[:count])


def _collect(
    vm: Interpreter, subject: Variable, names: list[str | None], got: list[Variable]
) -> int | None:
    """Push the subject's attributes, which may be calls of the user's."""
    if not names:
        push(vm, TupleVariable(got))
        return None
    name, *rest = names
    if name is None:
        return _collect(vm, subject, rest, [*got, subject])
    return attribute_then(
        vm,
        [subject, Constant(name)],
        lambda vm, value: _collect(vm, subject, rest, [*got, value]),
        (AttributeError, lambda vm: push(vm, NONE)),
    )
