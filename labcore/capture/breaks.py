"""How a handler says that it cannot go on: capture stops, or CPython raises.

In: the id of a reason and its particulars; or an error.  Out: a `Break`, which becomes a GraphBreak
event or, under fullgraph=True, `Unsupported`; or `WouldRaise`.
Invariant: the reason is one of `reasons.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..trace import GraphBreak, Origin
from .reasons import REASONS

if TYPE_CHECKING:
    from .variables import ExceptionVariable


class Break(Exception):
    """Capture ends before this instruction: it is CPython's to run."""

    def __init__(self, id: str, **particulars: object) -> None:
        reason = REASONS[id]
        self.id = id
        self.what, self.why, self.hint, self.leave = (
            _with_articles(text.format(**particulars))
            for text in (reason.what, reason.why, reason.hint, reason.leave)
        )
        self.origin: Origin | None = None
        self.callers: list[Origin] = []  # the calls that led there, outermost first
        # The stack to leave, for an instruction of which only the truth test is CPython's.
        self.half_done: list[Any] | None = None
        self.step: int | None = None  # of an earlier instruction, to stop before it
        super().__init__(self.what)

    def event(self, error: bool = False) -> GraphBreak:
        """What is told of it. Where a break is an error, to leave it is no advice."""
        hint = self.hint
        if self.leave and not error:
            hint = f"{hint.removesuffix('.')}, or leave it: {self.leave}"
        return GraphBreak(self.id, self.what, self.why, hint, self.origin, self.callers)


def _with_articles(text: str) -> str:
    """ "an iterator" where a particular was filled in after "a". A class may be called A."""
    return re.sub(r"\ba (?=[aeioAEIO]\w)", "an ", text)


class WouldRaise(Exception):
    """CPython raises at this instruction. A handler of the user's may catch it, and go on.

    `error` is what CPython would raise, in type; with `exact`, in its arguments too. `variable` is
    an exception that the captured code has made itself. `again`: it goes on after a handler that
    did not want it. Neither: it existed before, so CPython is to raise it.
    """

    def __init__(
        self,
        error: BaseException | None = None,
        exact: bool = False,
        variable: ExceptionVariable | None = None,
        again: bool = False,
    ) -> None:
        self.error, self.exact, self.variable, self.again = error, exact, variable, again
        self.origin: Origin | None = None
        super().__init__(type(error).__name__ if variable is None else variable.kind)

    def let_go(self) -> None:
        """Keep nothing of the call's values: only what is raised, in words."""
        self.error = self.variable = self.__context__ = self.__cause__ = None
        self.__traceback__ = None


# What a tensor says or does as part of the tape.
AUTOGRAD = frozenset(
    "backward detach_ grad grad_fn is_leaf register_hook requires_grad_ retain_grad "
    "retains_grad".split()
)


def no_rule(name: str) -> Break:
    """Why capture has no rule for a tensor's attribute."""
    if name in AUTOGRAD:
        return Break("autograd-call", name=name)
    return Break("unknown-method", name=name)
