"""How a schedule came about: which nodes shared a nest after each verdict, and what that cost.

In: a `Program`.  Out: `Moment`s, the first before anything was tried, then one for each pair in the
order in which the scheduler tried them.
Invariant: the last moment is the schedule, its groups and its ledger; costs are counted, not added
up from what verdicts say they save.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .deps import Group, dependencies, nodes_of, users_of
from .ledger import TABLES, Ledger, count_nest
from .nest import Nest
from .options import DEFAULT, FusionOptions
from .program import Program
from .scheduler import Fusing, Trial, most_saved, step_of


@dataclass(frozen=True)
class Moment:
    """`trial` is None before the first pair."""

    groups: list[Group]
    ledger: Ledger
    trial: Trial | None = None


def history(program: Program, options: FusionOptions = DEFAULT) -> list[Moment]:
    """The moments of `schedule(program, options=options)`."""
    nodes = nodes_of(program)
    groups, users = [Group.of(node) for node in nodes], users_of(nodes)
    fusing = Fusing(groups, dependencies(nodes), users, most_saved, options)
    fusing.run()
    nests: dict[Group, Nest] = {}

    def ledger(groups: Iterable[Group]) -> Ledger:
        total = Ledger(itemsize={b.name: b.dtype.itemsize for b in program.buffers.values()})
        for group in groups:
            step = nests.get(group) or step_of(group, program.buffers, users)
            if isinstance(step, Nest):
                nests[group] = step
                count = count_nest(step)
                total.add({name: getattr(count, name) for name in TABLES})
        return total

    moments = [Moment(groups, ledger(groups))]
    for trial in fusing.tried:
        if trial.fused is not None:
            groups = [trial.fused if g is trial.a else g for g in groups if g is not trial.b]
        moments.append(Moment(groups, ledger(groups), trial))
    return moments
