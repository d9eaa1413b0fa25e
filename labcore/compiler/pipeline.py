"""The table of contents: what happens between a captured graph and something callable.

    capture ─► "eager"      run the captured graph as it is
        └────► "aot_eager"  + autodiff: functional graphs, joint, cut; run by eager operators
                   └──────► "inductor"   + fusion: loops, schedule ─► codegen: kernels, wrapper

In: a `GraphModule` and example inputs, numbers first, then tensors.  Out: a callable taking the
graph's placeholders, returning a tuple. A result that is wrong only from one backend on was broken
by the stage which that backend adds. Each room is imported by the first graph that needs it, so
wrapping a function costs nothing.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

from ..graph import GraphModule
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..autodiff import AutodiffOptions
    from ..fusion import FusionOptions

CompiledGraph = Callable[..., tuple]


def eager(gm: GraphModule, example_inputs: list[Tensor]) -> CompiledGraph:
    """Stop after capture."""
    return gm.forward


def aot_eager(
    gm: GraphModule, example_inputs: list[Tensor], options: dict[str, Any] | None = None
) -> CompiledGraph:
    """Stop after autodiff."""
    from ..autodiff import AutodiffOptions, aot_compile, run_by_operators
    chosen = AutodiffOptions.of(options, "default")
    return aot_compile(gm, example_inputs, run_by_operators, options=chosen)


def inductor(
    gm: GraphModule, example_inputs: list[Tensor], options: dict[str, Any] | None = None
) -> CompiledGraph:
    """The whole way, to kernels."""
    from ..autodiff import aot_compile
    from ..codegen import compile_graph
    autodiff, fusion = inductor_options(options or {})
    compiler = partial(compile_graph, options=fusion)
    return aot_compile(gm, example_inputs, compiler, options=autodiff)


def inductor_options(given: dict[str, Any]) -> tuple[AutodiffOptions, FusionOptions]:
    """Whose each option is."""
    from ..autodiff import AutodiffOptions
    from ..fusion import FusionOptions
    names = [field.name for field in fields(FusionOptions)]
    of_fusion = {name: given[name] for name in names if name in given}
    others = {name: value for name, value in given.items() if name not in of_fusion}
    return AutodiffOptions.of(others, "min_cut", names), FusionOptions(**of_fusion)


def check_options(backend: str, options: dict[str, Any]) -> None:
    """Raises ValueError for what a backend of this module cannot be told."""
    if backend == "eager":
        raise ValueError(f"backend 'eager' has no options, and got {', '.join(map(repr, options))}")
    from ..autodiff import AutodiffOptions
    if backend == "inductor":
        inductor_options(options)
    else:
        AutodiffOptions.of(options, "default")
