"""Who must run before whom, while groups are fused one after the other."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given, strategies as st

from labcore import ops
from labcore.fusion import lower, schedule
from labcore.fusion.deps import Group
from labcore.fusion.order import Order, in_order, places

from .graphs import floats, graph_of


def group(*nodes):
    """A group of which only the nodes matter."""
    return Group(sorted(nodes, key=lambda n: n.order), parts={n: "each" for n in nodes})


def reachable(groups, earlier):
    """group -> all that must run before it, by walking."""
    home = {node: g for g in groups for node in g.nodes}
    found = {}
    for g in groups:
        todo, seen = [g], set()
        while todo:
            for node in todo.pop().nodes:
                more = {home[e] for e in earlier[node]} - seen - {g}
                seen |= more
                todo += more
        found[g] = seen
    return found


@given(st.data(), st.integers(2, 12))
def test_the_tables_are_those_of_a_walk(data, count):
    nodes = [SimpleNamespace(order=k, step=None, loads={}) for k in range(count)]
    nodes = [_Hashed(**vars(n)) for n in nodes]
    earlier = {
        n: {nodes[j] for j in data.draw(st.sets(st.integers(0, max(0, k - 1)), max_size=3))}
        if k else set()
        for k, n in enumerate(nodes)
    }
    groups = [group(n) for n in nodes]
    order = Order(groups, earlier)
    for _ in range(count):
        walked = reachable(groups, earlier)
        for g in groups:
            assert {order.at[p] for p in places(order.before[g])} == walked[g]
            assert {order.at[p] for p in places(order.after[g])} == {
                h for h in groups if g in walked[h]
            }
        a, b = data.draw(st.sampled_from(groups)), data.draw(st.sampled_from(groups))
        between = [g for g in groups if (a in walked[g] and g in walked[b])
                   or (b in walked[g] and g in walked[a])]
        assert (order.lies_between(a, b) is not None) == bool(between)
        if a is not b and not between:
            fused = group(*a.nodes, *b.nodes)
            order.fuse(a, b, fused)
            groups = [g for g in groups if g not in (a, b)] + [fused]
    done = set()
    for g in in_order(groups, earlier):
        assert all(e in done or e in g.nodes for n in g.nodes for e in earlier[n])
        done.update(g.nodes)


class _Hashed(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


def test_a_program_runs_in_its_own_order_where_nothing_says_otherwise():
    def function(x, y):
        return ops.sum(x), ops.sum(y), ops.matmul(x, y), ops.sum(ops.exp(y), 0)

    plan = schedule(lower(graph_of(function, floats(4, 4), floats(4, 4))), fuse=False)
    names = [step.title if hasattr(step, "title") else step.name for step in plan.steps]
    assert names == ["sum", "sum_1", "matmul", "sum_2"]


def shared_input(count):
    return graph_of(lambda x: tuple(ops.add(x, float(k)) for k in range(count)), floats(4))


def test_the_pairs_that_are_tried_grow_with_the_program_not_with_its_square():
    few, many = (len(schedule(lower(shared_input(n))).verdicts) for n in (100, 400))
    assert many < 5 * few
