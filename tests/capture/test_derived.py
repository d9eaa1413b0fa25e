"""Objects of classes derived from list, dict, set, tuple, str, int: made inside and outside, with
methods of their own, changed, iterated, compared, returned."""

from __future__ import annotations

import enum
import operator
from collections import Counter
from dataclasses import dataclass

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import strict
from .test_effects import both


class Plain(list):
    def total(self):
        return sum(self)


class Own(list):
    """Everything it does is its own."""

    def __init__(self, *items):
        super().__init__(items)
        self.n = len(items)

    def append(self, value):
        super().append(value)
        self.n += 1

    def __getitem__(self, place):
        found = super().__getitem__(place)
        return type(self)(*found) if isinstance(place, slice) else found

    def __len__(self):
        return 100 + super().__len__()

    def __iadd__(self, other):
        self.n = 7
        return super().__iadd__(other)

    def __iter__(self):
        for item in super().__iter__():
            yield item, self.n

    def __contains__(self, item):
        return item == "all" or super().__contains__(item)


class Lengths(dict):
    def __missing__(self, key):
        return len(key)


class Attributes(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, [value])

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Keeping(dict):
    def __getitem__(self, key):
        return super().__getitem__(key) + 1

    def __contains__(self, key):
        return key == "any" or super().__contains__(key)

    def __iter__(self):
        return iter(sorted(super().__iter__()))

    def keys(self):
        return [*self]


class Tags(set):
    def add(self, tag):
        super().add(tag.lower())

    def twice(self):
        return len(self) * 2


class Pair(tuple):
    def __new__(cls, first, second=None):
        return super().__new__(cls, (first, second))

    @property
    def first(self):
        return self[0]

    def __add__(self, other):
        return Pair(self[0] + other, self[1])


class Name(str):
    def shout(self):
        return self.upper() + "!"


class Digits(int):
    def __add__(self, other):
        return Digits(int(self) * 10 + other)


class Rate(float):
    pass


class Shown(float):
    def __repr__(self):
        return f"{float(self)} C"


class Vector(tuple):
    __slots__ = ()

    def __add__(self, other):
        return Vector(a + b for a, b in zip(self, other))

    def __rmul__(self, k):
        return Vector(a * k for a in self)

    def __eq__(self, other):
        return tuple.__eq__(self, other)

    def __hash__(self):
        return super().__hash__()


class Ordered(dict):
    """Keeps an order of its own."""

    def __init__(self, *args, **names):
        self.order = []
        super().__init__(*args, **names)

    def __setitem__(self, key, value):
        self.order.append(key)
        dict.__setitem__(self, key, value)

    def update(self, *args, **names):
        for key, value in dict(*args, **names).items():
            self[key] = value

    def __iter__(self):
        return iter(self.order)

    def items(self):
        return [(key, self[key]) for key in self]


class Grid(list):
    def __getitem__(self, place):
        if isinstance(place, tuple):
            return super().__getitem__(place[0])[place[1]]
        return super().__getitem__(place)

    def __setitem__(self, place, value):
        if isinstance(place, tuple):
            super().__getitem__(place[0])[place[1]] = value
        else:
            super().__setitem__(place, value)


class Stack(list):
    push = list.append

    @classmethod
    def of(cls, *items):
        return cls(items)

    def __enter__(self):
        self.push(0)
        return self

    def __exit__(self, *error):
        self.pop()

    def __bool__(self):
        return False

    def __eq__(self, other):
        return "equal"


@dataclass
class Counted(list):
    k: int = 0


class Typed(list[int]):
    __slots__ = ("name",)


def x3():
    return torch.tensor([1.0, 2.0, 3.0])


def a_list(x, n):
    items = Plain([1, 2])
    items.append(3)
    items.extend((4, 5))
    items[0] = n
    del items[1]
    items.insert(1, 8)
    facts = items.total(), len(items), isinstance(items, list), bool(items), repr(items), str(items)
    parts = items[1:], items + [1], [0] + items, items * 2, items.copy(), [*items], (*items,)
    tests = items == [9, 8, 3, 4, 5], [9] < items, 3 in items, items.index(4), items.count(3)
    return x * items.total(), facts, parts, tests, sorted(items), max(items), [*reversed(items)]


def a_list_that_leaves(x, n):
    items = Plain([x])
    items.append(items)
    items.name = "q"
    items += [5]
    items *= 2
    items.sort(key=lambda item: 1)
    return items, items.name, [items], type(items) is Plain


def a_list_of_its_own(x, n):
    items = Own(1, 2)
    items.append(3)
    items += [4]
    a, b, *c = items
    facts = len(items), items.n, items[0], type(items[0:2]) is Own, items, bool(items), [*items]
    return facts, a, b, c, "all" in items, 9 in items, list(items), items[0:2], {**{"k": items}}


def a_dict(x, n):
    d = Lengths(a=1)
    d["b"] = x
    copies = {**d}, dict(d), d.copy(), d | {"c": 1}, {"c": 1} | d
    facts = len(d), "b" in d, d.get("zz"), list(d.items()), [k for k in d], bool(d), type(d)
    return x * d["four"] + d["a"], copies, facts, d, d == {"a": 1, "b": d["b"]}, d.keys() & {"a"}


def a_dict_with_attributes(x, n):
    d = Attributes(a=1)
    d["b"] = 2
    d.update(c=3)
    d.extra = x
    facts = d.b, d.a, d.setdefault("q", 4), d.pop("a"), hasattr(d, "nope"), f"{d.c}"
    return d, facts, d.extra, d.items(), (lambda **k: k)(**d), d.popitem()


def a_dict_of_its_own(x, n):
    d = Keeping(b=1, a=n)
    d |= {"c": 3}
    return d, d["a"], "any" in d, [*d], {**d}, dict(d), Counter(d), d.values(), d.get("a"), len(d)


def a_set(x, n):
    tags = Tags("AB")
    tags.add("C")
    tags.tag = x
    return tags, tags.twice(), tags | {"z"}, tags & {"c"}, "c" in tags, {*tags}, tags == {*"ABc"}


def a_tuple(x, n):
    pair = Pair(x, n)
    pair.tag = pair.first
    whole = pair, tuple(pair), pair + 1, pair[1:], (*pair,), (1,) + pair, pair * 2
    return whole, len(pair), pair == (x, n), pair[-1], pair.tag is x, isinstance(pair, tuple)


def a_text(x, n):
    name = Name("ab")
    name.kept = 1
    return (
        name, name.shout(), name + "c", len(name), name == "ab", name.upper(), f"{name}:{name!r}",
        name[0], hash(name) == hash("ab"), "a" in name, {"ab": 1}[name], name < "b", [*name],
    )  # fmt: skip


def numbers(x, n):
    k, rate = Digits(4), Rate(0.5)
    return (
        k, k + 1, 1 + k, k * 2, x * k, x + k, [1, 2, 3, 4, 5][k], k == 4, int(k), k < 5, -k, abs(k),
        rate * 2, x * rate, rate / 4, float(rate), rate == 0.5, bool(k), str(k), f"{rate:.3f}",
    )  # fmt: skip


def dataclass_and_slots(x, n):
    counted, typed = Counted(k=3), Typed([1, 2])
    counted.append(x)
    typed.name = "t"
    return counted, typed, typed.name, counted.k


def counting(x, n):
    c = Counter("banana")
    c.update("nab")
    c.update({"b": 2}, q=1)
    c["z"] += 2
    d = Counter(a=1, b=5)
    both_of_them = c + d, c - d, c & d, c | d, +c, c == d, c <= d, c.copy()
    c += d
    c.subtract("aab")
    del c["never"]
    few = c.most_common(1), c.most_common(2), c.most_common()
    return x * c["a"], few, c["missing"], sum(c.values()), both_of_them, list(c.elements()), c


def counting_of_numbers(x, n):
    c = Counter(item % 3 for item in range(7))
    c[n] -= 4
    return x * c.total(), c, -c, dict(c), repr(c), Counter() or "empty", c.most_common(2)


def made_by_super(x, n):
    return Plain.__new__(Plain), list.__getitem__(Plain([x]), 0), dict.get(Lengths(a=1), "a")


def formatted(x, n):
    shown = Shown(2.5)
    return f"{shown}", str(shown), f"{shown:.2f}", f"{shown!r}", format(shown), f"{Digits(3)}"


def vectors(x, n):
    v = Vector([1, 2]) + Vector((3, 4))
    w, keyed = 2 * v, {(4, 6): "t", 5: 1}
    return v, w, v == (4, 6), (4, 6) == v, v != w, {v: 1}[Vector((4, 6))], keyed[v], v in keyed


def grids_and_stacks(x, n):
    grid, d = Grid([[1, 2], [3, x]]), Ordered(a=1)
    grid[0, 1] = n
    grid[1] = [7, 8]
    d["b"] = x
    d.update(c=3, b=4)
    with Stack.of(1, 2) as stack:
        stack.push(9)
        inside = len(stack), not stack, stack == 3, stack != 3, stack in [stack], stack or 5
    return grid, grid[0, 1], grid[-1], d, d.order, [*d], d.items(), {**d}, stack, inside


def matched(x, n):
    found = []
    for value in (Plain([1, 2]), Lengths(a=1), Keeping(a=3), Pair(x, 4), Name("q"), Digits(7)):
        match value:
            case Plain([first, *rest]):
                found.append((first, rest))
            case {"a": item, **more}:
                found.append((item, more))
            case (_, number):
                found.append(number)
            case str(text):
                found.append(text)
            case int():
                found.append("a number")
    return found, Lengths.fromkeys("ab", x), Attributes.fromkeys(["k"])


INSIDE = [
    a_list, a_list_that_leaves, a_list_of_its_own, a_dict, a_dict_with_attributes,
    a_dict_of_its_own, a_set, a_tuple, a_text, numbers, dataclass_and_slots, counting,
    counting_of_numbers, made_by_super, formatted, vectors, grids_and_stacks, matched,
]  # fmt: skip


@pytest.mark.parametrize("function", INSIDE, ids=lambda f: f.__name__)
def test_made_inside(function):
    both(function, lambda: (x3(), 9))


def everything():
    return (
        x3(), Plain([1, 2]), Own(1, 2), Lengths(a=1), Attributes(a=1), Keeping(b=1, a=2),
        Tags("ab"), Pair(1, 2), Name("key"), Digits(5), Counter("aab"),
    )  # fmt: skip


def read_all(x, items, own, lengths, attributes, keeping, tags, pair, name, k, counter):
    lists = items.total(), items[0], len(items), 2 in items, own[0], len(own), own.n, [*own]
    dicts = lengths["four"], lengths["a"], attributes.a, keeping["a"], [*keeping], len(keeping)
    others = "a" in tags, tags.twice(), pair.first, pair + 1, name.shout(), {"key": 1}[name]
    return x * k + counter["a"], lists, dicts, others, k + 1, counter.most_common(1), {**keeping}


def change_all(x, items, own, lengths, attributes, keeping, tags, pair, name, k, counter):
    items.append(x)
    items[0] = own
    items += [3]
    items.mark = 1
    own.append(x + 1)
    own += [8]
    del own[0]
    lengths["new"] = x
    lengths.update(a=3, q=4)
    attributes["b"] = 5
    attributes.foo = items
    del keeping["b"]
    keeping["z"] = 1
    tags.add("C")
    tags |= {"d"}
    tags.mark = 2
    pair.mark = x
    counter.update("ab")
    counter["zz"]
    counter["q"] += 1
    return x * 2, len(items), own[0], lengths.pop("a"), attributes.foo is items, items[-1], tags


def in_loops(x, items, own, lengths, attributes, keeping, tags, pair, name, k, counter):
    for item in items:
        x = x + item
        print(item)
    for item, n in own:
        own.n += 1
        print(item, n)
        x = x * n
    for key in lengths:
        print(key, lengths[key])
    for key, value in counter.items():
        print(key)
        x = x * value
    for part in pair:
        print(part)
    items.append(len(items))
    print(items, own.n)
    items.append(items[-1])
    return x, items


@pytest.mark.parametrize("function", [read_all, change_all, in_loops], ids=lambda f: f.__name__)
def test_from_outside(function):
    in_use = ["side-effect-call", "generator", "operation"]
    breaks = in_use if function is in_loops else []
    both(function, everything, expected_breaks=breaks)


def each_change():
    """What changes an answer of `read_all`."""
    yield lambda o: list.append(o[1], 4)
    yield lambda o: list.__setitem__(o[2], 0, 7)
    yield lambda o: setattr(o[2], "n", 3)
    yield lambda o: o[3].update(four=1)
    yield lambda o: dict.__setitem__(o[4], "a", 6)
    yield lambda o: dict.__setitem__(o[5], "c", 6)
    yield lambda o: o[6].discard("a")
    yield lambda o: o[10].update("bbbb")


@pytest.mark.parametrize("change", [*each_change()])
def test_guards(change):
    """A variant is missed once what it has read is another."""
    compiled = torch.compile(read_all, backend="eager")
    with strict():
        for changed in (False, True, False):
            objects = everything()
            if changed:
                change(objects)
            found, expected = compiled(*objects), read_all(*objects)
            assert repr(found) == repr(expected)


@pytest.mark.parametrize("method", ["__getitem__", "__len__", "__missing__", "append", "__iter__"])
def test_a_class_that_is_given_a_method(method):
    class Later(list):
        pass

    def f(x, items):
        items.append(1)
        return x * len(items), items[0], [*items], items == [5, 1]

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    for _ in range(2):
        assert repr(compiled(x3(), Later([5]))) == repr(f(x3(), Later([5])))
    own = {
        "__getitem__": lambda self, place: "item",
        "__len__": lambda self: 3,
        "__missing__": lambda self, key: 0,
        "append": lambda self, item: None,
        "__iter__": lambda self: iter("xyz"),
    }
    setattr(Later, method, own[method])
    for _ in range(2):
        assert repr(compiled(x3(), Later([5]))) == repr(f(x3(), Later([5])))


def test_one_object_twice():
    def f(x, a, b):
        a.append(x)
        return len(b), b[-1], a is b

    compiled = torch.compile(f, backend="eager")
    for alias in (False, True, False, True):
        runs = []
        for called in (f, compiled):
            a = Plain([1])
            with strict():
                runs.append(repr(called(x3(), a, a if alias else Plain([2]))) + repr(a))
        assert runs[0] == runs[1]


def errors(x, n):
    found = []
    for act in (
        lambda: Plain()[3],
        lambda: Keeping()["a"],
        lambda: Plain().pop(),
        lambda: Plain([1]).remove(2),
        lambda: Tags().remove("q"),
        lambda: Pair(1)[5],
        lambda: {}[Name("key")],
        lambda: Attributes().nothing,
    ):
        try:
            act()
        except (LookupError, ValueError, AttributeError) as error:
            found.append(type(error))
    return x * 2, found


def test_errors():
    both(errors, lambda: (x3(), 1))


@pytest.mark.parametrize(
    "act",
    [
        lambda x: x + Plain([1])[7],
        lambda x: Plain([1]) + 1,
        lambda x: Lengths(a=1) < {},
        lambda x: Keeping()["missing"],
        lambda x: Name("a") + 1,
    ],
)
def test_an_error_that_leaves(act):
    def f(x):
        y = x + 1
        return act(y)

    both(f, lambda: (x3(),), calls=2)


class Mapping:
    def keys(self):
        return iter(["a", "b"])

    def __getitem__(self, key):
        return key * 2

    def __iter__(self):
        return iter([("q", 1)])


class Pairs:
    def __iter__(self):
        yield "a", 1
        yield ["b", 2]


@pytest.mark.parametrize("cls", [Mapping, Pairs])
def test_a_dict_of_an_object(cls):
    """One that has keys() is asked for these."""

    def f(x):
        made = {"z": 1}
        made.update(cls(), k=x)
        return made, dict(cls(), c=3)

    both(f, lambda: (x3(),))


class Placed(int):
    """An index that says it is another: nobody asks it."""

    def __index__(self):
        return 1


class Rank(enum.IntEnum):
    third = 3

    def __index__(self):
        return 1


@pytest.mark.parametrize("place", [Placed(3), Rank.third], ids=["derived", "member"])
@pytest.mark.parametrize("read", [
    lambda x, i: x + [10, 20, 30, 40][i],
    lambda x, i: x + (10, 20, 30, 40)[i],
    lambda x, i: x + operator.index(i),
    lambda x, i: x + sum(range(i)),
    lambda x, i: x + len("abcdef"[:i]),
    lambda x, i: torch.zeros(i),
])
def test_what_is_an_int_is_its_own_index(read, place):
    compiled = torch.compile(read, backend="eager")
    assert compiled(torch.zeros(2), place).tolist() == read(torch.zeros(2), int(place)).tolist()
