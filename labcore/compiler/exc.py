"""The errors of compiling, named as in PyTorch (`torch._dynamo.exc`)."""

from __future__ import annotations

from types import FunctionType

from ..capture import Break
from ..capture.marked import Violation
from ..trace.text import graph_breaks


class CompileError(RuntimeError):
    """Base of what compiling can raise."""


class Unsupported(CompileError):
    """fullgraph=True, and capture had to stop. The text is the graph break's."""

    def __init__(self, stop: Break) -> None:
        self.event = stop.event(error=True)
        super().__init__(graph_breaks(self.event))


class FailOnRecompileLimitHit(CompileError):
    """fullgraph=True, and the function has as many variants as it may have."""


class RecompileForbidden(CompileError):
    """The stance is fail_on_recompile, and no variant fits a call."""

    def __init__(self, function: FunctionType, reasons: list[str]) -> None:
        code = function.__code__
        text = (
            "Detected recompile when torch.compile stance is 'fail_on_recompile'. filename: "
            f"{code.co_filename!r}, function name: {code.co_name!r}, line number: "
            f"{code.co_firstlineno}"
        )
        if reasons:
            text += "\n    triggered by the following guard failure(s):"
        super().__init__("\n    - ".join([text, *reasons]))


class BackendCompilerFailed(CompileError):
    """The backend raised; its error is `__cause__`."""

    def __init__(self, backend: str, error: BaseException) -> None:
        super().__init__(f"backend={backend!r} raised:\n{type(error).__name__}: {error}")


class ConstraintViolationError(CompileError):
    """A size that was marked as dynamic is a constant of the variant, is not what it was said to
    be, or the program does not work for all that it was said to be."""

    def __init__(self, violations: list[Violation]) -> None:
        names = ", ".join(violation.source for violation in violations)
        parts = [f"Constraints violated ({names})!"]
        for violation in violations:
            parts.append(f"  - {violation.text}")
            origin = violation.origin
            if origin is not None:
                parts.append(f"    from user code: {origin.file_name}:{origin.line}  {origin.code}")
        super().__init__("\n".join(parts))


class PaddingError(CompileError):
    """A function under `bucketed` gives something else when its arguments are padded."""


class InvalidBackend(CompileError):
    """No backend of that name."""


class InternalError(CompileError):
    """The lab contradicts itself: a bug of the lab, never of its user."""
