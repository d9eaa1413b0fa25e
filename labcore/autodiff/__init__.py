"""Differentiation ahead of time: of a captured graph, one inference graph, or forward and backward.

aot.py        the way from graph to callable   joint.py      forward and gradients in one graph
aliases.py    outputs that are views           partition.py  where the joint graph is cut
passes.py     clean-ups, Graph to Graph        mincut.py     where that saves the fewest bytes
runtime.py    what runs on a call, and later   rules.py      what is not computed again, and why
              on backward()                    options.py    what the caller may choose
"""
from .aliases import Split, split_aliases
from .aot import aot_compile
from .joint import Joint, trace_joint
from .options import AutodiffOptions
from .partition import Cut, Decision, Saved, cut_at, default_partition
from .runtime import run_by_operators

__all__ = [
    "AutodiffOptions",
    "Cut",
    "Decision",
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
