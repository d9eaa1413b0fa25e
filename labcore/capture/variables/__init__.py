"""What capture knows of a value: one small class a kind.

values.py     constants, tensors, tuples, lists, dicts, objects
functions.py  Python functions, methods, cells
"""
from .functions import CellVariable as CellVariable, FunctionVariable as FunctionVariable
from .functions import MethodVariable as MethodVariable
from .values import Constant as Constant, DictVariable as DictVariable, IteratorVariable as IteratorVariable
from .values import Lazy as Lazy, ListVariable as ListVariable, ObjectVariable as ObjectVariable
from .values import SliceVariable as SliceVariable, TensorVariable as TensorVariable, TupleVariable as TupleVariable
from .values import Variable as Variable, ViewVariable as ViewVariable
