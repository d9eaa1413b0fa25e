"""`bucketed`: lengths that vary, padded to a few sizes, so that a few variants serve them all.

In: a function, bucket sizes, and what its arguments are padded with.  Out: a callable that gives
what the function gives, and keeps the bill: calls, variants, padded elements.
Invariant: nothing is padded on trust. The first padded call of a bucket is compared with the
function itself, uncompiled and unpadded; where padding shows in a result, PaddingError is raised
and nothing is returned.
PyTorch has no such helper: programs pad by hand, or name hot sizes with
`mark_dynamic(x, 0, specialize_on=[...])`.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ops import OPS
from ..tensor import Tensor, no_grad
from ..testing.comparison import assert_close
from .compile import compile as compile_function, state_of
from .exc import PaddingError

Cut = int | None | tuple[int | None, ...]
Arguments = inspect.BoundArguments
ADVICE = """\
What to do: pad with a value that changes nothing (0 for a sum, -inf for amax),
  hand over a mask, say with `cut` which results are as long as the inputs,
  or use compile(dynamic=True)."""


def bucketed(
    fn: Callable[..., Any] | None = None,
    *,
    sizes: Sequence[int],
    pad: Mapping[str, float],
    axis: int = 0,
    cut: Cut = 0,
    hot: Sequence[int] = (),
    always_check: bool = False,
    **options: Any,
) -> Any:
    """Compile `fn` for a few sizes along one axis, and pad its arguments to them.

    sizes: the buckets. A call takes the smallest that is large enough, each a static variant.
    pad: what each padded parameter is filled up with, by name; all are equally long along `axis`.
    cut: the axis along which results are cut back to the call's length; None for a result that has
    no such axis, as a sum; a tuple for a function that returns one.
    hot: lengths with a variant of their own, unpadded.  Lengths beyond the buckets, and empty
    ones, go unpadded to one variant for all (`dynamic=True`).
    options: for `compile`, such as `backend`.  Usable as a decorator.

    What must be true of `fn`: entries behind the end do not show in what is left after the cut; it
    changes none of its arguments, draws no random numbers, and running it once more does no harm.
    The first padded call of each bucket, for each dtype and each rest of a shape, is checked: the
    results are compared with `fn` of the unpadded arguments, then once more with the signs of all
    padded floats turned round, so that a maximum that happened to hide the padding is noticed.
    always_check: check every padded call, where values decide whether padding shows.

    Raises PaddingError where a check fails; ValueError for sizes or a `cut` that make no sense;
    TypeError for a parameter that is unknown, or is no tensor.

    >>> scores = bucketed(scores, sizes=(128, 256, 512), pad={"x": 0.0})
    >>> print(scores.costs())
    """
    if fn is None:
        return functools.partial(
            bucketed, sizes=sizes, pad=pad, axis=axis, cut=cut, hot=hot,
            always_check=always_check, **options,
        )  # fmt: skip
    return Bucketed(fn, sizes, pad, axis, cut, hot, always_check, options)


@dataclass
class Bucket:
    """One destination of calls, and its bill. `size` is None where nothing is padded and sizes are
    symbols; `elements` and `padding` count what went in, and what was added to it."""

    size: int | None
    run: Callable[..., Any]
    calls: int = 0
    elements: int = 0
    padding: int = 0

    @property
    def variants(self) -> int:
        """How many there are now, those of regions behind a break too."""
        state = state_of(self.run)
        return sum(len(point.cache.variants) for point in (state.entry, *state.points.values()))


@dataclass(frozen=True)
class Costs:
    """The bill so far. `padding` and `elements` are numbers of elements of the padded arguments."""

    buckets: tuple[Bucket, ...]

    @property
    def calls(self) -> int:
        return sum(bucket.calls for bucket in self.buckets)

    @property
    def variants(self) -> int:
        return sum(bucket.variants for bucket in self.buckets)

    @property
    def elements(self) -> int:
        return sum(bucket.elements for bucket in self.buckets)

    @property
    def padding(self) -> int:
        return sum(bucket.padding for bucket in self.buckets)

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("bucket", "calls", "variants", "elements", "padding", "")]
        rows += [_row(str(bucket.size or "general"), bucket) for bucket in self.buckets]
        rows.append(_row("in all", self))
        form = "{:>7}{:>6}{:>9}{:>9}{:>8}{:>6}"  # fits a narrow column
        return "\n".join(form.format(*row).rstrip() for row in rows)


def _row(name: str, bill: Bucket | Costs) -> tuple[str, ...]:
    counts = bill.calls, bill.variants, bill.elements, bill.padding
    share = f"{100 * bill.padding / (bill.elements or 1):.0f} %"
    return name, *map(str, counts), share


class Bucketed:
    """What `bucketed` returns; `costs()` is the bill."""

    def __init__(
        self,
        fn: Callable[..., Any],
        sizes: Sequence[int],
        pad: Mapping[str, float],
        axis: int,
        cut: Cut,
        hot: Sequence[int],
        always_check: bool,
        options: dict[str, Any],
    ) -> None:
        functools.update_wrapper(self, fn)
        self._name = getattr(fn, "__qualname__", type(fn).__name__)
        self._signature = inspect.signature(fn)
        _sensible(self._signature, sizes, pad, hot)
        self._fn, self._pad, self._axis, self._cut = fn, dict(pad), axis, cut
        self._always_check, self._checked = always_check, set[Any]()
        self._lock = threading.Lock()  # of the counts
        named = [Bucket(size, compile_function(fn, **options)) for size in sorted({*sizes, *hot})]
        self._hot = {b.size: b for b in named if b.size in hot}
        self._buckets = [b for b in named if b.size in sizes]
        self._general = Bucket(None, compile_function(fn, **{**options, "dynamic": True}))
        self._all = (*named, self._general)

    def costs(self) -> Costs:
        """The bill of all calls so far, smallest bucket first, the general one last."""
        return Costs(self._all)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = self._signature.bind(*args, **kwargs)
        length = self._length(call.arguments)
        bucket = self._bucket(length)
        size = length if bucket.size is None else bucket.size
        with self._lock:
            bucket.calls += 1
        if size == length:
            result = bucket.run(*args, **kwargs)
            self._count(bucket, call, call)
            return result
        padded = self._padded(call, size)
        result = self._shortened(bucket.run(*padded.args, **padded.kwargs), length, size)
        self._count(bucket, call, padded)
        kind = (size, *((t.dtype, t.shape) for t in self._tensors(padded).values()))
        if self._always_check or kind not in self._checked:
            self._check(call, result, length, size)
            self._checked.add(kind)
        return result

    def _length(self, arguments: Mapping[str, Any]) -> int:
        """How long the padded arguments are along the axis, all of them."""
        found = {}
        for name in self._pad:
            value = arguments.get(name)
            if not isinstance(value, Tensor):
                raise TypeError(f"{name} is to be padded, and is a {type(value).__name__}")
            found[name] = value.shape[self._axis]
        if len(set(found.values())) > 1:
            raise ValueError(f"padded arguments differ in length at axis {self._axis}: {found}")
        return next(iter(found.values()))

    def _bucket(self, length: int) -> Bucket:
        if length in self._hot or length == 0:
            return self._hot.get(length, self._general)
        return next((b for b in self._buckets if b.size and length <= b.size), self._general)

    def _tensors(self, call: Arguments) -> dict[str, Tensor]:
        return {name: call.arguments[name] for name in self._pad}

    def _padded(self, call: Arguments, size: int) -> Arguments:
        found = Arguments(self._signature, call.arguments.copy())
        for name, tensor in self._tensors(call).items():
            shape = list(tensor.shape)
            shape[self._axis] = size - shape[self._axis]
            end = tensor.new_full(tuple(shape), self._pad[name])
            found.arguments[name] = OPS["cat"]([tensor, end], self._axis)
        return found

    def _count(self, bucket: Bucket, call: Arguments, padded: Arguments) -> None:
        given = sum(tensor.numel() for tensor in self._tensors(call).values())
        made = sum(tensor.numel() for tensor in self._tensors(padded).values())
        with self._lock:
            bucket.elements += given
            bucket.padding += made - given

    def _shortened(self, result: Any, length: int, size: int) -> Any:
        """The results, cut back. Raises PaddingError where they are not as `cut` says."""
        if isinstance(self._cut, tuple):
            if not isinstance(result, tuple) or len(result) != len(self._cut):
                raise self._error(length, size, f"cut={self._cut} is for as many results")
            return tuple(self._part(r, c, length, size) for r, c in zip(result, self._cut))
        return self._part(result, self._cut, length, size)

    def _part(self, result: Any, cut: int | None, length: int, size: int) -> Any:
        kind = type(result).__name__
        if not isinstance(result, Tensor):
            raise self._error(length, size, f"a result of type {kind} cannot be cut back")
        if cut is None:
            return result
        if not -result.ndim <= cut < result.ndim or result.shape[cut] != size:
            shape = tuple(result.shape)
            raise self._error(length, size, f"a result of shape {shape} has no {size} at {cut}")
        return result[(slice(None),) * (cut % result.ndim) + (slice(length),)]

    # ---- is it the same without? ----

    def _check(self, call: Arguments, result: Any, length: int, size: int) -> None:
        """Raises PaddingError."""
        with no_grad():
            self._same(result, self._eagerly(_copied(call), length, size), length, size)
            turned = _copied(call)
            for name, tensor in self._tensors(turned).items():
                if tensor.is_floating_point():
                    turned.arguments[name] = OPS["neg"](tensor)
            try:
                expected = self._fn(*turned.args, **turned.kwargs)
            except Exception:  # fn is not for such numbers, so there is nothing to compare
                return
            padded = self._padded(turned, size)
            found = self._shortened(self._fn(*padded.args, **padded.kwargs), length, size)
            self._same(found, expected, length, size)

    def _eagerly(self, call: Arguments, length: int, size: int) -> Any:
        """fn of these arguments, which it must leave as they are."""
        before = _copied(call)
        expected = self._fn(*call.args, **call.kwargs)
        for name, tensor in self._tensors(call).items():
            if tensor.array.tobytes() != before.arguments[name].array.tobytes():
                raise self._error(length, size, f"it changes {name}, of which it gets a copy")
        return expected

    def _same(self, found: Any, expected: Any, length: int, size: int) -> None:
        try:
            assert_close(found, expected, equal_nan=True)
        except (AssertionError, TypeError) as error:
            raise self._error(length, size, str(error)) from None

    def _error(self, length: int, size: int, what: str) -> PaddingError:
        names = ", ".join(self._pad)
        return PaddingError(
            f"padding {names} from {length} to {size} along axis {self._axis} changes what "
            f"{self._name} gives:\n{what}\n{ADVICE}"
        )


def _copied(call: Arguments) -> Arguments:
    """The same arguments, tensors anew and without history."""
    return Arguments(
        call.signature,
        {
            name: value.detach().clone() if isinstance(value, Tensor) else value
            for name, value in call.arguments.items()
        },
    )


def _sensible(
    signature: inspect.Signature,
    sizes: Sequence[int],
    pad: Mapping[str, float],
    hot: Sequence[int],
) -> None:
    if not sizes or not all(isinstance(n, int) and n > 0 for n in (*sizes, *hot)):
        raise ValueError(f"sizes are positive integers, not {(*sizes, *hot)}")
    if not pad:
        raise ValueError('say what to pad, and with what: pad={"x": 0.0}')
    for name in pad:
        kind = getattr(signature.parameters.get(name), "kind", None)
        if kind in (None, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise TypeError(f"there is no parameter {name!r} to pad: {signature}")
