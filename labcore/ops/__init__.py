"""The operators: one table, every operator a module attribute (`ops.add`, `ops.relu` ...).

In: numpy arrays, metas, or whatever the interpreter on top of the stack takes.  Out: see `op.py`.
Invariant: importing this package registers all operators and their derivatives; a program adds its
own by `labcore.library`.

    promote     which type comes out            broadcast   which shape and strides come out
    pointwise   element by element              elementwise what these have in common
    formulas    what numpy has no ufunc for     reductions  along axes
    views       other shape, same storage       composites  input, view or copy, by the layout
    linear      matmul                          joining     cat, stack, scatters
    factories   tensors from nothing            random      and from chance
    inplace     the pointwise ones, written into the first operand
    parts       operators written as functions over others
    activations softmax, gelu ...           statistics  var, norms, what normalizes
    losses      what training makes small   products    linear, addmm, attention
    gathers     read and write by index     rows        whole rows by index
    orders      argmax, argsort, cumsum
    windows     windows as a view, padding  convolutions, pools   what is done with windows
    shapes      other names, small changes of shape             places   copies between devices
    derivatives how a rule is written and run   gradient_rules  the rules
"""

from . import (  # noqa: F401  importing them fills the table
    activations,
    composites,
    convolutions,
    factories,
    gathers,
    gradient_rules,
    inplace,
    joining,
    linear,
    losses,
    orders,
    places,
    pointwise,
    pools,
    products,
    random,
    reductions,
    rows,
    shapes,
    statistics,
    views,
    windows,
)
from .op import OPS as OPS, Op as Op
from .tracer import Tracer as Tracer

globals().update(OPS)


def __getattr__(name: str) -> Op:
    if name in OPS:  # added since
        return OPS[name]
    raise AttributeError(f"there is no operator {name!r}; the table has: {', '.join(sorted(OPS))}")
