"""What a tensor says about gradients: `requires_grad`, `grad`, `grad_fn`'s surroundings.

In: a tensor's slots `_layout`, which says whether it requires grad, `_grad`, `grad_fn`.
Out: PyTorch's attributes and their refusals.
Invariant: a non-leaf tensor holds its history; the history never holds the tensor. Only floating
point tensors require grad.
Left out: the warning for reading `.grad` of a tensor that keeps none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .hooks import GradientHooks, Hook, RemovableHandle, register

if TYPE_CHECKING:
    from .tensor import Tensor


class History:
    """The part of `Tensor` that the tape reads and writes."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def requires_grad(self) -> bool:
        return self._layout.requires_grad

    @requires_grad.setter
    def requires_grad(self: Any, wanted: bool) -> None:
        if self.grad_fn is not None:
            if wanted:
                return
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use "
                "a computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if wanted and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if wanted and self.is_inference():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        base = self._base
        wanted = bool(wanted) or base is not None and base._layout.requires_grad
        self._layout = self._layout.requiring(wanted)
        self._tell_views()

    def _tell_views(self: Any) -> None:
        """A view requires a gradient where its base does, also a view taken before that changed."""
        for reference in self._views or ():
            view = reference()
            if view is not None and view.grad_fn is None:
                view._layout = view._layout.requiring(self._layout.requires_grad)

    def requires_grad_(self: Any, requires_grad: bool = True) -> Tensor:
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        return 0 if self.grad_fn is None else self._output_number

    @property
    def grad(self) -> Tensor | None:
        return self._grad

    @grad.setter
    def grad(self: Any, value: Tensor | None) -> None:
        if value is not None:
            _check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self: Any) -> None:
        self._grad = None

    def backward(
        self: Any,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to `.grad` of the leaves it came from."""
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self: Any) -> None:
        """Keep `.grad` of this tensor too, though it is no leaf."""
        if not self._layout.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.grad_fn is not None:
            self.grad_fn.retain_grad(self)

    def register_hook(self: Any, hook: Hook) -> RemovableHandle:
        """`hook(grad)` is called with this tensor's gradient whenever it has been computed; what
        it returns, unless None, goes on in its place.

        Raises RuntimeError where the tensor requires none.
        """
        hooks = self._gradient_hooks()
        number = self.output_nr
        return register(hooks.arriving.setdefault(number, {}), hook)

    def register_post_accumulate_grad_hook(self: Any, hook: Hook) -> RemovableHandle:
        """`hook(tensor)` is called whenever `.grad` of this leaf has been added to."""
        if self.grad_fn is not None:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        return register(self._gradient_hooks().accumulated, hook)

    def _gradient_hooks(self: Any) -> GradientHooks:
        if not self._layout.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is None:
            if not hasattr(self, "_hooks"):
                self._hooks = GradientHooks()
            return self._hooks
        if self.grad_fn.hooks is None:
            self.grad_fn.hooks = GradientHooks()
        return self.grad_fn.hooks

    @property
    def retains_grad(self: Any) -> bool:
        return self.grad_fn is not None and self.grad_fn.retains(self)


def _check_grad(tensor: Any, grad: Any) -> None:
    if not isinstance(grad, History):
        raise TypeError(
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(grad).__name__}"
        )
    if grad is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad.dtype is not tensor.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{grad.dtype.title.lower()}' to a "
            f"tensor with dtype '{tensor.dtype.title.lower()}'"
        )
    if grad.shape != tensor.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(grad.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the "
            "same size"
        )
