"""Changes of what existed before the call: replayed once, in order, on the very same objects; and
what captured code reads after a change is what CPython would read."""

from __future__ import annotations

import enum
import sys
import types
import warnings
from collections import OrderedDict, defaultdict

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import GraphBreak, record

from .differential import strict
from .observing import observed

COUNT = 0


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Box:
    def __init__(self, value=None):
        self.value, self.items = value, []


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


other = types.ModuleType("other")
exec(
    "TOTAL = 0\nLOG = []\n"
    "def count(n=1):\n    global TOTAL\n    TOTAL += n\n    LOG.append(TOTAL)\n    return TOTAL\n"
    "def collect(value, into=[]):\n    into.append(value)\n    return into\n",
    vars(other),
)


def x4():
    return torch.tensor([1.0, -2.0, 3.0, 4.0])


def both(function, make, calls=3, expected_breaks=()):
    """Call eagerly and compiled, each on objects of its own, some times one after the other."""
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter)
    runs = {}
    for name, called in (("eager", function), ("compiled", compiled)):
        args, events = make(), []
        vars(other).update(TOTAL=0, LOG=[])
        globals()["COUNT"] = 0
        world = {"COUNT": None, "TOTAL": None}
        seen = runs[name] = []
        with strict(), record() as trace:
            for _ in range(calls):
                seen.append(observed(called, args, events, {}, __file__))
                world = {"COUNT": COUNT, "TOTAL": other.TOTAL, "LOG": list(other.LOG)}
                seen.append(world)
        breaks = [event.break_id for event in trace.of(GraphBreak)]
    assert runs["compiled"] == runs["eager"]
    assert set(breaks) == set(expected_breaks), trace.of(GraphBreak)
    return counter


# ---- lists --------------------------------------------------------------------------------------


def list_all_methods(x, a):
    a.append(x)
    a.extend((1, 2))
    a.insert(0, "first")
    a.insert(-1, "near the end")
    got = [a.pop(), a.pop(0), a.pop(-2)]
    a.reverse()
    a += [5, 6]
    a *= 2
    a[1:3] = [x * 2, 7, 8]
    a[::2] = range(len(a[::2]))
    del a[0], a[-1]
    del a[1:3]
    a[0] = got
    return x + len(a), a[-1], got


def list_unread(x, a):
    a.append(x + 1)
    a.append(x + 2)
    return a.pop()


def list_cleared_and_filled(x, a):
    a.clear()
    a.append(x * 2)
    a.extend(a)
    return len(a), a[0] is a[1]


def list_sorted(x, a):
    a.sort()
    a.sort(reverse=True)
    return a.index(3), a.count(3), x + a[0]


def list_removed(x, a):
    a.remove(3)
    return x * len(a), 3 in a


def list_appended_while_iterated(x, a):
    n = 0
    for item in a:
        n += 1
        if n < 5:
            a.append(item + 1)
        x = x + item
    return x, n


def list_popped_while_iterated(x, a):
    seen = []
    for item in a:
        seen.append(item)
        if len(a) > 1:
            a.pop()
    return x, seen


def list_in_itself(x, a):
    a.append(a)
    b = [x]
    b.append(b)
    a[0] = b
    return b, a[-1] is a


def list_swapped(x, a):
    a[0], a[1] = a[1], a[0]
    a[0] += 1
    return x + a[0]


def list_walrus_chain(x, a):
    a[0] = b = [x]
    b.append(1)
    return a, b is a[0]


LISTS = [
    list_all_methods,
    list_unread,
    list_cleared_and_filled,
    list_sorted,
    list_removed,
    list_appended_while_iterated,
    list_popped_while_iterated,
    list_in_itself,
    list_swapped,
    list_walrus_chain,
]


@pytest.mark.parametrize("function", LISTS, ids=lambda f: f.__name__)
def test_lists(function):
    both(function, lambda: (x4(), [3, 1, 3, 2]), calls=1)
    both(function, lambda: (x4(), [3, 1, 3, 2, 7, 9, 3, 4]), calls=1)


# ---- dicts --------------------------------------------------------------------------------------


def dict_all(x, d):
    d["new"] = x + 1
    d["a"] += 1
    value = d.setdefault("list", [])
    value.append(x)
    d.update({"b": 3}, c=4)
    d |= {"z": 26}
    gone = d.pop("b"), d.pop("missing", None), d.popitem()
    del d["c"]
    d["c"] = "last"
    return list(d), list(d.items()), gone, len(d), "c" in d, d.get("nothing", 5)


def dict_written_only(x, d):
    d["t"] = x * 2
    return d["t"]


def dict_cleared(x, d):
    d.clear()
    d["only"] = x
    return list(d), len(d)


def dict_order(x, d):
    del d["a"]
    d["a"] = x
    return [key for key in d]


def dict_keys_of_all_kinds(x, d):
    d[Color.RED] = 1
    d[Box] = 2
    d[len] = 3
    d[both] = 4
    d[1, "a"] = 5
    d[True] = 6
    d[1] += 1
    d[2.5] = None
    return x, d[Color.RED], d[Box], d[len], d[both], d[1, "a"], d[1.0], Color.BLUE in d


def dict_iterated_and_values_written(x, d):
    for key in d:
        d[key] = d[key] * 2
    for key, value in d.items():
        x = x + value
    return x


def dict_grows_while_iterated(x, d):
    for key in d:
        d[key + "!"] = x
    return x


def dict_shrinks_while_iterated(x, d):
    for key in d:
        del d[key]
    return x


def dict_in_itself(x, d):
    d["self"] = d
    return d["self"]["self"] is d, x + 1


def dict_missing(x, d):
    d["before"] = 1
    return d["missing"] + x


def dict_comparisons(x, d):
    same = {"a": 1, "b": 2}
    return d == same, d != same, d == {**d}, [1, (2, d)] == [1, (2, d)], (1,) == (1, 2), x + 1


def dict_views(x, d):
    keys = d.keys()
    d["later"] = 1
    return "later" in keys, list(keys), list(d.values()), len(keys), x * 2


DICTS = [
    dict_all,
    dict_written_only,
    dict_cleared,
    dict_order,
    dict_keys_of_all_kinds,
    dict_iterated_and_values_written,
    dict_grows_while_iterated,
    dict_shrinks_while_iterated,
    dict_in_itself,
    dict_missing,
    dict_comparisons,
    dict_views,
]


@pytest.mark.parametrize("function", DICTS, ids=lambda f: f.__name__)
def test_dicts(function):
    both(function, lambda: (x4(), {"a": 1, "b": 2}), calls=1)
    both(function, lambda: (x4(), {"b": 2, "a": 1, "q": 5}), calls=1)


# ---- sets ---------------------------------------------------------------------------------------


def set_all(x, s):
    s.add("w")
    s.discard("u")
    s.discard("never")
    s.remove("v")
    s.update(["k", "l"], {"m"})
    s |= {"n"}
    s -= {"m"}
    return x * len(s), "w" in s, "v" in s, "x" not in s


def set_made(x, s):
    made = {3, 1, 2, 11, 19}
    made.add(27)
    made.discard(1)
    made |= {100, 4}
    made ^= {4, 5}
    made &= {3, 2, 11, 19, 27, 5, 8}
    both = made | {1}, made & {2, 3}, made - {2}, made ^ {2, 77}
    order = [n for n in made]
    return made, order, [list(b) for b in both], made < {1}, made >= {3}, made == set(order), x


def set_comprehension(x, s):
    squares = {n * n for n in range(20)}
    return list(squares), squares, len(squares), 16 in squares, x + 1


def set_iterated(x, s):
    for item in s:
        x = x + len(item)
    return x, list(s), sorted(s)


def set_grows_while_iterated(x, s):
    made = {1, 2}
    for item in made:
        made.add(item + 10)
    return x


def set_missing(x, s):
    s.remove("missing")
    return x


def set_of_objects(x, s):
    made = {Color.RED, Box, x}
    return x in made, Color.BLUE in made, len(made), Box in made


def set_popped(x, s):
    made = {5, 3, 8}
    return made.pop(), made, x


def set_cleared(x, s):
    s.clear()
    s.add("b")
    s.update({"c", "d"})
    return sorted(s), list(s), x


SETS = [
    set_all,
    set_made,
    set_comprehension,
    set_iterated,
    set_grows_while_iterated,
    set_missing,
    set_of_objects,
    set_popped,
    set_cleared,
]


@pytest.mark.parametrize("function", SETS, ids=lambda f: f.__name__)
def test_sets(function):
    both(function, lambda: (x4(), {"u", "v"}), calls=1)
    both(function, lambda: (x4(), {"u", "v", "a", "b", "w"}), calls=1)


# ---- attributes, cells, globals -----------------------------------------------------------------


def attributes(x, box):
    box.value = x * 2
    box.fresh = box.value + 1
    box.items.append(box.fresh)
    del box.value
    return hasattr(box, "value"), getattr(box, "value", 7), box.fresh


def attribute_chain(x, box):
    box.next = Box(x) if False else box
    box.next.next.value = x + 3
    return box.value


def slots(x, box):
    s = box.value
    s.b = x + s.a
    s.a = 2
    del s.b
    s.b = 5
    return s.a + s.b


def globals_written(x, box):
    global COUNT
    COUNT = COUNT + 1
    first = other.count()
    other.TOTAL = 100
    second = other.count(2)
    return x * COUNT, first, second, other.TOTAL, len(other.LOG)


def default_list(x, box):
    return list(other.collect(x)), x + len(other.collect(1))


def closures(x, box):
    total = 0

    def add(n):
        nonlocal total
        total += n
        return total

    def read():
        return total

    box.value = add, read
    add(3)
    return add(4), read(), x * total


def varargs(x, box, *rest, **named):
    rest[0].append(x)
    named["new"] = 1
    return named, len(rest[0])


@pytest.mark.parametrize("function", [attributes, attribute_chain], ids=lambda f: f.__name__)
def test_attributes(function):
    both(function, lambda: (x4(), Box(1)))


def test_slots():
    both(slots, lambda: (x4(), Box(Slotted())))


@pytest.mark.parametrize("function", [globals_written, closures], ids=lambda f: f.__name__)
def test_names(function):
    both(function, lambda: (x4(), Box(1)), calls=2)


def test_a_mutable_default_is_one_list():
    vars(other)["collect"].__defaults__[0].clear()
    compiled = torch.compile(default_list, backend="eager")
    lengths = [len(compiled(x4(), None)[0]) for _ in range(3)]
    assert lengths == [1, 3, 5]
    assert len(other.collect.__defaults__[0]) == 6


def test_var_args():
    both(varargs, lambda: (x4(), None, [1]), calls=2)


def test_one_cell_of_several_functions():
    def make():
        n = 0

        def bump(x):
            nonlocal n
            n += 1
            return x * n

        def outer(x):
            nonlocal n
            n += 10
            return bump(x) + read()

        def read():
            return n

        return outer, read

    def run(wrap):
        outer, read = make()
        called = wrap(outer)
        return [called(x4()).tolist() + [read()] for _ in range(3)]

    with strict():
        assert run(lambda f: torch.compile(f, backend="eager")) == run(lambda f: f)


# ---- aliases ------------------------------------------------------------------------------------


def two_lists(x, a, b):
    a.append(1)
    return x * len(b)


def two_boxes(x, a, b):
    a.value = 3
    return x * b.value


def two_dicts(x, a, b):
    a["k"] = 3
    return x * b["k"]


def two_sets(x, a, b):
    a.add(3)
    return x * (3 in b)


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (two_lists, lambda: [0]),
        (two_boxes, lambda: Box(1)),
        (two_dicts, lambda: {"k": 1}),
        (two_sets, lambda: {1}),
    ],
    ids=["lists", "boxes", "dicts", "sets"],
)
def test_aliases(function, make):
    """Whichever comes first, two objects or one twice."""
    for order in ((False, True), (True, False)):
        compiled = torch.compile(function, backend="eager")
        for alias in (*order, *order):
            runs = []
            for called in (function, compiled):
                a = make()
                args = (x4(), a, a if alias else make())
                with strict():
                    runs.append(observed(called, args, [], {}, __file__))
            assert runs[0] == runs[1]


def test_an_alias_within_containers():
    def f(x, d):
        inner = d["first"]
        inner.append(x)
        d["second"].append(2)
        return len(d["first"]), inner is d["second"]

    def shared():
        one = []
        return x4(), {"first": one, "second": one}

    compiled = torch.compile(f, backend="eager")
    for make in (shared, lambda: (x4(), {"first": [], "second": []})) * 2:
        with strict():
            runs = [observed(called, make(), [], {}, __file__) for called in (f, compiled)]
        assert runs[0] == runs[1]


def test_a_cell_reached_in_two_ways():
    """What the call's own cell is, or another of the same content."""

    def make():
        n = 5

        def own(x):
            nonlocal n
            n += 1
            return x * n

        return own, lambda: n

    def f(x, change, read):
        change(x)
        return x * read()

    compiled = torch.compile(f, backend="eager")
    for same in (True, False, True, False):
        runs = []
        for called in (f, compiled):
            change, read = make()
            with strict():
                runs.append(called(x4(), change, read if same else make()[1]).tolist())
        assert runs[0] == runs[1]


# ---- what is guarded ----------------------------------------------------------------------------


def recompiles(function, *calls):
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter)
    for args in calls:
        compiled(*args)
    return counter.frame_count


def test_only_what_was_read_is_guarded():
    def appends(x, a):
        a.append(x + 1)
        return x * 2

    def sets(x, d):
        d["k"] = x + 1
        return x * 2

    def stores(x, box):
        box.last = x + 1
        return x * 2

    assert recompiles(appends, *[(x4(), [0] * n) for n in range(5)]) == 1
    assert recompiles(sets, *[(x4(), dict.fromkeys(range(n))) for n in range(5)]) == 1
    assert recompiles(stores, *[(x4(), Box(n)) for n in range(5)]) == 1


# ---- around breaks ------------------------------------------------------------------------------


def appends_in_a_loop(x, out, n):
    for i in range(n):
        out.append(x * 2)
        print(len(out))
        x = x + 1
    return x


def fills_a_dict_in_a_loop(x, acc, n):
    for i in range(n):
        acc[i] = x * 2
        print("round")
        x = x + 1
    return x


def counts_in_a_loop(x, box, n):
    for i in range(n):
        box.value += 1
        box.last = x * 2
        print(box.value)
        x = x + 1
    return x


def makes_and_fills(x, out, n):
    made, table = [], {}
    for i in range(n):
        made.append(x * 2)
        table["last"] = made[-1]
        print("round")
        x = x + 1
    out.append(made)
    return x, made, table


@pytest.mark.parametrize(
    ("function", "make", "graphs"),
    [
        (appends_in_a_loop, lambda: [], 3),
        (fills_a_dict_in_a_loop, dict, 4),
        (counts_in_a_loop, lambda: Box(0), 3),
        (makes_and_fills, list, 3),
    ],
    ids=["list", "dict", "attribute", "made inside"],
)
def test_loops_with_a_break(function, make, graphs, capsys):
    for rounds in (3, 12):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runs = []
            counter = CompileCounter()
            for called in (function, torch.compile(function, backend=counter)):
                with strict():
                    seen = observed(called, (x4(), make(), rounds), [], {}, __file__)
                runs.append((seen, capsys.readouterr().out))
            assert runs[0] == runs[1]
        assert counter.frame_count == graphs


def test_effects_are_seen_at_the_break_and_done_once(capsys):
    def f(x, a, d, box):
        a.append(1)
        d["k"] = x.shape
        box.value = len(a)
        print(a, d, box.value)
        a.append(2)
        del d["k"]
        box.value += 10
        print(a, d, box.value)
        a.append(3)
        return x + box.value

    make = lambda: (x4(), [], {}, Box())
    both(f, make, calls=2, expected_breaks=["side-effect-call"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]


def test_a_counter_is_never_stale():
    box = Box(0)

    def f(x):
        box.value += 1
        return x * box.value

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    for n in range(1, 30):
        assert compiled(x4()).tolist() == (x4() * n).tolist()
    assert box.value == 29
    assert counter.frame_count <= 3


@pytest.mark.skipif(sys.flags.hash_randomization == 0, reason="the order of texts is fixed")
def test_the_order_of_a_set_is_guarded():
    def f(x, s):
        for n, item in enumerate(s):
            x = x * n + len(item)
        return x

    compiled = torch.compile(f, backend="eager")
    for s in ({"a", "bb", "ccc"}, {"ccc", "a", "bb"}, {"dddd", "a"}):
        assert compiled(x4(), s).tolist() == f(x4(), s).tolist()


def list_sorted_by_key(x, a):
    a.sort(key=lambda n: -n)
    a.sort(key=str, reverse=True)
    return x * a[0], [a.sort(key=lambda n: n % 3), a]


def keys_as_sets(x, d):
    other = {"b": 1, "zz": 2}
    made = dict.fromkeys(d.keys() | other, 0)
    return sorted(d.keys() & other.keys()), sorted(d.keys() - ["a"]), sorted(made), bool(made), x


def test_more_methods():
    both(list_sorted_by_key, lambda: (x4(), [3, 1, 3, 2, 10]), calls=1)
    both(keys_as_sets, lambda: (x4(), {"a": 1, "b": 2}), calls=1)


def test_a_comprehension_that_closes_over_its_variable():
    def f(x, n):
        late = [lambda: i for i in range(2)]
        return late[0]() + late[1](), [[lambda i=i: i * n for i in range(2)][1]() for _ in "ab"], x

    both(f, lambda: (x4(), 3))


def test_an_objects_dictionary_is_known_as_a_dict():
    def f(x, box, d):
        d["value"] = 3
        return x * box.value

    compiled = torch.compile(f, backend="eager")
    for alias in (False, True, False, True):
        runs = []
        for called in (f, compiled):
            box = Box(1)
            with strict():
                runs.append(called(x4(), box, vars(box) if alias else {}).tolist() + [box.value])
        assert runs[0] == runs[1]


def ordered(x, d):
    made = OrderedDict(a=x, b=1)
    made["c"] = x * 2
    made.move_to_end("a")
    d.move_to_end("k", last=False)
    d["new"] = 1
    first = d.popitem(last=False), made.popitem()
    same = made == OrderedDict(b=1, c=made["c"]), made == {"c": made["c"], "b": 1}
    return made, list(d), first, same, type(made) is dict, isinstance(d, dict), len(d), list(made)


def ordered_while_iterated(x, d):
    for key in d:
        d[key + "!"] = x
    return x


def ordered_missing(x, d):
    d.move_to_end("missing")
    return x


def defaults(x, d):
    made = defaultdict(list)
    made["a"].append(x)
    made["a"].append(x + 1)
    d["n"] += 2
    d["k"] += 1
    return made, len(made["b"]), "q" in d, d.get("q"), d["z"], list(d), type(made) is dict


def default_without_factory(x, d):
    made = defaultdict(None, k=1)
    return made["k"], made["missing"]


def test_ordered_dicts():
    for function in (ordered, ordered_while_iterated, ordered_missing):
        both(function, lambda: (x4(), OrderedDict(a=1, k=2, c=3)), calls=1)
        both(function, lambda: (x4(), OrderedDict(k=2, z=3)), calls=1)


def test_default_dicts():
    for function in (defaults, default_without_factory):
        both(function, lambda: (x4(), defaultdict(int, a=1, k=2)), calls=2)
        both(function, lambda: (x4(), defaultdict(float, q=2)), calls=1)


def test_a_key_function_that_changes_the_list() -> None:
    def f(x, items):
        def key(value):
            items.append(value)
            return value

        try:
            items.sort(key=key)
        except ValueError as error:
            return x * 2, error.args
        return x

    compiled = torch.compile(f, backend="eager")
    for function in (f, compiled, compiled):
        items = [2, 1]
        _, args = function(torch.ones(1), items)
        assert args == ("list modified during sort",) and items == [1, 2]
