"""Differentiation ahead of time: of a captured graph, one inference graph, or forward and backward.

aot.py        the way from graph to callable   joint.py      forward and gradients in one graph
aliases.py    outputs that are views           partition.py  where the joint graph is cut
passes.py     clean-ups, Graph to Graph        views.py      which nodes are views, of what
runtime.py    what runs on a call, and later on backward()
"""
from .aliases import Split, split_aliases
from .aot import aot_compile
from .joint import Joint, trace_joint
from .partition import Cut, Saved, cut_at, default_partition
from .runtime import run_by_operators

__all__ = [
    "Cut",
    "Joint",
    "Saved",
    "Split",
    "aot_compile",
    "cut_at",
    "default_partition",
    "run_by_operators",
    "split_aliases",
    "trace_joint",
]
