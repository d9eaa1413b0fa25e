"""A `Function` that records its history: its `backward` is read like any code, see
own_derivatives.py.

In: the calls of polyfills/derivatives.py.  Out: variables, or a Break at the call that tells the
tape.
"""

from __future__ import annotations

from ...tensor import custom
from .. import own_derivatives
from ..breaks import Break
from ..callables import means
from ..polyfills import derivatives
from ..variables import Constant, TupleVariable, Variable
from .builtin_calls import Args, rule
from .core import Interpreter
from .polyfilled import as_variable


@rule(derivatives.begin)
def _begin(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return own_derivatives.begin(vm, vm.look(args[0]))


@rule(derivatives.refuse)
def _refuse(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    what = vm.look(args[0])
    assert isinstance(what, Constant)
    raise own_derivatives.stop(what.value)


@rule(derivatives.finish)
def _finish(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    cls, given, result, found = map(vm.look, args)
    if not isinstance(given, TupleVariable) or not isinstance(cls, Constant):
        raise Break("autograd-function", what="its arguments are no tuple")
    name = cls.value.__name__
    return own_derivatives.finish(vm, name, given.items, result, found)


_recorded = as_variable(derivatives.recorded)
means(custom.recorded, lambda vm, called, args, kwargs: _recorded)
