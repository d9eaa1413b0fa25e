"""What loop bodies ask of `ops`, and what each handler answers: bodies watched while they run.

In: a nest, and anything that runs its bodies under a handler.  Out: `questions(nest)`, the body as
the questions it asks, and `heard(...)`, the answers of one kind of handler to them.
Invariant: a body asks every handler the same questions in the same order, and following changes no
answer: the handler does not know of it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .. import dtypes
from ..graph import Node as GraphNode
from .deps import Node
from .handlers import Handler
from .ir import Expr, ops, using
from .nest import Nest
from .parts import ENDS

Tell = Callable[[Handler, str, tuple[Any, ...], Any], None]


class _Followed:
    """Stands before a handler: hands questions on, and tells each one with its answer."""

    def __init__(self, handler: Handler, tell: Tell) -> None:
        self._handler, self._tell = handler, tell

    def __getattr__(self, word: str) -> Callable[..., Any]:
        asked = getattr(self._handler, word)

        def answer(*args: Any) -> Any:
            answered = asked(*args)
            self._tell(self._handler, word, args, answered)
            return answered

        return answer


@contextmanager
def follow(tell: Tell) -> Iterator[None]:
    """`tell(handler, word, args, answer)` for every question that a body asks inside."""
    before, ops.listener = ops.listener, lambda handler: _Followed(handler, tell)
    try:
        yield
    finally:
        ops.listener = before


@dataclass(frozen=True)
class Heard:
    """One question and its answer. `seen` is what was to be seen of the handler after it."""

    word: str
    args: tuple[Any, ...]
    answer: Any
    seen: Any


def heard(kind: type[Handler], run: Callable[[], Any],
          look: Callable[[Any, tuple[Any, ...]], Any] = lambda handler, args: None) -> list[Heard]:
    """What bodies ask handlers of this kind while `run()` lasts; others are not listened to.
    `look(handler, args)` is called after each answer.
    """
    found: list[Heard] = []

    def tell(handler: Handler, word: str, args: tuple[Any, ...], answer: Any) -> None:
        if isinstance(handler, kind):
            found.append(Heard(word, args, answer, look(handler, args)))

    with follow(tell):
        run()
    return found


# ---- the questions themselves --------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """`v2 = ops.add(v0, v1)`: `word` is "add", `args` are texts, `name` is what the answer is
    called ("" where there is none), `node` the graph node that asks.
    """

    word: str
    args: tuple[str, ...]
    name: str
    node: GraphNode | None

    def __str__(self) -> str:
        call = f"ops.{self.word}({', '.join(self.args)})"
        return f"{self.name} = {call}" if self.name else call


@dataclass
class Body:
    """One node's body in its nest: in which pass, and "before" or "inside" its inner loop; or
    after the last row, and then the part that it plays."""

    node: Node
    number: int
    level: str
    questions: list[Question] = field(default_factory=list)


class _Namer(Handler):
    """Values are names: v0, v1, ..."""

    def __init__(self) -> None:
        self.count = 0

    def _next(self) -> str:
        self.count += 1
        return f"v{self.count - 1}"

    def op(self, name: str, *args: str) -> str:
        return self._next()

    def constant(self, value: Any, dtype: dtypes.dtype) -> str:
        return self._next()

    def to_dtype(self, value: str, dtype: dtypes.dtype) -> str:
        return self._next()

    def index(self, expr: Expr, dtype: dtypes.dtype) -> str:
        return self._next()

    def load(self, buffer: str, at: Expr) -> str:
        return self._next()

    def store(self, buffer: str, at: Expr, value: str) -> None:
        return None

    def reduce(self, buffer: str, at: Expr, kind: str, value: str) -> None:
        return None

    def scan(self, buffer: str, at: Expr, kind: str, value: str) -> None:
        return None

    def scatter(self, buffer: str, at: Expr, value: str, add: bool) -> None:
        return None


def questions(nest: Nest) -> list[Body]:
    """The bodies of a nest, in the order in which they run, as the questions they ask."""
    bodies: list[Body] = []

    def tell(handler: Handler, word: str, args: tuple[Any, ...], answer: Any) -> None:
        texts = tuple(map(_text, args[1:] if word == "op" else args))
        name = args[0] if word == "op" else word
        called = str(answer or "")
        bodies[-1].questions.append(Question(name, _quoted(name, texts), called, ops.node))

    with follow(tell), using(_Namer()):
        for number, step in enumerate(nest.passes):
            for level, nodes in (("before", step.before), ("inside", step.inside)):
                for node in nodes:
                    bodies.append(Body(node, number, level))
                    nest.run(node)
        for part in ENDS:
            for node in nest.ends:
                if nest.parts[node] == part:
                    bodies.append(Body(node, len(nest.passes), part))
                    nest.run(node)
    return bodies


def _text(value: Any) -> str:
    return value.name if isinstance(value, dtypes.dtype) else str(value)


def _quoted(word: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Names of buffers and reductions are texts; those of values are variables."""
    quoted = {
        "load": (0,), "store": (0,), "scatter": (0,), "place": (0,), "reduce": (0, 2),
        "scan": (0, 2),
    }.get(word, ())
    return tuple(f'"{text}"' if k in quoted else text for k, text in enumerate(texts))
