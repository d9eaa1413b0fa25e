"""The symbolic interpreter: one handler an instruction, one file a family of instructions.

    core.py           the loop                  locals.py       variables and the stack
    operators.py      + < is in not             control.py      jumps, loops, return
    containers.py     making and reading        stores.py       storing and deleting
    lists.py dicts.py sets.py  their methods    equality.py     == of containers
    mappings.py       OrderedDict, defaultdict   deques.py   deque
    calls.py          CALL, functions
    builtin_calls.py  len, zip, sum ...         type_calls.py   type, isinstance, getattr ...
    reductions.py     sum, min, sorted ...      texts.py        str, repr, f-strings
    polyfilled.py     builtins in Python        fold.py         constants, computed
    identity.py       `is`                      enums.py        members of enums
    instances.py      classes that are called   dunders.py      operators on objects
    item_dunders.py   o[k], k in o          derived.py      methods from a builtin class
    asking.py         keys with code of their own   own_steps.py   autograd.Function
    protocols.py      getattr, iter, next ...   object_builtins.py   len, abs, int ...
    attribute_access.py   x.name, x.name = ...
"""

# Importing a family registers its handlers.
from . import (
    attribute_access as attribute_access,
    calls as calls,
    containers as containers,
    contexts as contexts,
    control as control,
    exceptions as exceptions,
    generators as generators,
    imports as imports,
    instances as instances,
    iteration as iteration,
    locals as locals,
    mappings as mappings,
    operators as operators,
    own_steps as own_steps,
    reductions as reductions,
    sets as sets,
    stores as stores,
    texts as texts,
    type_calls as type_calls,
)
from .core import Captured as Captured, Interpreter as Interpreter

# isort: split
# And these come before some of those, for objects of the user's.
from . import (
    dunders as dunders,
    item_dunders as item_dunders,
    matching as matching,
    protocols as protocols,
)
