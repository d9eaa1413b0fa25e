"""Ids as keys, and the `__dict__` of objects: what one name tells holds for the other, too."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import captured, check, strict


class Plain:
    def __init__(self, **given):
        self.__dict__.update(given)


class Borg:
    shared = {"n": 0}

    def __init__(self):
        self.__dict__ = Borg.shared


X = torch.ones(3)


def several(function, *calls):
    """The graphs that so many calls cost; each gives what it gives eagerly."""
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter)
    with strict():
        for args in calls:
            assert repr(compiled(*args)) == repr(function(*args))
    return counter.frame_count


def test_ids_tell_objects_apart_at_each_call():
    def f(x, a, b):
        seen = {id(a)}
        seen.add(id(b))
        return x * len(seen), id(b) in seen

    a, b = Plain(), Plain()
    assert several(f, (X, a, b), (X, b, a), (X, a, a), (X, b, b)) == 2


def test_ids_kept_from_before():
    a, b = Plain(), Plain()
    kept, table = [id(a)], {id(a): 3}

    def in_a_dict(x, o):
        return x * table.get(id(o), 1)

    def in_a_new_set(x, o):
        return x + 1 if id(o) in set(kept) else x

    def joined(x, o):
        return x * len({id(o)} | set(kept))

    def updated(x, o):
        both = {id(o): 1}
        both.update(table)
        return x * len(both)

    for f in in_a_dict, in_a_new_set, joined, updated:
        several(f, (X, b), (X, a), (X, b))


def test_ids_of_tensors():
    def f(xs):
        once = {}
        for x in xs:
            once.setdefault(id(x), []).append(x * 2)
        return [len(same) for same in once.values()]

    x, y = torch.ones(2), torch.zeros(2)
    several(f, ([x, y, x],), ([x, y, x],), ([x, y, y],), ([x, x, x],))


def test_what_was_made_inside_dies_and_its_id_is_given_again():
    def f(x):
        seen = set()
        for n in range(3):
            seen.add(id(x + n))
        return x

    assert "operation" in {b.break_id for b in check(f, X).breaks}


def test_an_object_and_its_dict_change_together():
    def f(x, o):
        own, o.a = o.__dict__, x
        own["b"] = own["a"] * 2
        del o.a
        o.a = 3
        own.pop("c")
        return list(own), o.b * o.a, hasattr(o, "c"), own is vars(o), len(own)

    for _ in range(2):
        captured_once = torch.compile(f, backend="eager", fullgraph=True)
        o, p = Plain(a=1, c=2), Plain(a=1, c=2)
        assert repr(captured_once(X, o)) == repr(f(X, p))
        assert list(vars(o)) == list(vars(p)) == ["b", "a"]


@pytest.mark.parametrize("known", [True, False])
def test_the_dict_comes_in_by_itself_too(known):
    def by_name(x, o, own):
        if known:
            vars(o)
        o.a = 4
        return x * own["a"]

    def by_key(x, o, own):
        if known:
            vars(o)
        own["a"] = 5
        return x * o.a

    for f in by_name, by_key:
        o = Plain(a=1)
        assert several(f, (X, o, vars(o)), (X, o, {"a": 9}), (X, Plain(a=3), vars(o))) < 9


def test_the_dict_is_read_before_it_is_known_whose_it_is():
    def f(x, o, own):
        o.b = x
        count = len(own)
        vars(o).update(c=count)
        return count, x * o.c

    compiled = torch.compile(f, backend="eager")
    for _ in range(2):
        o, p = Plain(a=1), Plain(a=1)
        assert repr(compiled(X, o, vars(o))) == repr(f(X, p, vars(p)))
        assert list(vars(o)) == list(vars(p)) == ["a", "b", "c"]


def test_two_objects_with_one_dict():
    first, second = Borg(), Borg()

    def f(x):
        first.n += 1
        return x * second.n

    compiled = torch.compile(f, backend="eager")
    for n in (1, 2, 3):
        assert compiled(X).tolist() == [n] * 3


@pytest.mark.parametrize("by_name", [True, False])
def test_an_attribute_is_set_while_the_dict_is_gone_through(by_name):
    def f(o):
        seen = []
        for key, value in vars(o).items():
            print(end="")
            if by_name:
                o.b, o.c = 7 + len(seen), 9
            else:
                vars(o).update(b=7 + len(seen), c=9)
            seen.append((key, value))
        return seen

    found = torch.compile(f, backend="eager")(Plain(a=1, b=2, c=3))
    assert found == f(Plain(a=1, b=2, c=3)) == [("a", 1), ("b", 7), ("c", 9)]


def test_what_else_changes_does_not_stop_a_loop_over_a_dict():
    o, table = Plain(a=1), {"k": 1, "l": 2, "m": 3}

    def f(x):
        for key, value in table.items():
            print(end="")
            x = x * value
            o.last, o.table = key, {key: x}
        return x, o.last, list(o.table)

    assert several(f, (X,), (X,)) <= 3


def test_slots_are_not_in_the_dict():
    class Both:
        __slots__ = ("a", "__dict__")

    def f(x, o):
        o.a, o.b = 5, 6
        return list(vars(o)), o.a * x, o.__dict__["b"]

    captured(f, X, Both())
