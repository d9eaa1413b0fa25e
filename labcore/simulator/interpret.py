"""A kernel's text, run statement by statement for many threads at once.

In: the syntax tree of a kernel and of the device functions it calls; the lanes; the arguments.
Out: what the kernel writes.
A value is one number for all threads, or a vector with one for each. An `if` or a loop whose
condition differs from thread to thread is run under a mask, as the hardware does: first those for
whom it holds, then the others; the rest wait.
Invariant: a thread that does not take part reads nothing, writes nothing and keeps its variables.
Only what the printers print is known; anything else is `Unsupported`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import OutOfBounds, Unsupported
from .lanes import Lanes
from .memory import Global, Local, Shared
from .words import KINDS, NUMBERS, WORDS

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.RShift: operator.rshift, ast.LShift: operator.lshift, ast.Pow: operator.pow,
}
COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}
UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.Not: np.logical_not, ast.Invert: np.invert,
}


class Threads:
    """One run of a kernel by some blocks; `memory` are its shared and local arrays."""

    def __init__(self, lanes: Lanes, functions: dict[str, ast.FunctionDef], blocks: int) -> None:
        self.lanes, self.functions, self.blocks = lanes, functions, blocks
        self.variables: dict[str, Any] = {}
        self.memory: dict[str, Local | Shared] = {}

    def run(self, kernel: ast.FunctionDef, arguments: dict[str, Any]) -> None:
        self.variables = dict(arguments)
        for statement in kernel.body:
            self.execute(statement)

    # ---- statements ----

    def execute(self, node: ast.stmt) -> None:
        self.lanes.line = node.lineno
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(name, value)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=at)]):
                self.variables[name].store(self.lanes, self.value(at), self.value(node.value))
            case ast.If():
                self.branch(node)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=bounds)):
                self.loop(name, [self.value(bound) for bound in bounds], node.body)
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise Unsupported(self.lanes.tell(
                    f"{type(node).__name__} is no statement of a kernel's text"))

    def assign(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Call) and _array_kind(value):
            self.variables[name] = self.array(name, value)
            return
        self.set(name, self.value(value))

    def set(self, name: str, value: Any) -> None:
        """A variable of the active threads; the others keep what they have."""
        lanes, old = self.lanes, self.variables.get(name)
        partial = len(lanes.active) < int(lanes.real.sum())
        if partial and old is not None and old is not value:
            value = np.where(lanes.mask, value, old)
        self.variables[name] = value

    def branch(self, node: ast.If) -> None:
        condition = self.value(node.test)
        if not _is_vector(condition):
            for statement in node.body if condition else node.orelse:
                self.execute(statement)
            return
        lanes = self.lanes
        for mask, body in ((lanes.mask & condition, node.body),
                           (lanes.mask & ~condition, node.orelse)):
            if body and mask.any():
                with lanes.only(mask):
                    for statement in body:
                        self.execute(statement)

    def loop(self, name: str, bounds: list[Any], body: list[ast.stmt]) -> None:
        start, stop, step = {1: [0, *bounds, 1], 2: [*bounds, 1], 3: bounds}[len(bounds)]
        if not any(map(_is_vector, (start, stop, step))):
            for turn in range(int(start), int(stop), int(step)):
                self.set(name, turn)
                for statement in body:
                    self.execute(statement)
            return
        lanes, turns = self.lanes, lanes_of(self.lanes, start).copy()
        while True:
            mask = lanes.mask & (turns < stop)
            if not mask.any():
                return
            with lanes.only(mask):
                self.set(name, turns.copy())
                for statement in body:
                    self.execute(statement)
            turns = turns + step

    # ---- expressions ----

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.name(name)
            case ast.BinOp(left=left, op=op, right=right):
                return BINARY[type(op)](self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return UNARY[type(op)](self.value(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return COMPARE[type(op)](self.value(left), self.value(right))
            case ast.Subscript(value=ast.Name(id=name), slice=at):
                return self.variables[name].load(self.lanes, self.value(at))
            case ast.IfExp():
                return self.choice(node)
            case ast.Call():
                return self.call(node)
            case ast.Attribute(value=ast.Attribute(attr=which), attr=axis):
                return self.place(which, axis)
            case _:
                raise Unsupported(self.lanes.tell(
                    f"{ast.unparse(node)} is no expression of a kernel's text"))

    def name(self, name: str) -> Any:
        if name in self.variables:
            return self.variables[name]
        if name in NUMBERS:
            return NUMBERS[name]
        raise Unsupported(self.lanes.tell(f"{name} has no value here"))

    def place(self, which: str, axis: str) -> Any:
        """cuda.threadIdx.x and its like."""
        if which in ("blockDim", "gridDim"):
            sizes = self.lanes.size if which == "blockDim" else self.lanes.grid
            return sizes["xy".index(axis)]
        return self.lanes.indices[f"{which}.{axis}"]

    def choice(self, node: ast.IfExp) -> Any:
        """`a if c else b`: a thread computes only the side that it takes."""
        condition = self.value(node.test)
        if not _is_vector(condition):
            return self.value(node.body if condition else node.orelse)
        sides = []
        for mask, side in ((self.lanes.mask & condition, node.body),
                           (self.lanes.mask & ~condition, node.orelse)):
            with self.lanes.only(mask):
                sides.append(self.value(side) if mask.any() else None)
        yes, no = sides
        return no if yes is None else yes if no is None else np.where(condition, yes, no)

    def call(self, node: ast.Call) -> Any:
        arguments = [self.argument(a) for a in node.args]
        name = ast.unparse(node.func)
        if name in WORDS:
            return WORDS[name](*arguments)
        if name in self.functions:
            return self.function(self.functions[name], arguments)
        if name == "cuda.syncthreads":
            return self.lanes.barrier()
        if name == "cuda.syncwarp":
            return self.lanes.warp_barrier()
        if name == "cuda.shfl_xor_sync":
            return self.lanes.shuffled(arguments[1], arguments[2])
        if name == "cuda.atomic.add":
            return arguments[0].atomic_add(self.lanes, *arguments[1:])
        if name == "aligned":
            return arguments[0].aligned(arguments[1])
        if (found := re.fullmatch(r"(load|store)(\d)", name)) is not None:
            return self.move(found[1], int(found[2]), *arguments)
        if name == "check_index":
            return self.check_index(*arguments)
        raise Unsupported(self.lanes.tell(f"{name} is no word of a kernel's text"))

    def move(self, verb: str, count: int, array: Global, at: Any, own: Local, start: Any) -> None:
        """So many elements at once, between an array and a thread's own one."""
        if verb == "store":
            values = [own.load(self.lanes, start + k) for k in range(count)]
            return array.store_word(self.lanes, at, values)
        for k, value in enumerate(array.load_word(self.lanes, at, count)):
            own.store(self.lanes, start + k, value)

    def argument(self, node: ast.expr) -> Any:
        """An array is given as it is."""
        return self.name(node.id) if isinstance(node, ast.Name) else self.value(node)

    def function(self, function: ast.FunctionDef, arguments: list[Any]) -> Any:
        """A device function, with variables of its own; what it returns, it returns at its end."""
        outside, line = self.variables, self.lanes.line
        self.variables = dict(zip([a.arg for a in function.args.args], arguments, strict=True))
        result = None
        for statement in function.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                self.lanes.line = statement.lineno
                result = self.value(statement.value)
            else:
                self.execute(statement)
        self.variables, self.lanes.line = outside, line
        return result

    def check_index(self, index: Any, size: Any) -> None:
        outside = self.lanes.whole((index < 0) | (index >= size)) & self.lanes.mask
        if outside.any():
            which = int(np.argmax(outside))
            raise OutOfBounds(self.lanes.tell(
                f"{self.lanes.person(which)} has index {self.lanes.whole(index)[which]}, which is "
                f"out of range: the size is {size}"))

    def array(self, name: str, node: ast.Call) -> Local | Shared:
        size, kind = node.args
        count, dtype = int(self.value(size)), KINDS[ast.unparse(kind)]
        if _array_kind(node) == "shared":
            self.memory[name] = Shared(name, self.blocks, count, dtype)
        else:
            self.memory[name] = Local(name, self.lanes.shape[0], count, dtype)
        return self.memory[name]


def lanes_of(lanes: Lanes, value: Any) -> np.ndarray:
    return np.asarray(lanes.whole(value), np.int64)


def _is_vector(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _array_kind(node: ast.Call) -> str:
    """"shared" or "local" of a call that declares an array."""
    text = ast.unparse(node.func)
    return text.split(".")[1] if text in ("cuda.shared.array", "cuda.local.array") else ""
