"""The kinds of guards: what each checks, and what it says when it fails.

In: the user's name of a value, the check's expression for it, the value seen at capture.  Out: a
`Guard`.
Invariant: `code` uses identity and comparisons of builtin types only, so no check runs a user's
`__eq__`.
Messages are PyTorch's where PyTorch has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..tensor import Tensor
from ..tensor.layout import Marks
from ..trace import Origin
from .guard import Guard, Mismatch

ATOMS = (int, float, complex, str, bytes, bool, type(None), range, type(...))
MAX_BITS = 2048
Ends = tuple[int, int | None]  # the least size, and the largest, if there is one


def _differs(
    what: str, name: str, expected: str, show: Callable[[Any], str]
) -> Callable[[Any], Mismatch]:
    def mismatch(value: Any) -> Mismatch:
        actual = show(value)
        return Mismatch(
            expected, actual, f"{what} {name!r} changed. expected {expected}, actual {actual}"
        )

    return mismatch


# ---- tensors ------------------------------------------------------------------------------------


def layout_key(home: str, kind: str, layout: str) -> str:
    """What tensor_match, size_match and stride_match say together. Two variables that are named
    side by side are one instruction of CPython's: from 3.12 on this saves a sixth."""
    return f"{kind} is type({home}) and {layout} is {home}._layout"


def tensor_match(
    name: str,
    home: str,
    tensor: Tensor,
    names: tuple[str, str, str, str],
    origin: Origin | None,
    key: str = "",
) -> Guard:
    """Exact type, dtype, device, requires_grad, no marks but those of the tensor seen. `names` are
    the check's names of the first three, and of the marks, if there are any."""
    kind, dtype, device, marks = names
    grad = "" if tensor.requires_grad else "not "
    code = (
        f"type({home}) is {kind} and {home}.dtype is {dtype} and {home}.device is {device}"
        f" and {grad}{home}._layout.requires_grad and "
    )
    code += f"{home}._layout.marks <= {marks}" if marks else f"not {home}._layout.marks"
    own = tensor._layout.marks
    wanted = (type(tensor), tensor.dtype, tensor.device, tensor.requires_grad, own)
    expected = f"{tensor.dtype.name} on {tensor.device}, requires_grad={int(tensor.requires_grad)}"

    def mismatch(value: Any) -> Mismatch:
        cls, dtype, device, grad, marks = wanted
        if type(value) is not cls:
            return _tensor(name, "type", cls.__name__, type(value).__name__)
        if value.dtype is not dtype:
            return _tensor(name, "dtype", dtype.title, value.dtype.title)
        if value.device is not device:
            return _tensor(name, "device", str(device), str(value.device))
        if value.requires_grad is not grad:
            expected, actual = f"requires_grad={int(grad)}", f"requires_grad={int(not grad)}"
            return _tensor(name, "requires_grad", expected, actual)
        return _tensor(name, "marks", _show_marks(marks), _show_marks(value._layout.marks))

    return Guard("TENSOR_MATCH", name, code, home, expected, mismatch, origin, key=key)


def _tensor(name: str, what: str, expected: str, actual: str) -> Mismatch:
    found = (
        "" if what == "requires_grad" else f", actual {actual}"
    )  # torch names only what it wanted
    return Mismatch(
        expected, actual, f"tensor {name!r} {what} mismatch. expected {expected}{found}"
    )


def _show_marks(marks: Marks) -> str:
    """ "0 dynamic from 2 to 8, 1 static": what was said of which axis."""
    return ", ".join(map(str, sorted(marks))) or "none"


def size_match(
    name: str, home: str, tensor: Tensor, origin: Origin | None, key: str = ""
) -> Guard:
    shape = tuple(tensor.shape)

    def mismatch(value: Tensor) -> Mismatch:
        return _per_axis(name, "size", shape, tuple(value.shape))

    code = f"{home}.shape == {shape}"
    return Guard("SIZE_MATCH", name, code, home, str(shape), mismatch, origin, shape, key)


def stride_match(
    name: str, home: str, tensor: Tensor, origin: Origin | None, key: str = ""
) -> Guard:
    stride = tuple(tensor._stride)

    def mismatch(value: Tensor) -> Mismatch:
        return _per_axis(name, "stride", stride, tuple(value._stride))

    code = f"{home}._stride == {stride}"
    return Guard("STRIDE_MATCH", name, code, home, str(stride), mismatch, origin, stride, key)


def some_sizes(
    name: str,
    home: str,
    tensor: Tensor,
    symbolic: dict[int, Ends],
    origin: Origin | None,
) -> Guard:
    """The rank and the sizes, but for the axes in `symbolic`, which only have a least one, and
    perhaps a largest."""
    shape = tuple(tensor.shape)
    tests = [f"len({home}.shape) == {len(shape)}"]
    for n, size in enumerate(shape):
        found, (low, high) = f"{home}.shape[{n}]", symbolic.get(n, (size, size))
        end = "" if high is None else f" and {found} <= {high}"
        tests.append(f"{found} >= {low}{end}" if n in symbolic else f"{found} == {size}")
    axes = tuple(None if n in symbolic else size for n, size in enumerate(shape))
    spans = [_span(*symbolic[n]) if n in symbolic else str(size) for n, size in enumerate(shape)]
    expected = _tuple(spans)

    def fits(n: int, size: int) -> bool:
        low, high = symbolic[n]
        return low <= size and (high is None or size <= high)

    def mismatch(value: Tensor) -> Mismatch:
        seen = tuple(value.shape)
        if len(seen) != len(shape):
            return _per_axis(name, "size", shape, seen)
        wanted = tuple(
            (size if fits(n, size) else spans[n]) if n in symbolic else shape[n]
            for n, size in enumerate(seen)
        )
        return _per_axis(name, "size", wanted, seen)

    code = " and ".join(tests)
    return Guard("SIZE_MATCH", name, code, home, expected, mismatch, origin, axes)


def strides_follow(
    name: str,
    home: str,
    wanted: tuple[str, ...],
    axes: tuple[int | None, ...],
    words: tuple[str, ...],
    origin: Origin | None,
) -> Guard:
    """Strides that are expressions over the sizes: `wanted` for the check, `words` for people."""
    expected = _tuple(list(words))

    def mismatch(value: Tensor) -> Mismatch:
        seen = str(value._stride)
        reason = f"tensor {name!r} stride mismatch. expected {expected}, actual {seen}"
        return Mismatch(expected, seen, reason)

    code = f"{home}._stride == {_tuple(list(wanted))}"
    return Guard("STRIDE_MATCH", name, code, home, expected, mismatch, origin, axes)


def _span(low: int, high: int | None) -> str:
    return f">={low}" if high is None else f"{low}..{high}"


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _per_axis(name: str, what: str, expected: tuple[Any, ...], actual: tuple[int, ...]) -> Mismatch:
    text = f"tensor {name!r} "
    if len(expected) != len(actual):
        text += f"rank mismatch. expected {len(expected)}, actual {len(actual)}"
    else:
        axis = next(n for n, (a, b) in enumerate(zip(expected, actual)) if a != b)
        text += f"{what} mismatch at index {axis}. expected {expected[axis]}, actual {actual[axis]}"
    return Mismatch(_tuple([*map(str, expected)]), str(actual), text)


# ---- Python values ------------------------------------------------------------------------------


def constant_match(name: str, home: str, value: Any, origin: Origin | None) -> Guard:
    """Type and value; numbers by their bits, so that -0.0 and nan are what they are."""
    expected = repr(value)
    type_ = {type(None): "NONE_MATCH", bool: "BOOL_MATCH"}.get(type(value), "EQUALS_MATCH")
    mismatch = _differs("value", name, expected, _show)
    return Guard(type_, name, same_value(home, value), home, expected, mismatch, origin)


def same_value(home: str, value: Any) -> str:
    """Python for "this very value": all these types are written as they print themselves."""
    kind = type(value)
    if value is None or kind in (bool, type(...)):
        return f"{home} is {value!r}"
    if kind is float:
        return f"type({home}) is float and {home}.hex() == {value.hex()!r}"
    if kind is complex:
        bits = value.real.hex(), value.imag.hex()
        return f"type({home}) is complex and ({home}.real.hex(), {home}.imag.hex()) == {bits}"
    if kind is range:  # range(0) == range(5, 5), but their starts differ
        parts = value.start, value.stop, value.step
        return f"type({home}) is range and ({home}.start, {home}.stop, {home}.step) == {parts}"
    return f"type({home}) is {kind.__name__} and {home} == {value!r}"


def is_too_long(value: Any) -> bool:
    """An integer of more digits than Python is willing to print."""
    return type(value) is int and value.bit_length() > MAX_BITS


def _show(value: Any) -> str:
    """A value in words; only builtin types show themselves, for a user's __repr__ may do
    anything."""
    if type(value) in ATOMS and not is_too_long(value):
        return repr(value)
    name = getattr(value, "__name__", None) if callable(value) else None
    return name if isinstance(name, str) else f"a {type(value).__name__}"


def id_match(name: str, home: str, value: Any, constant: str, origin: Origin | None) -> Guard:
    """This very object: functions, classes, modules, singletons."""
    mismatch = _differs("object", name, _show(value), lambda v: f"another object ({_show(v)})")
    return Guard("ID_MATCH", name, f"{home} is {constant}", home, _show(value), mismatch, origin)


def builtin_match(name: str, namespace: str, constant: str, origin: Origin | None) -> Guard:
    """The name still means the builtin: no global shadows it, nobody replaced it."""
    code = f"{name!r} not in {namespace} and builtins.{name} is {constant}"

    def mismatch(value: Any) -> Mismatch:
        reason = f"builtin {name!r} is shadowed or replaced"
        return Mismatch(f"the builtin {name}", "something else", reason)

    return Guard("BUILTIN_MATCH", name, code, namespace, f"the builtin {name}", mismatch, origin)


def type_match(name: str, home: str, value: Any, constant: str, origin: Origin | None) -> Guard:
    kind = type(value).__name__
    mismatch = _differs("type of", name, kind, lambda v: type(v).__name__)
    return Guard("TYPE_MATCH", name, f"type({home}) is {constant}", home, kind, mismatch, origin)


def class_attribute(
    name: str, code: str, home: str, kind: str, origin: Origin | None
) -> Guard:
    """What a class has still acts alike: this very descriptor, or data of this type."""

    def mismatch(value: Any) -> Mismatch:
        actual = type(value).__name__
        if actual == kind:
            actual = f"another {kind}"
        reason = f"class attribute {name!r} changed. expected {kind}, actual {actual}"
        return Mismatch(kind, actual, reason)

    return Guard("CLASS_ATTRIBUTE", name, code, home, kind, mismatch, origin)


def number_match(
    name: str, home: str, value: int | float, bits: int, origin: Origin | None
) -> Guard:
    """Any float; or any int of at most so many bits."""
    kind = type(value).__name__
    code = f"type({home}) is {kind}"
    if kind == "int":
        code += f" and {home}.bit_length() <= {bits}"
    mismatch = _differs("type of", name, kind, lambda v: type(v).__name__)
    return Guard("TYPE_MATCH", name, code, home, kind, mismatch, origin)


def code_match(
    name: str, home: str, names: tuple[str, str, str], label: str, origin: Origin | None
) -> Guard:
    """A Python function by its code and globals, so that a closure made anew is the same
    function."""
    kind, code, space = names
    text = f"type({home}) is {kind} and {home}.__code__ is {code} and {home}.__globals__ is {space}"
    mismatch = _differs(
        "function", name, f"the code of {label}", lambda v: f"other code ({_show(v)})"
    )
    return Guard("CLOSURE_MATCH", name, text, home, f"the code of {label}", mismatch, origin)


def length_match(name: str, home: str, length: int, origin: Origin | None) -> Guard:
    mismatch = _differs("length of", name, str(length), lambda v: str(len(v)))
    return Guard(
        "SEQUENCE_LENGTH", name, f"len({home}) == {length}", home, str(length), mismatch, origin
    )


def exact(key: Any) -> Any:
    """What is equal for two keys only if they are the same: 1 and True are not, nor 0.0 and -0.0,
    nor tuples of those."""
    kind = type(key)
    if kind is tuple or kind is frozenset:
        return (kind, *map(exact, key))
    if kind is float or kind is complex:
        return kind, repr(key)
    return (kind, key.start, key.stop, key.step) if kind is range else (kind, key)


def keys_match(
    name: str, home: str, keys: list[Any], code: str, origin: Origin | None
) -> Guard:
    """The same keys in the same order."""
    expected = _show_all(keys)
    mismatch = _differs("keys of", name, expected, _show_all)
    return Guard("DICT_KEYS_MATCH", name, code, home, expected, mismatch, origin)


def _show_all(keys: Iterable[Any]) -> str:
    return f"[{', '.join(map(_show, keys))}]"


def condition(
    type_: str, name: str, code: str, subject: str, expected: str, words: str, origin: Origin | None
) -> Guard:
    """A condition that only holds or fails; `words` tell what it means when it fails."""
    mismatch = lambda value: Mismatch(expected, f"not {expected}", words)
    return Guard(type_, name, code, subject, expected, mismatch, origin)
