"""What capture knows of a value: one small class a kind.

values.py      constants, tensors, tuples, lists, dicts, objects
functions.py   Python functions, methods, cells
exceptions.py  exceptions
generators.py  generators
numbers.py     numbers that are inputs
"""

from .exceptions import (
    ExceptionVariable as ExceptionVariable,
    TracebackVariable as TracebackVariable,
)
from .functions import (
    Call as Call,
    CellVariable as CellVariable,
    FunctionVariable as FunctionVariable,
    MethodVariable as MethodVariable,
    SuperVariable as SuperVariable,
)
from .generators import GeneratorVariable as GeneratorVariable
from .numbers import NumberVariable as NumberVariable
from .values import (
    BytearrayVariable as BytearrayVariable,
    Constant as Constant,
    DequeVariable as DequeVariable,
    DictVariable as DictVariable,
    IdVariable as IdVariable,
    IteratorVariable as IteratorVariable,
    KeysVariable as KeysVariable,
    KeyVariable as KeyVariable,
    Lazy as Lazy,
    ListVariable as ListVariable,
    LiveIterator as LiveIterator,
    ModeVariable as ModeVariable,
    Mutable as Mutable,
    NamespaceVariable as NamespaceVariable,
    ObjectVariable as ObjectVariable,
    SetVariable as SetVariable,
    SliceVariable as SliceVariable,
    TensorVariable as TensorVariable,
    TupleVariable as TupleVariable,
    Variable as Variable,
    ViewVariable as ViewVariable,
)
