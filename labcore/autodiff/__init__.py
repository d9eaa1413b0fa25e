"""Differentiation ahead of time: a captured graph becomes one inference graph, or a forward and a backward graph."""
from .aliases import Split as Split, split_aliases as split_aliases
from .aot import aot_compile as aot_compile
from .joint import Joint as Joint, trace_joint as trace_joint
from .partition import Cut as Cut, Saved as Saved, cut_at as cut_at, default_partition as default_partition
