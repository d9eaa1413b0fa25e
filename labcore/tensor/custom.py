"""What the tape is told of a `Function`: its node, and whose history that is.

In: a class with a `backward`, what `forward` was given, what it returned and what it left in `ctx`.
Out: the results with their history.
Invariant: a result is never an argument as it was: one that `forward` returns unchanged becomes a
view, which takes no writes, for a write would go past the user's derivative.
In PyTorch the node and `ctx` are one object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labcore import ops
from labcore.devices import placing
from labcore.graph import TensorMeta
from labcore.ops import derivatives

from .inplace import check_target, tell_relatives
from .modes import no_grad
from .nodes import KEPT, SECOND_TIME, Grads, Node, attach, edge_of
from .saved import save
from .tensor import Tensor, storage_of

CUSTOM_VIEW = (
    "Output {number} of {name} is a view and {{}} modified inplace. This view was created inside a "
    "custom Function (or because an input was returned as-is) and the autograd logic to handle "
    "view+inplace would override the custom backward associated with the custom Function, leading "
    "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of "
    "the custom Function."
)
NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The "
    "inputs that are modified inplace must all be outputs of the Function."
)


class Context:
    """What a node needs to know of a `ctx`. `_kept`: what the tape keeps of `_to_save`."""

    _to_save: Sequence[Tensor | None] = ()
    _kept: list[Any] | None = None
    _dirty: Sequence[Tensor] = ()
    _without_gradient: Sequence[Tensor] = ()
    _materialize = True

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The saved tensors, without history. Raises RuntimeError where one was written since, or
        after the backward, which lets them go."""
        if self._kept is None:
            return tuple(self._to_save)
        if None in self._kept:
            raise RuntimeError(SECOND_TIME)
        return tuple([v.value("") if type(v) in KEPT else v[0] for v in self._kept])

    def keep(self) -> None:
        """Keep what is saved as the tape keeps things: a result that holds its own history would
        keep itself alive."""
        for number, tensor in enumerate(self._to_save):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {number} is of type "
                    f"{type(tensor).__name__}"
                )
        self._kept = [(None,) if t is None else save(t) for t in self._to_save]
        self._to_save = ()

    def release(self) -> None:
        if self._kept:
            self._kept = [None]


class CustomNode(Node):
    """The step of a Function. It has an edge for each argument that is a tensor."""

    __slots__ = ("arguments", "cls", "ctx", "outputs", "results")

    def __init__(self, cls: type, ctx: Context, args: Sequence[Any], outputs: list[Any]) -> None:
        super().__init__(f"{cls.__name__}Backward", [edge_of(a) for a in args if _is_tensor(a)])
        self.cls: Any = cls
        self.ctx, self.results = ctx, len(outputs)
        self.arguments = [_meta(value) for value in args]
        self.outputs = [_meta(value) for value in outputs]

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        return self.ctx.saved_tensors

    def apply(self, grads: Grads) -> Grads:
        found = self.cls.backward(self.ctx, *self._materialized(grads))
        gradients = self._one_for_each(list(found) if isinstance(found, tuple) else [found])
        del found
        checked = [self._checked(n, g) for n, g in enumerate(gradients)]
        return [g for g, meta in zip(checked, self.arguments) if meta is not None]

    def _materialized(self, grads: Grads) -> list[Tensor | None]:
        """With zeros for results that nobody used, unless `ctx` wants to know."""
        if not self.ctx._materialize:
            return list(grads)
        pairs = zip(grads, self.outputs)
        return [_zeros(m) if g is None and m is not None else g for g, m in pairs]

    def _one_for_each(self, found: list[Any]) -> list[Any]:
        """Raises RuntimeError where there is not one for each argument; None may be left over."""
        wanted = len(self.arguments)
        while len(found) > wanted and found[-1] is None:
            found.pop()
        if len(found) != wanted:
            raise RuntimeError(
                f"function {self._name} returned an incorrect number of gradients (expected "
                f"{wanted}, got {len(found)})"
            )
        return found

    def _checked(self, number: int, gradient: Any) -> Tensor | None:
        """A gradient as its argument can take it: summed where that was broadcast, in its type."""
        meta = self.arguments[number]
        if gradient is None:
            return None
        if not isinstance(gradient, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
        if meta is None:
            raise RuntimeError(
                f"function {self._name} returned a gradient different than None at position "
                f"{number + 1}, but the corresponding forward input was not a Variable"
            )
        have, like = gradient.shape, meta.shape
        if have != like and not is_broadcast(have, like):
            raise RuntimeError(
                f"Function {self._name} returned an invalid gradient at index {number} - got "
                f"{list(have)} but expected shape compatible with {list(like)}"
            )
        fitted: Tensor = derivatives.fit(gradient.detach(), meta)
        return fitted

    def release(self) -> None:
        self.ctx.release()


def recorded(cls: type, ctx: Context, args: tuple[Any, ...], results: Any) -> Any:
    """What `apply` returns where the tape records: the results of `forward`, with a history."""
    outputs = list(_listed(ctx, results))
    node = CustomNode(cls, ctx, args, outputs)
    for number, output in enumerate(outputs):
        if _is_among(ctx._without_gradient, output) or not _is_differentiable(output):
            outputs[number] = _without_history(ctx, args, output)
        elif _is_among(ctx._dirty, output):
            _continue(output, node, number, args)
        else:
            outputs[number] = _with_history(output, node, number, _is_among(args, output))
    ctx._to_save = [_replaced(t, results, outputs) for t in ctx._to_save]
    ctx.keep()
    return tuple(outputs) if isinstance(results, tuple) else outputs[0]


def unrecorded(ctx: Context, args: tuple[Any, ...], results: Any) -> Any:
    """What `apply` returns where nothing is recorded. Capture reads it."""
    found = [_without_history(ctx, args, output) for output in _listed(ctx, results)]
    return tuple(found) if isinstance(results, tuple) else found[0]


def _listed(ctx: Context, results: Any) -> tuple[Any, ...]:
    """The results as a tuple. Raises RuntimeError where one that `forward` writes is missing."""
    outputs: tuple[Any, ...] = results if isinstance(results, tuple) else (results,)
    for tensor in ctx._dirty:
        if not _is_among(outputs, tensor):
            raise RuntimeError(NOT_RETURNED)
    return outputs


def _is_among(values: Sequence[Any], tensor: Any) -> bool:
    for value in values:
        if value is tensor:
            return True
    return False


def _without_history(ctx: Context, args: tuple[Any, ...], output: Any) -> Any:
    if not isinstance(output, Tensor) or _is_among(ctx._dirty, output):
        return output
    if not _is_among(args, output):
        return output.detach() if output.requires_grad else output
    if output.requires_grad:
        return output.detach()
    with no_grad():
        return output.view_as(output)


def _is_differentiable(output: Any) -> bool:
    return isinstance(output, Tensor) and output.dtype.is_floating_point


def _replaced(tensor: Any, results: Any, outputs: list[Any]) -> Any:
    """The output that stands for a saved result."""
    listed = results if isinstance(results, tuple) else (results,)
    return next((new for old, new in zip(listed, outputs) if old is tensor), tensor)


def _with_history(output: Tensor, node: CustomNode, number: int, given: bool) -> Tensor:
    if given:
        with no_grad():
            output = output.view_as(output)
    if output._base is not None:
        refusal = CUSTOM_VIEW.format(number=number, name=node.cls.__name__)
        output._view = output._view[0], refusal
    attach(output, node, number)
    return output


def _continue(target: Tensor, node: CustomNode, number: int, args: tuple[Any, ...]) -> None:
    """An argument that `forward` has written goes on with the Function as its history."""
    check_target(target)
    storage_of(target).writes += 1  # as what `mark_dirty` says is a write, whatever else was one
    if target._base is not None and node.results > 1:
        raise RuntimeError(
            "If a custom Function modifies a view of another Tensor inplace, it must return that "
            f"view alone. {node.cls.__name__} returns {node.results} results: clone the view."
        )
    place = [n for n, a in enumerate(filter(_is_tensor, args)) if a is target]
    retained = target.grad_fn is not None and target.grad_fn.forget(target)
    attach(target, node, number)
    if retained:
        node.retain_grad(target)
    tell_relatives(target, place[0] if place else None)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _meta(value: Any) -> TensorMeta | None:
    return value.meta if isinstance(value, Tensor) else None


def _zeros(meta: TensorMeta) -> Tensor:
    zeros: Tensor = ops.zeros(tuple(meta.shape), meta.dtype, **placing(meta.device))
    return zeros


def is_broadcast(have: Sequence[int], like: Sequence[int]) -> bool:
    """Could a tensor of shape `like` be expanded to `have`?"""
    extra = len(have) - len(like)
    return extra >= 0 and all(b in (1, a) for a, b in zip(have[extra:], like))
