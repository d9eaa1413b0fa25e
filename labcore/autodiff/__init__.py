"""Differentiation ahead of time: of a captured graph, one inference graph, or forward and backward.

aot.py        the way from graph to callable   joint.py      forward and gradients in one graph
aliases.py    outputs that are views           partition.py  where the joint graph is cut
passes.py     clean-ups, Graph to Graph        mincut.py     where that saves the fewest bytes
backward.py   compiled on first use            rules.py      what is not computed again, and why
runtime.py    what runs on a call, and later   options.py    what the caller may choose
              on backward()
"""
from .aliases import Split, split_aliases
from .aot import aot_compile
from .backward import run_by_operators
from .joint import Joint, trace_joint
from .options import AutodiffOptions
from .partition import Cut, Decision, Saved, cut_at, default_partition

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
