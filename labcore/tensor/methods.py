"""Operators as methods: `x.relu()`, `x + y`, `x.sum(dim=0)`, `x[1:]`.

In: a tensor (`self`) and what the user wrote.  Out: calls of operators, nothing else.
Invariant: every operator of the table whose first parameter is `input` is a method; the few whose
method takes other arguments than the operator (`view(2, 3)`, `permute(0, 1)`) are written out
below. A method only rewrites arguments into an operator's call, so running it on graph nodes under
a tracer writes that call.
PyTorch generates these from native_functions.yaml.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from labcore import devices, dtypes, ops
from labcore.devices import placing
from labcore.ops.arguments import is_tensor
from labcore.ops.dispatch import current
from labcore.ops.op import Op
from labcore.ops.promote import can_cast
from labcore.shapes import SymNumber

from .indexing import getitem, setitem
from .several import FUNCTIONS

if TYPE_CHECKING:
    from .tensor import Tensor


def sizes(values: tuple) -> tuple[int, ...]:
    """`(2, 3)` from `f(2, 3)`, `f((2, 3))` or `f([2, 3])`."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values


class Methods:
    """What a tensor can do; `Tensor` adds what it is."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    # ---- shape ----

    def view(self, *shape: Any) -> Tensor:
        if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
            raise RuntimeError(
                "view(dtype) looks at the same bytes as another type; the lab's storages have "
                "one type: use to(dtype), which converts"
            )
        return ops.view(self, sizes(shape))

    def repeat(self, *repeats: Any) -> Tensor:
        return ops.repeat(self, sizes(repeats))

    def tile(self, *dims: Any) -> Tensor:
        return ops.tile(self, sizes(dims))

    def flip(self, *dims: Any) -> Tensor:
        return ops.flip(self, sizes(dims))

    def reshape(self, *shape: Any) -> Tensor:
        return ops.reshape(self, sizes(shape))

    def permute(self, *dims: Any) -> Tensor:
        return ops.permute(self, sizes(dims))

    def expand(self, *size: Any) -> Tensor:
        return ops.expand(self, sizes(size))

    def view_as(self, other: Tensor) -> Tensor:
        return ops.view(self, tuple(other.shape))

    def expand_as(self, other: Tensor) -> Tensor:
        return ops.expand(self, tuple(other.shape))

    def reshape_as(self, other: Tensor) -> Tensor:
        return ops.reshape(self, tuple(other.shape))

    @property
    def T(self) -> Tensor:
        return ops.permute(self, tuple(reversed(range(len(self.shape)))))

    @property
    def mT(self) -> Tensor:
        if len(self.shape) < 2:
            raise RuntimeError(
                "tensor.mT is only supported on matrices or batches of matrices. Got "
                f"{len(self.shape)}-D tensor."
            )
        return ops.transpose(self, -2, -1)

    def where(self, condition: Any, other: Any) -> Tensor:
        return ops.where(condition, self, other)

    # ---- type and place ----

    def to(
        self: Any, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False
    ) -> Tensor:
        """Another dtype, or another tensor's; the tensor itself when nothing would change."""
        for arg in args:
            if isinstance(arg, dtypes.dtype):
                dtype = arg
            elif isinstance(arg, (str, devices.device)):
                device = arg
            elif hasattr(arg, "dtype"):
                dtype, device = arg.dtype, arg.device
            else:
                raise TypeError(
                    f"to(): expected a dtype, a device or a tensor, but got {type(arg).__name__}"
                )
        result = self if dtype is None else ops.to(self, dtype)
        if device is not None and devices.device(device) != self.device:
            return ops._to_device(result, str(devices.device(device)))
        return ops.clone(self) if copy and result is self else result

    def type_as(self, other: Tensor) -> Tensor:
        return self.to(other)

    def float(self) -> Tensor:
        return self.to(dtypes.float32)

    def half(self) -> Tensor:
        return self.to(dtypes.float16)

    def bfloat16(self) -> Tensor:
        return self.to(dtypes.bfloat16)

    def double(self) -> Tensor:
        return self.to(dtypes.float64)

    def int(self) -> Tensor:
        return self.to(dtypes.int32)

    def long(self) -> Tensor:
        return self.to(dtypes.int64)

    def bool(self) -> Tensor:
        return self.to(dtypes.bool)

    def cpu(self) -> Tensor:
        return self.to("cpu")

    def cuda(self) -> Tensor:
        return self.to("cuda")

    def __invert__(self) -> Tensor:
        if self.dtype.is_floating_point:
            raise TypeError(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
            )
        return ops.bitwise_not(self)

    # ---- parts ----

    def __getitem__(self, index: Any) -> Tensor:
        return getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        setitem(self, index, value)

    def fill_(self, value: Any) -> Any:
        """Write one number, or what a tensor of one number holds, everywhere."""
        __tracebackhide__ = True
        if not is_tensor(value):
            return ops.fill_(self, value)
        if len(value.shape):
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{len(value.shape)} dimensions."
            )
        return ops.copy_(self, ops.clone(value))  # it may be one of the numbers written over

    # ---- tensors like this one ----

    def new_zeros(self, *size: Any, dtype: Any = None, device: Any = None) -> Tensor:
        where = placing(device or self.device)
        return ops.zeros(sizes(size), dtype or self.dtype, **where)

    def new_ones(self, *size: Any, dtype: Any = None, device: Any = None) -> Tensor:
        where = placing(device or self.device)
        return ops.ones(sizes(size), dtype or self.dtype, **where)

    def new_full(
        self, size: Any, fill_value: Any, dtype: Any = None, device: Any = None
    ) -> Tensor:
        where = placing(device or self.device)
        return ops.full(tuple(size), fill_value, dtype or self.dtype, **where)


# ---- written in place ---------------------------------------------------------------------------

# Beside those that are operators of their own: none of these reads in its backward what it wrote.
WRITTEN = (
    "masked_fill lerp addcmul addcdiv scatter scatter_add index_add triu tril baddbmm addmm "
    "nan_to_num".split()
)


def writing(op: Op) -> Callable:
    """The operator, which writes its result into its first argument and returns that."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        others = [value for value in (*args, *kwargs.values()) if is_tensor(value)]
        interpreter: Any = current()  # eager mode or capture: nothing else runs methods that write
        interpreter.refuse_overlap(self, others)
        found = op(self, *args, **kwargs)
        if not can_cast(found.dtype, self.dtype):
            raise RuntimeError(
                f"result type {found.dtype.title} can't be cast to the desired output type "
                f"{self.dtype.title}"
            )
        return ops.copy_(self, found)

    return _named(method, f"{op.name}_", op)


# ---- signs --------------------------------------------------------------------------------------

BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}
COMPARISONS = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
UNARY = {"neg": "neg", "abs": "abs"}

# Special method -> operator, and whether the operands are swapped: what `x + 1` means.
DUNDERS: dict[str, tuple[Op, bool]] = {}

_SCALARS = (int, float, bool, np.generic, SymNumber)


def _operand(value: Any) -> Any:
    """What may stand beside a tensor; NotImplemented for everything else."""
    if isinstance(value, (Methods, *_SCALARS)):
        return value
    if isinstance(value, np.ndarray):
        from .factories import from_numpy

        return from_numpy(value)
    return NotImplemented


def _binary(op: Op, swapped: bool, name: str) -> Callable:
    known = frozenset((int, float, bool))

    def straight(self: Any, other: Any) -> Any:
        __tracebackhide__ = True
        kind = type(other)
        if kind is not type(self) and kind not in known:
            other = _operand(other)
            if other is NotImplemented:
                return other
        return op(self, other)

    def reflected(self: Any, other: Any) -> Any:
        __tracebackhide__ = True
        other = _operand(other)
        return other if other is NotImplemented else op(other, self)

    return _named(reflected if swapped else straight, name, op)


def _named(function: Callable, name: str, op: Op) -> Callable:
    function.__name__, function.__qualname__ = name, f"Tensor.{name}"
    function.__doc__ = op.__doc__ if isinstance(op.__doc__, str) else None
    return function


def _unary(op: Op, name: str) -> Callable:
    def method(self: Any) -> Any:
        __tracebackhide__ = True
        return op(self)

    return _named(method, name, op)


def _plain(op: Op) -> Callable:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return op(self, *args, **kwargs)

    return _named(method, op.name, op)


def _install() -> None:
    """Give `Methods` the special methods, and every operator it does not spell out itself."""
    for sign, name in BINARY.items():
        DUNDERS[f"__{sign}__"] = ops.OPS[name], False
        DUNDERS[f"__r{sign}__"] = ops.OPS[name], True
        if f"{name}_" in ops.OPS:
            DUNDERS[f"__i{sign}__"] = ops.OPS[f"{name}_"], False
    for sign, name in COMPARISONS.items():
        DUNDERS[f"__{sign}__"] = ops.OPS[name], False
    for name, (op, swapped) in DUNDERS.items():
        setattr(Methods, name, _binary(op, swapped, name))
    for sign, name in UNARY.items():
        setattr(Methods, f"__{sign}__", _unary(ops.OPS[name], f"__{sign}__"))
    for name, op in ops.OPS.items():
        takes_tensor = op.parameters[:1] == ("input",)
        private = name.startswith("_") or name.endswith("_like") or name in ("slice", "copy")
        public = "Tensor" in op.homes and not private
        if takes_tensor and public and not hasattr(Methods, name):
            setattr(Methods, name, _plain(op))
    for name in WRITTEN:
        setattr(Methods, f"{name}_", writing(ops.OPS[name]))
    for name, function in FUNCTIONS.items():
        if next(iter(signature(function).parameters)) == "input":
            setattr(Methods, name, function)


_install()
