"""Random programs that write in place, and what can be observed of one.

In: a seed.  Out: the program's text, with a way to make its inputs; `observe` runs one.
Every program has views of views, writes to them, tensors that share memory, detached ones, and
blocks without recording; a write that eager mode refuses is part of what is observed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

import labcore as torch
from labcore import compiler
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import GraphBreak, record

from ..capture.differential import strict

VIEWS = {
    1: [
        "{}[1:]", "{}.unsqueeze(0)", "{}[::2]", "{}[0]", "{}.view(-1)", "{}[:-1]", "{}.chunk(2)[1]",
        "{}.unfold(0, 2, 1)", "{}[None]", "{}.expand(2, -1)", "{0}.view_as({0})",
    ],
    2: [
        "{}[0]", "{}.T", "{}[:, 1:]", "{}[1]", "{}[:, 0]", "{}[1:]", "{}[:2]", "{}.view(-1)",
        "{}.unbind(1)[0]", "{}.split(2)[0]", "{}.narrow(0, 1, 2)", "{}[..., -1]", "{}[:, None]",
        "{}.movedim(0, 1)", "{}.reshape(-1)", "{}.T.flatten()", "{}.contiguous()", "{}.flatten()",
        "{}.unfold(0, 2, 2)", "{}.unsqueeze(0).expand(2, -1, -1)",
    ],
    3: [
        "{}[0]", "{}.squeeze(0)", "{}.transpose(0, 2)", "{}.permute(1, 0, 2)", "{}[:, 0]",
        "{}.flatten(0, 1)", "{}[..., 0]",
    ],
}  # fmt: skip
NEW = [
    "{} * 0.5 + 1", "{}.relu()", "{} * c", "{}.sum()", "{}.clone()", "{0} * {0}", "{} * k",
    "{}.exp()", "torch.cat([{0}, {0}])", "{}.softmax(-1)", "{0}.data + 1",
    "torch.stack([{0}, {0}])",
]
WRITES = [
    "{}.add_({n})", "{} *= 0.5", "{}.relu_()", "{}.sub_({o}.sum())", "{}.neg_()", "{}.zero_()",
    "{}.mul_(k)", "{}.add_({o})", "{}.mul_({o})", "{}.copy_({o})", "{}.fill_({n})", "{}[0] = {n}",
    "{}[0] = {}[1]", "{}[1:] = {}[:-1] * 2", "{}.copy_({}.detach() * 2)", "{}.sigmoid_()",
    "{}.clamp_(-1, 1)", "{}.detach().add_(1)", "{} += k", "{}.div_(2)", "{}.pow_(2)",
    "{}[{} > 0] = {n}", "{}[{} > 0] *= 2", "{}[torch.tensor([0, -1])] = {n}", "{}[-1] += k",
    "{}.masked_fill_({} < 0, {n})", "{}.data.mul_(2)", "k.data.add_(1)", "{}.addcmul_({o}, {o})",
    "{}.lerp_({o}, 0.5)", "torch.nn.functional.relu({}, inplace=True)", "{}.tanh_().mul_(k)",
    "{}.unbind(0)[0].mul_(2)", "{}.flatten()[1:].add_(1)", "{}.T.view(-1)[0] = {n}",
    "{}.chunk(2)[1].copy_({}.chunk(2)[0])", "{}[...] = {o}", "{}[::2] *= {o}[::2]",
    "{}.index_add_(0, torch.tensor([0]), {}[1:2] * 2)", "{}[1:].copy_({}[:-1].clone())",
]  # fmt: skip
INPUTS = [
    "x, y = base, other", "x, y = base, other", "x, y = base[:3], base[1:]",
    "x, y = base[1:], base", "x, y = base, base", "x, y = base.T, other",
    "x, y = base[:, 1:], other[0]",
    "x, y = base[0], base[1:]", "x, y = base, base.T", "x, y = base, base.detach()",
    "x, y = base.view(-1)[2:], base[:2].view(-1)", "x, y = base[1:], base.detach()[:3]",
    "x, y = base[::2], base[1::2]", "x, y = base[:, 0], base[:, 1:]", "x, y = base[1:], base[1:]",
    "x, y = base.data, base", "x, y = base[0], base[0].detach()", "x, y = base.T[1:], base[1:].T",
    "x, y = other.expand(2, -1, -1), other",
]  # fmt: skip


SIZES = 4, 4, 5, 6, 4  # how many rows the inputs have, call by call


@dataclass(frozen=True)
class Program:
    """`text` defines `program(x, y, c, k)`; `inputs` is code that binds x and y to parts of `base`
    and `other`; `wanted` says which of base, other and k require grad, `leaf` whether base does so
    itself."""

    text: str
    inputs: str
    wanted: tuple[bool, bool, bool]
    leaf: bool

    def function(self, module: Any = torch) -> Callable[..., Any]:
        scope: dict[str, Any] = {"torch": module, "compiler": compiler}
        exec(self.text, scope)
        program: Callable[..., Any] = scope["program"]
        return program


def generate(seed: int) -> Program:
    """The program of a seed."""
    return _Writer(random.Random(seed)).program()


class _Writer:
    """Writes statements one after the other, each tried on plain tensors for its shape."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.names = ["x", "y"]
        self.inputs = rng.choice(INPUTS)
        self.wanted = (rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.6)
        self.leaf = rng.random() < 0.2
        self.scope = self._probe()

    def program(self) -> Program:
        count = self.rng.randint(3, 9)
        while len(self.lines) < count:
            if self.rng.random() < 0.15:
                self._block()
            elif self.rng.random() < 0.05:
                self.lines.append("compiler.graph_break()")
            else:
                self._add(self._statement(), "")
        names = [n for n in self.names if self.rng.random() < 0.7] or ["x"]
        if self.rng.random() < 0.2:
            names.append(self.rng.choice(names))
        body = "\n".join(f"    {line}" for line in self.lines)
        result = f"    return {', '.join(names)},"
        text = f"def program(x, y, c, k):\n{body}\n{result}\n"
        return Program(text, self.inputs, self.wanted, self.leaf)

    def _block(self) -> None:
        self.lines.append(f"with torch.{self.rng.choice(['no_grad', 'no_grad', 'enable_grad'])}():")
        before = len(self.lines)
        for _ in range(self.rng.randint(1, 3)):
            self._add(self._statement(), "    ")
        if len(self.lines) == before:
            self.lines.pop()

    def _statement(self) -> tuple[str, str]:
        """A statement, and the name it binds."""
        rng, name = self.rng, self.rng.choice(self.names)
        kind, new = rng.choice(["view", "view", "new", "write", "write", "write", "detach"]), ""
        if kind == "write":
            text = rng.choice(WRITES)
            text = text.replace("{}", name)
            return text.format(n=len(self.lines), o=rng.choice(self.names)), ""
        new = f"t{len(self.lines)}"
        if kind == "detach":
            return f"{new} = {name}.detach()", new
        if kind == "new":
            return f"{new} = {rng.choice(NEW).format(name)}", new
        ndim = self.scope[name].ndim
        return f"{new} = {rng.choice(VIEWS.get(ndim, ['{}.view(1)'])).format(name)}", new

    def _add(self, statement: tuple[str, str], indent: str) -> None:
        text, new = statement
        self.lines.append(indent + text)
        try:
            self.scope = self._probe()
        except Exception:
            self.lines.pop()
            return
        if new and 0 not in self.scope[new].shape and self.scope[new].ndim <= 3:
            self.names.append(new)

    def _probe(self) -> dict[str, Any]:
        scope = {"torch": torch, "compiler": compiler, **_bases((False,) * 3, True, torch)}
        exec("\n".join([self.inputs, *self.lines]), scope)
        return scope


def _bases(
    wanted: tuple[bool, bool, bool], leaf: bool, module: Any, rows: int = 4
) -> dict[str, Any]:
    start = (module.arange(3.0 * rows).reshape(rows, 3) - 5) / 4
    roots = [start, start * 0.5 + 1, module.tensor(1.5)]
    for root, want in zip(roots, wanted):
        if want:
            root.requires_grad_()
    p, q, k = roots
    base = p if leaf or not wanted[0] else p * 1
    other = q * 1 if wanted[1] else q
    return {"p": p, "q": q, "k": k, "base": base, "other": other, "c": module.tensor(2.0)}


@dataclass
class Seen:
    """What a run showed. `error` is what it raised; `gradients` are None where backward raised."""

    error: str
    facts: list[Any]
    values: list[Any]
    gradients: list[Any] | None


def observe(
    program: Program, run: Callable[..., Any], module: Any = torch, rows: int = 4
) -> Seen:
    """Run it on inputs of its own; then write to each tensor, to see who shares its memory.
    `module`: the lab, or PyTorch."""
    scope = _bases(program.wanted, program.leaf, module, rows)
    exec(program.inputs, scope)
    x, y, roots = scope["x"], scope["y"], [scope["p"], scope["q"], scope["k"]]
    error, result = "", ()
    try:
        result = run(x, y, scope["c"], scope["k"])
    except RuntimeError as raised:
        error = str(raised)
    tensors = [*result, x, y, scope["base"], scope["other"], *roots]
    facts = [_facts(tensor, tensors) for tensor in tensors]
    values = [t.detach().numpy().copy() for t in tensors]
    gradients = _gradients(tensors, roots)
    facts.append(_shared(tensors, module))
    return Seen(error, facts, values, gradients)


def _facts(tensor: Any, tensors: list[Any]) -> tuple:
    base = [n for n, other in enumerate(tensors) if tensor._base is other]
    same = [other is tensor for other in tensors]
    layout = tuple(tensor.shape), tensor.stride(), str(tensor.dtype)
    tape = tensor.requires_grad, tensor.is_leaf, tensor._version
    return *layout, *tape, tensor._base is None, base, same


def _gradients(tensors: list[Any], roots: list[Any]) -> list[Any] | None:
    total = None
    for number, tensor in enumerate(tensors):
        if tensor.requires_grad:
            term = (tensor * (0.5 + number)).sum()
            total = term if total is None else total + term
    try:
        if total is not None:
            total.backward()
    except RuntimeError:
        return None
    return [None if root.grad is None else root.grad.numpy().copy() for root in roots]


def _shared(tensors: list[Any], module: Any) -> list[list[bool]]:
    found = []
    for tensor in tensors:
        before = [t.tolist() for t in tensors]
        with module.no_grad():
            tensor.fill_(77 + len(found))
        found.append([t.tolist() != b for t, b in zip(tensors, before)])
    return found


def check(program: Program, backend: str, graphs: CompileCounter | None = None) -> list[int]:
    """Eager against compiled, captured and warm, then for inputs of more rows, whose number is a
    symbol by the third size. Returns how many graphs `graphs` had been given after each call, if
    that is the backend. Raises AssertionError with the program's text.

    Who writes through `.data` when a region is over is not seen by what its backward has saved
    elsewhere or computes again: such gradients are not compared."""
    compiled = compiler.compile(program.function(), backend=graphs or backend)
    is_over, counts = False, []
    for rows in SIZES:
        expected = eagerly(program, rows)
        if expected is None:
            continue
        with strict(), record() as trace:
            found = observe(program, compiled, rows=rows)
        is_over |= any(stop.break_id != "uncounted-write" for stop in trace.of(GraphBreak))
        if is_over and ".data." in program.text:
            expected = replace(expected, gradients=None)
        compare(expected, found, program.text)
        counts.append(graphs.frame_count if graphs else 0)
    return counts


@lru_cache(maxsize=len(SIZES))
def eagerly(program: Program, rows: int) -> Seen | None:
    """None where its shapes do not fit together in so many rows. Asked for by each backend."""
    try:
        return observe(program, program.function(), rows=rows)
    except (RuntimeError, IndexError, ValueError):
        return None


def compare(expected: Seen, found: Seen, text: str) -> None:
    """Raises AssertionError with the program's text. Where eager's backward fails, as something it
    needs was written, a compiled one may have the value it needs."""
    assert expected.error == found.error, f"{expected.error!r} != {found.error!r}\n{text}"
    assert expected.facts == found.facts, f"{_first(expected.facts, found.facts)}\n{text}"
    for a, b in zip(expected.values, found.values):
        np.testing.assert_allclose(b, a, 1e-5, 1e-6, err_msg=text)
    if expected.gradients is None:
        return
    assert found.gradients is not None, f"backward fails\n{text}"
    for a, b in zip(expected.gradients, found.gradients):
        assert (a is None) == (b is None), f"{a} is not {b}\n{text}"
        if a is not None:
            np.testing.assert_allclose(b, a, 1e-4, 1e-5, err_msg=text)


def _first(expected: list[Any], found: list[Any]) -> str:
    pairs = enumerate(zip(expected, found))
    return next((f"tensor {n}: {a} != {b}" for n, (a, b) in pairs if a != b), "other count")
