"""Looking for an item in a sequence, and comparing containers: index, count, remove, `in`, `==`,
`<`.

In: variables.  Out: the answer, where identities and plain values decide it; or else the call of
the Python that asks item by item (`polyfills/searches.py`).
Invariant: items are asked in CPython's order, and an item is not asked whether it equals itself.
PyTorch has polyfills for some of these, and compares tensors in a list by their nodes.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ..breaks import Break, WouldRaise
from ..polyfills import searches
from ..variables import (
    Call,
    Constant,
    DequeVariable,
    DictVariable,
    ListVariable,
    NumberVariable,
    TupleVariable,
    Variable,
)
from .arithmetic import symbolic
from .control import iterate
from .core import Interpreter
from .equality import equal, position, spelled_out
from .fold import folded, python_value
from .methods import Args, Kwargs
from .polyfilled import as_variable, inlined
from .rules import rule

SEQUENCES = (TupleVariable, ListVariable, DequeVariable)
SEARCHES = {"index": searches.index, "count": searches.count, "remove": searches.remove}
TEXTS = {
    (ListVariable, "remove"): "list.remove(x): x not in list",
    (TupleVariable, "index"): "tuple.index(x): x not in tuple",
}
# What compares two containers of a kind item by item.
EQUALS: dict[type[Variable], Any] = {
    ListVariable: searches.equal_lists,
    DequeVariable: searches.equal_lists,
    TupleVariable: searches.equal_tuples,
    DictVariable: searches.equal_dicts,
}


def search(
    vm: Interpreter, owner: Variable, name: str, args: Args, kwargs: Kwargs
) -> Variable | Call:
    """owner.index(...), .count(...) or .remove(...) of a tuple, list or deque."""
    call = inlined(SEARCHES[name], [owner, *args], kwargs)
    if len(args) > 1:
        return call
    items, wanted = iterate(vm, owner), args[0]
    try:
        if name == "count":
            return Constant(sum(position(vm, [item], wanted) is not None for item in items))
        place = position(vm, items, wanted)
    except Break:
        return call
    if place is None:
        raise _not_there(vm, owner, wanted, name)
    if name == "remove":
        return Call(Constant(operator.delitem), [owner, Constant(place)])
    return Constant(place)


@rule(searches.missing)
def _missing(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
    name = vm.look(args[2])
    assert isinstance(name, Constant)
    raise _not_there(vm, vm.look(args[0]), args[1], name.value)


def _not_there(vm: Interpreter, owner: Variable, wanted: Variable, name: str) -> WouldRaise:
    text = TEXTS.get((type(owner), name))
    if text is not None:
        return WouldRaise(ValueError(text), exact=True)
    try:
        text = f"{python_value(vm, wanted)!r} is not in {owner.kind}"
    except Break:
        return WouldRaise(ValueError(f"it is not in the {owner.kind}"))
    return WouldRaise(ValueError(text), exact=True)


def is_in(vm: Interpreter, items: Sequence[Variable], wanted: Variable) -> bool | None:
    """`wanted in items`; None where somebody has to be asked."""
    try:
        return position(vm, items, wanted) is not None
    except Break:
        return None


def equality(vm: Interpreter, a: Variable, b: Variable) -> bool | Call:
    """a == b, of which one is a container."""
    try:
        return equal(vm, a, b)
    except Break:
        one, other = spelled_out(a), spelled_out(b)
        replacement = EQUALS.get(type(one))
        if replacement is None or type(one) is not type(other) or _by_order(one, other):
            raise
        return Call(as_variable(replacement), [one, other])


def _by_order(a: Variable, b: Variable) -> bool:
    """Two ordered dicts are equal if their keys come in one order."""
    return all(isinstance(value, DictVariable) and value.cls is OrderedDict for value in (a, b))


def ordering(
    vm: Interpreter, symbol: str, compare: Any, a: Variable, b: Variable
) -> Variable | Call:
    """a < b and its like."""
    one, other = spelled_out(a), spelled_out(b)
    if not isinstance(one, SEQUENCES) or type(one) is not type(other):
        return folded(vm, symbol, compare, a, b)
    call = Call(as_variable(searches.ordered), [one, other, Constant(compare)])
    first, second = iterate(vm, one), iterate(vm, other)
    known = symbolic(vm, compare, [TupleVariable(first), TupleVariable(second)])
    if known is not None:
        return known
    if any(isinstance(vm.look(item), NumberVariable) for item in (*first, *second)):
        return call  # which fixes none of them
    try:
        return folded(vm, symbol, compare, TupleVariable(first), TupleVariable(second))
    except Break:
        return call
