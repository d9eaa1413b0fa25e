"""How a schedule came about: which nodes shared a nest after each verdict, and what that cost.

In: a `Program`.  Out: `Moment`s, the first before anything was tried, then one for each pair in the
order in which the scheduler tried them.
Invariant: the last moment is the schedule, its groups and its ledger; costs are counted, not added
up from what verdicts say they save.
"""
from __future__ import annotations

from dataclasses import dataclass

from .deps import Group, dependencies, nodes_of, users_of
from .ledger import TABLES, Ledger, count_nest
from .nest import Nest
from .options import DEFAULT, FusionOptions
from .program import Extern, Program
from .scheduler import Fusing, Trial, most_saved, step_of


@dataclass(frozen=True)
class Moment:
    """`stored` are the buffers that the loops of this moment leave in memory; `trial` is None
    before the first pair."""

    groups: list[Group]
    stored: list[str]
    ledger: Ledger
    trial: Trial | None = None


def history(program: Program, options: FusionOptions = DEFAULT) -> list[Moment]:
    """The moments of `schedule(program, options=options)`."""
    nodes = nodes_of(program)
    groups, users = [Group.of(node) for node in nodes], users_of(nodes)
    fusing = Fusing(groups, dependencies(nodes), users, most_saved, options)
    fusing.run()
    steps: dict[Group, Nest | Extern] = {}

    def moment(groups: list[Group], trial: Trial | None) -> Moment:
        for group in groups:
            if group not in steps:
                steps[group] = step_of(group, program.buffers, users)
        now = [steps[group] for group in groups]
        total = Ledger(itemsize={b.name: b.dtype.itemsize for b in program.buffers.values()})
        for step in now:
            if isinstance(step, Nest):
                count = count_nest(step)
                total.add({name: getattr(count, name) for name in TABLES})
        return Moment(groups, [name for step in now for name in step.made], total, trial)

    moments = [moment(groups, None)]
    for trial in fusing.tried:
        if trial.fused is not None:
            groups = [trial.fused if g is trial.a else g for g in groups if g is not trial.b]
        moments.append(moment(groups, trial))
    return moments
