"""`assert_close`: are two results the same, up to rounding?

In: tensors, arrays, numbers, None, or nested sequences and mappings of them.  Out: nothing, or an
AssertionError with figures.
Invariant: |actual - expected| <= atol + rtol * |expected| for every element, in the tolerances
PyTorch has for the type; the message is PyTorch's. Left out: sparse and quantized layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labcore import dtypes
from labcore.tensor import Tensor, from_numpy
from labcore.tensor.conversions import plain
from labcore.tensor.cuda import to_host

# dtype -> (rtol, atol); everything else is compared exactly
TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
}

Message = str | Callable[[str], str] | None


@dataclass(frozen=True)
class _Options:
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_stride: bool
    msg: Message


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Raise AssertionError unless `actual` and `expected` are close.

    `msg` replaces the message, or is called with it.
    """
    options = _Options(rtol, atol, equal_nan, check_device, check_dtype, check_stride, msg)
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    _compare(actual, expected, (), options)


def _compare(actual: Any, expected: Any, path: tuple, options: _Options) -> None:
    pair = (actual, expected)
    if _all(pair, Mapping):
        _compare_mappings(actual, expected, path, options)
    elif _all(pair, (list, tuple)):
        if len(actual) != len(expected):
            _fail(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}",
                path,
                options,
            )
        for index, (a, e) in enumerate(zip(actual, expected)):
            _compare(a, e, (*path, index), options)
    elif actual is None or expected is None:
        if actual is not expected:
            _fail(f"None mismatch: {actual} is not {expected}", path, options)
    elif _all(pair, (bool, np.bool_)):
        if bool(actual) is not bool(expected):
            _fail(f"Booleans mismatch: {actual} is not {expected}", path, options)
    elif _all(pair, (int, float, np.number)) and not any(isinstance(v, bool) for v in pair):
        _compare_numbers(actual, expected, path, options)
    elif _all(pair, Tensor) or _all(pair, np.ndarray):
        a, e = (v if isinstance(v, Tensor) else from_numpy(v) for v in pair)
        _compare_tensors(a, e, path, options)
    else:
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(actual)} and "
            f"{type(expected)}."
        )


def _all(pair: tuple, kinds: Any) -> bool:
    return isinstance(pair[0], kinds) and isinstance(pair[1], kinds)


def _fail(text: str, path: tuple, options: _Options) -> None:
    if isinstance(options.msg, str):
        raise AssertionError(options.msg)
    if path:
        text += f"\n\nThe failure occurred for item {''.join(str([key]) for key in path)}"
    raise AssertionError(options.msg(text) if options.msg else text)


def _compare_mappings(actual: Mapping, expected: Mapping, path: tuple, options: _Options) -> None:
    missing, additional = set(expected) - set(actual), set(actual) - set(expected)
    if missing or additional:
        _fail(
            "The keys of the mappings do not match:\nMissing keys in the actual mapping: "
            f"{sorted(missing, key=str)}\nAdditional keys in the actual mapping: "
            f"{sorted(additional, key=str)}",
            path,
            options,
        )
    for key in expected:
        _compare(actual[key], expected[key], (*path, key), options)


def _tolerances(options: _Options, *types: dtypes.dtype) -> tuple[float, float]:
    if options.rtol is not None and options.atol is not None:
        return options.rtol, options.atol
    found = [TOLERANCES.get(t, (0.0, 0.0)) for t in types]
    return max(r for r, _ in found), max(a for _, a in found)


def _compare_numbers(actual: Any, expected: Any, path: tuple, options: _Options) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        _fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", path, options)
    types = [
        dtypes.float64 if isinstance(v, (float, np.floating)) else dtypes.int64
        for v in (actual, expected)
    ]
    rtol, atol = _tolerances(options, *types)
    if not np.isclose(actual, expected, rtol, atol, options.equal_nan):
        _fail(_scalar_text(actual, expected, rtol, atol), path, options)


def _compare_tensors(actual: Tensor, expected: Tensor, path: tuple, options: _Options) -> None:
    facts: list[tuple[str, Any, Any]] = [("shape", actual.shape, expected.shape)]
    if options.check_stride:
        facts.append(("stride()", actual._stride, expected._stride))
    if options.check_device:
        facts.append(("device", actual.device, expected.device))
    if options.check_dtype:
        facts.append(("dtype", actual.dtype, expected.dtype))
    for name, have, want in facts:
        if have != want:
            _fail(
                f"The values for attribute '{name}' do not match: {have} != {want}.", path, options
            )
    rtol, atol = _tolerances(options, actual.dtype, expected.dtype)
    a, e = _same_type(plain(to_host(actual.array)), plain(to_host(expected.array)))
    with np.errstate(all="ignore"):
        close = np.asarray(np.isclose(a, e, rtol, atol, options.equal_nan))
    if close.all():
        return
    text = (
        _tensor_text(a, e, close, rtol, atol)
        if a.ndim
        else _scalar_text(a.item(), e.item(), rtol, atol)
    )
    _fail(text, path, options)


def _same_type(actual: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both in the type that holds either; integers and bools in int64, to have differences."""
    common = np.result_type(actual, expected)
    if common.kind != "f":
        common = np.dtype(np.int64)
    return actual.astype(common), expected.astype(common)


def _scalar_text(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    return _text(
        "Scalars",
        f"Expected {expected} but got {actual}.",
        difference,
        None,
        relative,
        None,
        rtol,
        atol,
    )


def _tensor_text(
    actual: np.ndarray, expected: np.ndarray, close: np.ndarray, rtol: float, atol: float
) -> str:
    with np.errstate(all="ignore"):
        difference = np.where(close, 0, np.abs(actual - expected))
        relative = np.where(close, 0, difference / np.abs(expected))
    bad = int(close.size - close.sum())
    extra = f"Mismatched elements: {bad} / {close.size} ({bad / close.size:.1%})"
    most, where = _greatest(difference)
    most_relative, where_relative = _greatest(relative)
    return _text("Tensor-likes", extra, most, where, most_relative, where_relative, rtol, atol)


def _greatest(values: np.ndarray) -> tuple[Any, tuple[int, ...]]:
    """The greatest value and where it is; nan counts as the greatest."""
    place = np.unravel_index(int(values.argmax()), values.shape)
    return values[place].item(), tuple(int(i) for i in place)


def _text(
    what: str,
    extra: str,
    absolute: Any,
    at: Sequence[int] | None,
    relative: Any,
    relative_at: Sequence[int] | None,
    rtol: float,
    atol: float,
) -> str:
    exact = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if exact else 'close'}!", "", extra]
    for kind, value, index, limit in (
        ("absolute", absolute, at, atol),
        ("relative", relative, relative_at, rtol),
    ):
        line = (
            f"{kind.title()} difference: {value}"
            if index is None
            else f"Greatest {kind} difference: {value} at index {index}"
        )
        lines.append(line if exact else f"{line} (up to {limit} allowed)")
    return "\n".join(lines)
