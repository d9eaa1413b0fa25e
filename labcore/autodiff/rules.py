"""What is not computed again in the backward, and by which rule.

In: a joint graph.  Out: for each forward node that has one, the `Rule` that speaks against
computing it a second time, and the price if it is done all the same.
Invariant: a rule says nothing about views and constants, which are never worth saving.
These are the bans of PyTorch's `solve_min_cut`. There a list names the operators that may be
computed again; here it is their kind, and every reduction is too much, not only those to a quarter.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from ..graph import Node
from ..ops.sharing import meta_of
from ..shapes import hint
from .joint import Joint, Parts

LONGEST_CHAIN = 100  # operators computed again in a row, as in PyTorch

# What becomes part of whatever loop reads it, so that computing it again moves no memory.
CHEAP = frozenset(("pointwise", "factory", "view", "detach", "copy"))


@dataclass(frozen=True)
class Rule:
    """`why` it is not computed again. `hard`: no memory budget changes that."""

    name: str
    why: str
    flip: str = "the memory budget were smaller"
    hard: bool = False


INPUT = Rule("input", "there is nothing to compute it from", "no backward read it", hard=True)
RANDOM = Rule("random", "a second draw gives other numbers", "it drew none", hard=True)
FORCED = Rule("forced", "it was asked for", "it were not, and that cost less", hard=True)
MATMUL = Rule("matmul", "the most expensive there is to do twice")
REDUCTION = Rule("reduction", "small to keep, and all of its input would be read again")
FALLBACK = Rule("fallback", "a kernel of its own, which fuses with no reader")
OUTPUT = Rule("output", "it lies in memory in any case: it is returned")
WRITTEN = Rule("materialized", "its reader in the backward fuses with nothing, so it is written")
FAR = Rule("far apart", "another reader of what it reads comes before an operator that ends a loop")
CHAIN = Rule("long chain", f"{LONGEST_CHAIN} operators in a row would be computed again for it")


def rules(joint: Joint, parts: Parts) -> dict[Node, Rule]:
    """The first rule that speaks against computing a node again, for each forward node with one."""
    found: dict[Node, Rule] = {node: INPUT for node in joint.primals if not node.symbol}
    returned = set(joint.graph.outputs[: joint.outputs])
    far, chain = _far_apart(joint, parts), dict[Node, int]()
    for node in joint.graph.calls:
        if node not in parts.forward or node.target.alias:
            continue
        rule = _of_operator(node)
        if rule is None and node in returned:
            rule = OUTPUT
        if rule is None and _is_written(node, parts):
            rule = WRITTEN
        if rule is None and node in far:
            rule = FAR
        length = 1 + max((chain.get(source, 0) for source in node.all_input_nodes), default=0)
        if rule is None and length > LONGEST_CHAIN:
            rule = CHAIN
        if rule is not None:
            found[node] = rule
        chain[node] = 0 if rule else length
    return found


def _of_operator(node: Node) -> Rule | None:
    named = {"random": RANDOM, "matmul": MATMUL, "reduction": REDUCTION}
    kind = node.target.kind
    return named.get(kind) or (None if kind in CHEAP else FALLBACK)


def fuses(source: Node, reader: Node) -> bool:
    """May both become one loop? What becomes of it is fusion's decision; this is the estimate."""
    return all(
        node.op != "call_function" or node.target.kind in CHEAP or node.target.kind == "reduction"
        for node in (source, reader)
    )


def _is_written(node: Node, parts: Parts) -> bool:
    """Is it, or a view of it, read in the backward by what does not fuse with it?"""
    return any(
        not fuses(node, reader)
        for reader in readers(node)
        if reader in parts.backward and reader.op == "call_function"
    )


def readers(node: Node) -> Iterator[Node]:
    """Who reads the node, itself or a view of it."""
    for user in node.users:
        if user.op == "call_function" and user.target.alias:
            yield from readers(user)
        else:
            yield user


def _far_apart(joint: Joint, parts: Parts) -> set[Node]:
    """Nodes that read a value long after another of its readers: an operator that does not fuse
    lies between, so that both would not be computed in one loop again."""
    step: dict[Node, int] = {}  # how many ends of loops lie before a node
    for node in joint.graph.nodes:
        if node in parts.forward:
            step[node] = max(
                (step[s] + (not fuses(s, node)) for s in node.all_input_nodes), default=0
            )
    found: set[Node] = set()
    for node in step:
        readers = [user for user in node.users if user in step]
        first = min((step[reader] for reader in readers), default=0)
        found.update(r for r in readers if step[r] > first and fuses(node, r))
    return found


def price(node: Node) -> int:
    """How many scalar operations computing the node takes, for the sizes that were seen."""
    size = prod(hint(n) for n in meta_of(node).shape)
    read = max((_elements(source) for source in node.all_input_nodes), default=0)
    counts: dict[str, Callable[[], int]] = {
        "matmul": lambda: 2 * size * hint(meta_of(node.all_input_nodes[0]).shape[-1]),
        "reduction": lambda: read,
    }
    return 0 if node.target.alias else counts.get(node.target.kind, lambda: size)()


def _elements(node: Node) -> int:
    return prod(hint(n) for n in meta_of(node).shape)
