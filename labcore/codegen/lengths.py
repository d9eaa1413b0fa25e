"""Rows of unknown length: the machine code that a kernel has beside that for all lengths.

In: a kernel's LLVM code, and the number that says how long its rows are.
Out: the same kernel in two modules, and one function that looks at the number:

    k(..., s1):  s1 in 2 ... 8    -> k_2 ... k_8    s1 is a constant
                 s1 in 16 ... 63  -> k_short        loops take 8 elements a turn, not 32
                 all others       -> k_any

A row that is no longer than a vector is over before a loop for any length has begun. Where LLVM
knows the length it writes the row out, and its vectors then are of several rows. That takes code
for each length, so only the shortest have it: numba is asked once for all of them, LLVM takes
about five times as long as for one, and the kernel is ready after three times as long.
Invariant: all forms compute what the kernel's text says; sums, which may be reordered, have the
order that they have for a known length.
The method is known as specialization, or multi-versioning; Inductor, asked for symbolic sizes, has
one loop for all of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

from ..shapes import Expr
from .ranges import BEGIN, END, bound, end_of_all, is_of_parts

KNOWN = range(2, 9)  # lengths that are constants in a form of their own
SHORT = range(16, 64)  # lengths for which loops take no more than `BITS` a turn, 8 elements
BITS = 256  # of a vector of float32; of two of float64

CHOOSE = """
define i32 @"{name}"({parameters}) {{
  switch i64 {length}, label %rows.any [{cases}]
{calls}}}
"""
CALL = """rows.{form}:
  %done.{form} = call i32 @"{name}_{form}"({arguments})
  ret i32 %done.{form}
"""
# What LLVM is told of a loop: how many vectors a turn. (Told how long those are, it would complain
# to the user where it makes none.)
LOOP = """
!{loop} = distinct !{{!{loop}, !{vectors}}}
!{vectors} = !{{!"llvm.loop.interleave.count", i32 {count}}}
"""
DECLARE = 'declare i32 @"{name}_{form}"({types})\n'


def row_length(kernel: ast.FunctionDef, shared: Expr | None) -> str:
    """The number that says how long rows are, in a kernel as it is compiled: those of an array that
    is read across, or those that loops go along. "" where sizes say it, where it is how often the
    loop turns that threads share, or where rows are worked on in strips."""
    numbers = {
        a.arg for a in kernel.args.args
        if isinstance(a.annotation, ast.Constant) and a.annotation.value == "int64"
    } - {BEGIN, END}
    loops = list(_innermost(kernel, 0))
    across = {step for loop in loops for step in _steps(loop)} & numbers
    along = {_end(loop) for loop in loops} & numbers - (shared.symbols if shared else set())
    found = across or along
    return found.pop() if len(found) == 1 else ""


def _innermost(node: ast.AST, depth: int) -> Iterator[ast.For]:
    """The innermost loops that are in another one, of rows. Under an `if` there are strips."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For):
            if any(isinstance(each, ast.For) for line in child.body for each in ast.walk(line)):
                yield from _innermost(child, depth + (not is_of_parts(child)))
            elif depth:
                yield child


def _end(loop: ast.For) -> str:
    assert isinstance(loop.iter, ast.Call)
    return ast.unparse(end_of_all(loop.iter) or loop.iter.args[-1])


def _steps(loop: ast.For) -> Iterator[str]:
    """What lies between two elements of an array that follow each other in a loop: s1 of
    `x[i0 + s1*i1]`."""
    variable = ast.unparse(loop.target)
    for node in ast.walk(loop):
        if isinstance(node, ast.Subscript):
            names = {n.id for n in ast.walk(node.slice) if isinstance(n, ast.Name)}
            with suppress(ValueError):  # it lies where another value says
                yield str(bound(node.slice, names).coeff(variable))


def with_choice(text: str, name: str, length: str) -> str:
    """The module in which the kernel is the one for any length, and its name that of the choice."""
    whole, head, body = _cut(text, name)
    parameters = head[head.index("(") + 1 : head.rindex(")")]
    given = [p.split() for p in parameters.split(", ")]
    argument = _argument(head, length)
    forms = {str(n): [n] for n in KNOWN} | {"short": list(SHORT), "any": []}
    arguments = ", ".join(f"{p[0]} {p[-1]}" for p in given)
    choice = CHOOSE.format(
        name=name, parameters=parameters, length=argument,
        cases=" ".join(f"i64 {n}, label %rows.{f}" for f, of in forms.items() for n in of),
        calls="".join(CALL.format(form=f, name=name, arguments=arguments) for f in forms),
    )
    types = ", ".join(p[0] for p in given)
    declared = "".join(DECLARE.format(name=name, form=f, types=types) for f in forms if f != "any")
    return whole.replace(head + body, _form(head, name, "any") + body + choice + declared)


def short_forms(text: str, name: str, length: str) -> str:
    """The module with the forms for short rows."""
    whole, head, body = _cut(text, name)
    argument = _argument(head, length)
    limits = f"i64 range(i64 {SHORT.start}, {SHORT.stop}) {argument}"
    hinted, hints = _hinted(body, len(re.findall(r"^!\d+ = ", text, re.M)))
    short = _form(head, name, "short", f' "prefer-vector-width"="{BITS}"')
    assert f"i64 {argument}" in short, f"LLVM declares {argument} in another way: {head}"
    forms = short.replace(f"i64 {argument}", limits) + hinted
    for n in KNOWN:
        known = re.sub(rf"{re.escape(argument)}(?![\w.])", str(n), body)
        forms += _form(head, name, str(n)) + known
    return whole.replace(head + body, forms) + hints


def _hinted(body: str, count: int) -> tuple[str, str]:
    """A function whose innermost loops take as many vectors a turn as hold 8 elements: a block that
    ends with a jump to itself is one. And what LLVM is told, numbered from `count` on."""
    blocks, hints = re.split(r"^(?=\S+:)", body, flags=re.M), ""
    for k, block in enumerate(blocks):
        label = re.escape(block.partition(":")[0])
        loop = re.search(rf"^  br i1 .*label %{label}(?=,|$)[^\n]*$", block, re.M)
        if loop:
            blocks[k] = block.replace(loop[0], f"{loop[0]}, !llvm.loop !{count}")
            vectors = 2 if "double" in block else 1
            hints += LOOP.format(loop=count, vectors=count + 1, count=vectors)
            count += 2
    return "".join(blocks), hints


def _cut(text: str, name: str) -> tuple[str, str, str]:
    """A module's text, and the head and the rest of one of its functions."""
    head = rf'define [^\n]*@"?{re.escape(name)}"?\([^\n]*\n'
    found = re.search(rf"^({head})(.*?^}}\n)", text, re.M | re.S)
    assert found is not None
    return text, found[1], found[2]


def _argument(head: str, length: str) -> str:
    """What LLVM calls a parameter."""
    found = re.search(rf'%(arg\.{length}|"arg\.{length}")(?![\w.])', head)
    assert found is not None
    return found[0]


def _form(head: str, name: str, form: str, more: str = "") -> str:
    """The head of a form, with `more` attributes. The choice calls it, and is not to contain it."""
    renamed = re.sub(rf'@"?{re.escape(name)}"?\(', f'@"{name}_{form}"(', head)
    return renamed.replace(" {\n", f" noinline{more} {{\n")
