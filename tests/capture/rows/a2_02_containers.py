"""A2.2: containers."""

from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple

Point = namedtuple("Point", "a b", defaults=[1])


def tuples(x, y):
    t = (x, y, 1) + (2,)
    return t[0] * t[-1], t[1:], len(t), t[2:].index(1), t[2:].count(2), t * 2


def lists(x, y):
    items = [x, y]
    items.append(x + y)
    items.insert(0, y - x)
    items.extend([1, 2])
    last = items.pop()
    first = items.pop(0)
    items.reverse()
    items[0] = last
    del items[0]
    return items, last, first, items.copy() is items


def list_methods(numbers):
    copy = list(numbers)
    copy.sort()
    copy.remove(2)
    copy += [9]
    copy *= 2
    copy[1:2] = [7, 8]
    del copy[::3]
    return copy, copy.index(8), copy.count(7)


def list_cleared(x):
    items = [x, 1]
    items.clear()
    return items, x + 1


def dicts(x, y):
    d = {"x": x, "y": y}
    d["z"] = d["x"] + y
    d.update(w=1, z=2)
    e = d | {"k": 3}
    d.setdefault("q", x * 2)
    popped = d.pop("w")
    del d["y"]
    return d, e, popped, d.get("none"), d.get("none", 4), list(d), "x" in d, len(d)


def dict_iteration(x, table):
    for key, value in table.items():
        x = x * value + len(key)
    for key in table:
        x = x + table[key]
    return x, list(table.values()), sorted(table.keys())


def dict_methods(table):
    copy = table.copy()
    copy |= {"c": 3.0}
    item = copy.popitem()
    return copy, item, dict.fromkeys("ab", 0), dict([("k", 1)], j=2), list(reversed(copy))


def dict_key_set_operations(table):
    other = {"b": 1, "c": 2}
    return sorted(table.keys() & other.keys()), sorted(table.keys() | other), "a" in table.keys()


def sets(x, names):
    s = {1, 2, 3}
    s.add(4)
    s.discard(1)
    s |= {7}
    return x * len(s), s & {2, 9}, s - {2}, s ^ {2, 8}, 3 in s, names, sorted(names)


def set_methods(x):
    s = set("abc")
    s.update("d", {"e"})
    s.remove("a")
    return x + len(s), s.issubset("abcde"), s.union({"z"}), s.isdisjoint({"q"}), s == {*"bcde"}


def frozensets(x):
    f = frozenset([1, 2]) | {3}
    return x * len(f), f, 2 in f


def deques(x):
    d = deque([1, 2], maxlen=3)
    d.append(x)
    d.append(4)
    d.appendleft(0)
    first = d.popleft()
    d.rotate(1)
    return list(d), first, len(d), d.maxlen


def named_tuples(x, y):
    p = Point(x, b=y)
    q = p._replace(a=y)
    a, b = q
    return p.a * p.b, q, a - b, p._fields, Point(x).b, p._asdict()["a"]


def ordered_dict(x):
    d = OrderedDict(a=x, b=1)
    d["c"] = x * 2
    d.move_to_end("a")
    return d, list(d), d.popitem(last=False)


def default_dict(x):
    d = defaultdict(list)
    d["a"].append(x)
    d["a"].append(x + 1)
    d["b"]
    return d, len(d["a"]), d["a"][0] * 2


def counters(x, s):
    c = Counter("banana")
    return x * c["a"], c.most_common(1), c["missing"], sum(c.values())


def chain_map(x):
    c = ChainMap({"a": 1}, {"a": 2, "b": 3})
    return x * c["a"] + c["b"]


def slices(x, numbers):
    part = slice(0, 2)
    return numbers[part], x[:, part], part.stop, part.indices(10), numbers[::-1]


def starred_unpacking(x, numbers):
    first, *rest = numbers
    *most, last = (x, *rest, 5)
    return [*most, *numbers], {**{"a": x}, "b": first}, (*rest, last), {*rest}


def nested_unpacking(x, y):
    (a, (b, *c)), d = (x, [y, 1, 2]), 3
    return a * b, c, d


def membership(x, numbers, table):
    return 3 in numbers, 9 not in numbers, "a" in table, (1, 2) in [(1, 2)], "el" in "relu", x


def list_comprehension(x, numbers):
    return [x * i for i in numbers if i > 1], [i + j for i in range(2) for j in range(i)]


def dict_and_set_comprehension(x, numbers):
    d = {i: x * i for i in numbers}
    return d, {i % 2 for i in numbers}, {k: v for k, v in zip("ab", [1, 2])}


def comprehension_scope(x):
    i = 10
    squares = [i * i for i in range(3)]
    return x * i, squares, [[j for j in range(k)] for k in range(3)]


def comprehension_with_closure(x, n):
    functions = [lambda i=i: x * i + n for i in range(2)]
    late = [lambda: i for i in range(2)]
    return functions[0]() + functions[1](), late[0](), late[1]()


def append_while_iterating(x):
    items = [1, 2]
    for i in items:
        x = x + i
        if i < 3 and len(items) < 5:
            items.append(i + 2)
    return x, items


def list_equality(numbers):
    return numbers == [3, 1, 2], numbers < [4], [1, [2]] == [1, [2]], (1, 2) < (1, 3)


def dict_equality(table):
    return table == {"a": 1.0, "b": 2.0}, {"a": 1} != {"a": 2}


def tuple_of_tensors_compared_by_identity(x, y):
    return (x, 1) == (x, 1), [x] == [x], x in [x]


def self_reference(x):
    items = [x]
    items.append(items)
    return items


def nested_structures(x, y):
    d = {"a": [x, (y, {"b": [1, 2]})]}
    d["a"][1][1]["b"].append(x + y)
    return d


def copies(x, numbers):
    return list(numbers), numbers[:], numbers.copy(), [*numbers], tuple(numbers)


def bytes_values(x):
    data = b"abc" + bytes([1])
    return x * len(data), data[0], data[1:], bytearray(b"q") + b"r"


def truth_of_containers(x, numbers, table):
    return [bool(v) for v in ([], numbers, {}, table, "", "a", (), set(), {1})], x


def frozen_sets(x, names):
    made = {1, 2}
    frozen = frozenset(made)
    made.add(3)
    return frozen | made, made - frozen, frozenset(frozen | {4}), frozenset(names) >= {"u"}, x + 1


def joined_iterators(x, table):
    parts = iter(["a", "b"]), reversed(["c", "d"]), table, table.keys(), {"k": "v"}.values()
    return ["-".join(part) for part in parts], x + 1


def texts_of_sets(x):
    return str({3, 1}), f"{ {2} }", tuple({5, 4}), x + 1


WINDOW = slice(0, 2)


def slices_from_outside(x, numbers):
    part, same = WINDOW, WINDOW
    return x[WINDOW], x[:, part], numbers[WINDOW], part.start, part.step, part is same, part, x + 1
