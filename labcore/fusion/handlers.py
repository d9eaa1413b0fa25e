"""What `ops` can be: each handler is one meaning of a loop body; the bodies never change.

Handler   the protocol: what a body may call
Reads     the accesses, for dependencies and for the rules that realize
Dtypes    the type of every value; refuses a body whose types do not agree
Printer   the common half of all printers, codegen's included
`ledger.py` has the counting handler, `show.py` the teaching view, `interpret.py` the interpreter in
pure Python, the oracle of all others.
Invariant: a handler never looks into a body; it is told everything through these calls.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import dtypes
from ..shapes import SymNumber
from .ir import Buffer, Expr
from .primitives import DIVISIONS, PRIMITIVES


def lacking(handler: Handler, word: str) -> NotImplementedError:
    """What is raised where a body asks for a word that the handler does not have."""
    kind = type(handler).__name__
    return NotImplementedError(f"{kind} has no `{word}`, which this loop body asks for")


class Handler:
    """Everything a loop body may ask for. `op` gets each primitive of the table by name."""

    def op(self, name: str, *args: Any) -> Any:
        raise lacking(self, "op")

    def constant(self, value: Any, dtype: dtypes.dtype) -> Any:
        """A number of Python's, or a symbolic one, which is the same in all turns of all loops."""
        raise lacking(self, "constant")

    def to_dtype(self, value: Any, dtype: dtypes.dtype) -> Any:
        raise lacking(self, "to_dtype")

    def index(self, expr: Expr, dtype: dtypes.dtype) -> Any:
        """An index or a size as a value."""
        raise lacking(self, "index")

    def place(self, name: str, value: Any, size: Expr) -> Expr:
        """A value as an index: `name` stands for it in offsets. Running the body raises IndexError
        unless it lies in [0, size)."""
        return Expr.of(name)

    def load(self, buffer: str, at: Expr) -> Any:
        raise lacking(self, "load")

    def store(self, buffer: str, at: Expr, value: Any) -> None:
        raise lacking(self, "store")

    def reduce(self, buffer: str, at: Expr, kind: str, value: Any) -> None:
        """Combine `value` into the element at `at`."""
        raise lacking(self, "reduce")

    def scan(self, buffer: str, at: Expr, kind: str, value: Any) -> None:
        """Combine `value` with what the turn before had, and store that."""
        raise lacking(self, "scan")

    def scatter(self, buffer: str, at: Expr, value: Any, add: bool) -> None:
        """Store at a place, or add to what is there, turn by turn."""
        raise lacking(self, "scatter")


class Quiet(Handler):
    """Values are nothing: the base of handlers that only watch accesses."""

    def op(self, name: str, *args: Any) -> Any:
        return None

    def constant(self, value: Any, dtype: dtypes.dtype) -> Any:
        return None

    def to_dtype(self, value: Any, dtype: dtypes.dtype) -> Any:
        return None

    def index(self, expr: Expr, dtype: dtypes.dtype) -> Any:
        return None


class Reads(Quiet):
    """Records what a body touches and how much it computes."""

    def __init__(self) -> None:
        self.loads: list[tuple[str, Expr]] = []
        self.stores: list[tuple[str, Expr]] = []
        self.indices: list[Expr] = []
        self.places: dict[str, Expr] = {}  # the sizes that they must be below
        self.ops = 0
        self.heavy: list[str] = []
        self.divisions: list[str] = []

    def op(self, name: str, *args: Any) -> None:
        self.ops += 1
        if PRIMITIVES[name].heavy:
            self.heavy.append(name)
        elif name in DIVISIONS:
            self.divisions.append(name)

    def index(self, expr: Expr, dtype: dtypes.dtype) -> None:
        self.indices.append(expr)

    def place(self, name: str, value: Any, size: Expr) -> Expr:
        self.places[name] = size
        return Expr.of(name)

    def load(self, buffer: str, at: Expr) -> None:
        self.loads.append((buffer, at))

    def store(self, buffer: str, at: Expr, value: Any) -> None:
        self.stores.append((buffer, at))

    def reduce(self, buffer: str, at: Expr, kind: str, value: Any) -> None:
        self.stores.append((buffer, at))

    def scan(self, buffer: str, at: Expr, kind: str, value: Any) -> None:
        self.stores.append((buffer, at))

    def scatter(self, buffer: str, at: Expr, value: Any, add: bool) -> None:
        self.stores.append((buffer, at))


class Dtypes(Handler):
    """The dtype of every value. Raises TypeError where a body should have cast."""

    def __init__(self, buffers: Mapping[str, Buffer]) -> None:
        self.buffers = buffers

    def op(self, name: str, *args: dtypes.dtype) -> dtypes.dtype:
        must_agree = args[1:] if name == "where" else args
        if any(a is not must_agree[0] for a in must_agree) or (
            name == "where" and args[0] is not dtypes.bool
        ):
            raise TypeError(
                f"loop body: {name}({', '.join(a.name for a in args)}) mixes types without a cast"
            )
        if name != "where" and must_agree[0].is_half:
            raise TypeError(f"loop body: {name} computes in {must_agree[0].name}, not in float32")
        return PRIMITIVES[name].dtype(*args)

    def constant(self, value: Any, dtype: dtypes.dtype) -> dtypes.dtype:
        return dtype

    def to_dtype(self, value: dtypes.dtype, dtype: dtypes.dtype) -> dtypes.dtype:
        if value is not dtype and dtypes.float32 not in (value, dtype):
            if value.is_half or dtype.is_half:
                raise TypeError(f"loop body: {value.name} becomes {dtype.name}, not by float32")
        return dtype

    def index(self, expr: Expr, dtype: dtypes.dtype) -> dtypes.dtype:
        return dtype

    def load(self, buffer: str, at: Expr) -> dtypes.dtype:
        return self.buffers[buffer].dtype

    def store(self, buffer: str, at: Expr, value: dtypes.dtype) -> None:
        wanted = self.buffers[buffer].dtype
        if value is not wanted:
            raise TypeError(f"loop body: stores {value.name} into {self.buffers[buffer]}")

    def reduce(self, buffer: str, at: Expr, kind: str, value: dtypes.dtype) -> None:
        self.store(buffer, at, value)

    def scan(self, buffer: str, at: Expr, kind: str, value: dtypes.dtype) -> None:
        self.store(buffer, at, value)

    def scatter(self, buffer: str, at: Expr, value: dtypes.dtype, add: bool) -> None:
        self.store(buffer, at, value)

    def place(self, name: str, value: dtypes.dtype, size: Expr) -> Expr:
        if value not in (dtypes.int64, dtypes.int32):
            raise TypeError(f"loop body: {name} is an index, but {value.name}")
        return Expr.of(name)


class Name(str):
    """The spelling of a value in a printed kernel, with the value's dtype."""

    dtype: dtypes.dtype

    def __new__(cls, text: str, dtype: dtypes.dtype) -> Name:
        self = super().__new__(cls, text)
        self.dtype = dtype
        return self


class Printer(Handler):
    """Common half of all printers: one statement a line, each computed once, and what was just
    stored is in hand.

    A subclass says how to spell a primitive (`spell`), a constant, a cast, a load that really reads
    memory (`read`), a store and a reduction, and where a statement goes (`put`, told whether the
    value varies along the inner loop).
    """

    prefix = "tmp"

    def __init__(self, buffers: Mapping[str, Buffer], inner_vars: Iterable[str] = ()) -> None:
        self.buffers, self.inner_vars = buffers, set(inner_vars)
        self.memo: dict[tuple, Name] = {}  # (op, args) -> variable
        self.held: dict[tuple[str, Expr], Name] = {}  # (buffer, offset) -> a value already in hand
        self.varying: set[str] = set()  # variables that change along the inner loop
        self.places: dict[str, Name] = {}  # indices that are values -> the variables they are in
        self.count = 0

    # ---- for the subclass ----

    def put(self, varies: bool, text: str) -> None:
        """Append a statement, inside the inner loop or before it. `ops.node` is its graph node."""
        raise NotImplementedError

    def spell(self, name: str, args: tuple[Name, ...], dtype: dtypes.dtype) -> str:
        return PRIMITIVES[name].text.format(*args)

    def spell_cast(self, value: Name, dtype: dtypes.dtype) -> str:
        return f"{dtype.name}({value})"

    def spell_index(self, expr: Expr, dtype: dtypes.dtype) -> str:
        return f"{dtype.name}({expr})"

    def read(self, buffer: str, at: Expr) -> str:
        return f"{self.buffers[buffer].storage}[{self.spell_offset(at)}]"

    # ---- shared ----

    def let(self, key: tuple, text: str, dtype: dtypes.dtype) -> Name:
        """A variable that holds `text`; the same key gives the same variable."""
        if key not in self.memo:
            varies = any(self._varies(part) for part in key)
            name = self.memo[key] = Name(f"{self.prefix}{self.count}", dtype)
            self.count += 1
            if varies:
                self.varying.add(name)
            self.put(varies, f"{name} = {text}")
        return self.memo[key]

    def _varies(self, part: Any) -> bool:
        if isinstance(part, Expr):
            return any(s in self.inner_vars or self.moves(s) for s in part.symbols)
        if isinstance(part, tuple):
            return any(map(self._varies, part))
        return isinstance(part, Name) and part in self.varying

    def moves(self, symbol: str) -> bool:
        """Is it a place that changes along the inner loop?"""
        return self.places.get(symbol) in self.varying

    def next_pass(self) -> None:
        """Forget what lived in the inner loop that just ended."""
        self.memo = {k: v for k, v in self.memo.items() if v not in self.varying}
        self.held = {k: v for k, v in self.held.items() if v not in self.varying}

    def begin_end(self, completed: Mapping[tuple[str, Expr], bool]) -> None:
        """The last row is done: of all that was in hand, only the results of all rows are."""
        self.memo, self.held = {}, {}
        for (buffer, at), varies in completed.items():
            self.held[buffer, at] = name = Name(buffer, self.buffers[buffer].dtype)
            if varies:
                self.varying.add(name)

    def dtype_of(self, name: str, args: Iterable[Name]) -> dtypes.dtype:
        """What a primitive makes of its arguments."""
        return PRIMITIVES[name].dtype(*(a.dtype for a in args))

    def op(self, name: str, *args: Name) -> Name:
        dtype = self.dtype_of(name, args)
        return self.let((name, args), self.spell(name, args, dtype), dtype)

    def constant(self, value: Any, dtype: dtypes.dtype) -> Name:
        return Name(f"{dtype.name}({value!r})", dtype)

    def number(self, value: SymNumber, dtype: dtypes.dtype) -> Name:
        """A number that the kernel is given, in the type wanted."""
        return self.let(("number", value.text, dtype.name), self.spell_number(value, dtype), dtype)

    def spell_number(self, value: SymNumber, dtype: dtypes.dtype) -> str:
        return f"{dtype.name}({value})"

    def to_dtype(self, value: Name, dtype: dtypes.dtype) -> Name:
        if value.dtype is dtype:
            return value
        return self.let(("to_dtype", value, dtype.name), self.spell_cast(value, dtype), dtype)

    def index(self, expr: Expr, dtype: dtypes.dtype) -> Name:
        return self.let(("index", expr, dtype.name), self.spell_index(expr, dtype), dtype)

    def place(self, name: str, value: Name, size: Expr) -> Expr:
        if name not in self.places:
            self.check(value, size)
        self.places[name] = value
        return Expr.of(name)

    def check(self, value: Name, size: Expr) -> None:
        """The statement that raises unless 0 <= value < size."""
        self.put(value in self.varying, f"check_index({value}, {self.spell_offset(size)})")

    def spell_offset(self, at: Expr) -> str:
        """An offset or a size, with the variables that hold its places."""
        return str(at.subs({s: Expr.of(str(self.places[s])) for s in at.symbols & {*self.places}}))

    def load(self, buffer: str, at: Expr) -> Name:
        if (buffer, at) not in self.held:
            self.held[buffer, at] = self.let(
                ("load", buffer, at), self.read(buffer, at), self.buffers[buffer].dtype
            )
        return self.held[buffer, at]
