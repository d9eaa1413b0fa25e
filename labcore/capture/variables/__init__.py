"""What capture knows of a value: one small class a kind.

values.py     constants, tensors, tuples, lists, dicts, objects
functions.py  Python functions, methods, cells
"""

from .functions import CellVariable as CellVariable
from .functions import FunctionVariable as FunctionVariable
from .functions import MethodVariable as MethodVariable
from .values import Constant as Constant
from .values import CountVariable as CountVariable
from .values import DictVariable as DictVariable
from .values import IteratorVariable as IteratorVariable
from .values import Lazy as Lazy
from .values import ListVariable as ListVariable
from .values import ObjectVariable as ObjectVariable
from .values import RowsVariable as RowsVariable
from .values import SliceVariable as SliceVariable
from .values import TensorVariable as TensorVariable
from .values import TupleVariable as TupleVariable
from .values import Variable as Variable
from .values import ViewVariable as ViewVariable
