"""The end of a variant: what it returns, or the frames in which it stops, and all that it changed.

In: the result's variable, or symbolic frames.  Out: lines of code after the graph, see `exit.py`.
Invariant: everything is loaded before the graph runs, and changed after it: tensors first, then the
log of effects in its order, then the modes, then the frames.
"""

from __future__ import annotations

from .exit import Exit
from .frame import UNBOUND, SymbolicFrame
from .variables import CellVariable, Constant, Lazy, Variable

# Names that code uses which reads variables by name.
READS_NAMES = frozenset("locals vars dir eval exec breakpoint _getframe currentframe".split())
KEPT = (Constant, Lazy, CellVariable)


class Leaving(Exit):
    """`finish` returns, `stop` leaves the frames standing; either once."""

    def finish(self, variable: Variable) -> str:
        """Python for the result, after `lines`. Raises Break for a value that cannot be made
        anew."""
        self._replay()
        text = self.build(variable)
        self.fill_all()
        self._switch_modes()
        return text

    def stop(self, frames: list[SymbolicFrame], given: int) -> str:
        """Bring the frames up to date; Python for those there are then.

        `given` real frames were there at the start, in the list that the check got.
        """
        texts, writes = [], list[str]()
        self._replay()
        for frame in frames:
            dead = self._dead(frame)
            if frame.home:
                writes += self._update(frame, dead)
                texts.append(frame.home)
            else:
                fast = [Constant(UNBOUND) if v in dead else v for v in frame.fast]
                texts.append(self._frame(frame, fast))
        self.fill_all()
        self._switch_modes()
        self.lines += writes
        kept = sum(bool(frame.home) for frame in frames)
        if given:
            self.lines += [f"leave(F, {kept})"] if kept < given else []
            self.lines += [f"F.append({text})" for text in texts[kept:]]
        return f"[{', '.join(texts)}]"

    def _switch_modes(self) -> None:
        if self.modes.changed:
            self.lines.append(self.modes.statement())

    def _dead(self, frame: SymbolicFrame) -> set[Variable]:
        """What was made inside and nobody will read again need not be made for real."""
        if READS_NAMES & {*frame.code.co_names}:
            return set()
        live = {*frame.table.live[frame.offset]}
        if "super" in frame.code.co_names:  # which looks for the first argument by itself
            live.add(0)
        return {
            variable
            for slot, variable in enumerate(frame.fast)
            if slot not in live and not variable.home and not isinstance(variable, KEPT)
        } - {frame.fast[slot] for slot in live}

    def _frame(self, frame: SymbolicFrame, fast: list[Variable]) -> str:
        code = self.builder.constant(frame.code, f"{frame.code.co_name}_code")
        space = self.builder.constant(frame.namespace, "G")
        parts = [", ".join(map(self.build, values)) for values in (fast, frame.stack)]
        place = f"{frame.offset}, {self.build(frame.exc)}"
        return f"Frame({code}, {space}, [{parts[0]}], [{parts[1]}], {place})"

    def _update(self, frame: SymbolicFrame, dead: set[Variable]) -> list[str]:
        """A frame that was there already: only what changed is written."""
        home, out = frame.home, []
        for slot, (new, old) in enumerate(zip(frame.fast, frame.initial)):
            if new is not old:
                text = "UNBOUND" if new in dead else self.build(new)
                out.append(f"{home}.fast[{slot}] = {text}")
        out.append(f"{home}.stack = [{', '.join(map(self.build, frame.stack))}]")
        if frame.exc is not frame.initial[-1]:
            out.append(f"{home}.exc = {self.build(frame.exc)}")
        return [*out, f"{home}.offset = {frame.offset}"]

    def _replay(self) -> None:
        """What was there before gets what the region did to it, in order: tensors first, as the
        other changes only hand them round."""
        for root, contents, writes, recorded in self.memory.overwritten():
            function = "overwrite_recorded" if recorded else "overwrite"
            names = f"{self.memory.home(root)}, {self.output(contents)}"
            self.lines.append(f"{function}({names}, {writes})")
        for home, contents in self.memory.recorded_twins():
            self.lines.append(f"overwrite_recorded({home}, {self.output(contents)}, 0)")
            self.handed_out.add(contents)
        for effect in self.looker.effects.log:
            parts = [self.build(part) for part in effect.parts]
            self.lines.append(effect.template.format(*parts))
