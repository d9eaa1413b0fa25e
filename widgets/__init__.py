"""The animated views of what the compiler did. Importing this imports ipywidgets, but no numba.

AccessRace       a function as separate passes and fused, access by access
Amortizer        does compiling pay? four sums with sliders, and the figures of your own function
BreakMap         where the graph breaks, and how a call travels through the regions
FusionCourt      which loops became one, pair by pair, and what would turn each verdict round
GridView         a kernel on the simulated card: which threads touch which memory
GuardMatrix      which guard of which variant fails first, and whose line made it
KernelLens       one operation in the source, the graph, the loops, the kernel, the machine code
LaunchTimeline   launches of the CPU beside kernels of the card: eager, compiled, replayed
LoopStepper      one loop body under handler after handler: text, accesses, values, a kernel
SaveOrRecompute  the joint graph, and the cut through it that a memory budget moves
TraceStepper     capture at work: bytecode becomes a graph, and looking costs guards
VariantTheater   calls on their way through guards, variants and the compiler
"""

from .access_race import AccessRace as AccessRace, CannotShow as CannotShow
from .amortizer import Amortizer as Amortizer
from .break_map import BreakMap as BreakMap
from .fusion_court import FusionCourt as FusionCourt
from .grid_view import GridView as GridView
from .guard_matrix import GuardMatrix as GuardMatrix
from .kernel_lens import KernelLens as KernelLens
from .launch_timeline import LaunchTimeline as LaunchTimeline
from .loop_stepper import LoopStepper as LoopStepper
from .save_or_recompute import SaveOrRecompute as SaveOrRecompute
from .trace_stepper import TraceStepper as TraceStepper
from .variant_theater import VariantTheater as VariantTheater

__all__ = [
    "AccessRace",
    "Amortizer",
    "BreakMap",
    "CannotShow",
    "FusionCourt",
    "GridView",
    "GuardMatrix",
    "KernelLens",
    "LaunchTimeline",
    "LoopStepper",
    "SaveOrRecompute",
    "TraceStepper",
    "VariantTheater",
]
