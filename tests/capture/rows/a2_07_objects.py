"""A2.7: the user's own classes and objects."""

import copy
import dataclasses
import enum
from collections import namedtuple
from typing import NamedTuple

from tests.capture.rows.marks import breaks


class _Vector:
    dimensions = 2

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        if not isinstance(other, _Vector):
            return NotImplemented
        return _Vector(self.a + other.a, self.b + other.b)

    def __radd__(self, other):
        return _Vector(other + self.a, other + self.b)

    def __mul__(self, k):
        return _Vector(self.a * k, self.b * k)

    def __neg__(self):
        return _Vector(-self.a, -self.b)

    def __eq__(self, other):
        return type(other) is _Vector and self.b == other.b

    def __hash__(self):
        return hash(self.b)

    def __lt__(self, other):
        return self.b < other.b

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.a
        yield self.b

    def __getitem__(self, index):
        return (self.a, self.b)[index]

    def __setitem__(self, index, value):
        if index:
            self.b = value
        else:
            self.a = value

    def __contains__(self, value):
        return value == self.b

    def __bool__(self):
        return self.b != 0

    def __call__(self, k):
        return self.a * k

    def __repr__(self):
        return f"<{self.b}>"


VECTOR = _Vector(1, 2)


def made_and_read(x):
    v = _Vector(x, 2)
    return v.a * v.b


def made_and_returned(x):
    return _Vector(x + 1, 2)


def arithmetic(x):
    v = -(_Vector(x, 1) + _Vector(x, 2)) * 3
    return v.a, v.b, (1 + v).b


def length_and_iteration(x):
    v = _Vector(x, 5)
    a, b = v
    return len(v), a * b, [i for i in v][1], list(v)[1]


def items(x):
    v = _Vector(x, 5)
    v[1] = 6
    v[0] = x * 2
    return v[0] * v[1], 6 in v, 7 not in v


def equality_and_order(x):
    u, v = _Vector(x, 1), _Vector(x, 2)
    return u == v, u != v, u < v, u > v, u == 3, max(u, v).b, sorted([v, u])[0].b


def truth(x):
    return x * (1 if _Vector(x, 0) else 2) + (3 if not VECTOR else 4)


def called(x):
    return _Vector(x, 1)(3) + VECTOR(2)


def text(x):
    return repr(_Vector(x, 1)), f"{VECTOR}", str(VECTOR), "%r" % (VECTOR,)


def hashed(x):
    table = {_Vector(x, 1): "one"}
    return table[_Vector(x, 1)], hash(VECTOR) == hash(2), len({VECTOR, _Vector(x, 2)})


def type_questions(x, n, s):
    v = _Vector(x, 1)
    return (
        isinstance(v, _Vector), isinstance(n, (int, str)), issubclass(bool, int),
        type(v) is _Vector,
        type(n) == int, callable(v), hasattr(v, "a"), hasattr(v, "z"), getattr(v, "z", 3),
        type(s).__name__, v.__class__ is _Vector, isinstance(x, torch.Tensor), _Vector.dimensions,
        v.dimensions,
    )  # fmt: skip


def attributes_set(x):
    v = _Vector(x, 1)
    v.c = x + 1
    setattr(v, "d", 4)
    del v.b
    return v.c * v.d, hasattr(v, "b"), sorted(vars(v)), sorted(v.__dict__)


def identity(x):
    v, w = _Vector(x, 1), _Vector(x, 1)
    return v is v, v is w, VECTOR is v, id(v) == id(v), id(v) == id(w)


class _Dynamic:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)


def dynamic_attribute(x):
    d = _Dynamic()
    return x * d.four, hasattr(d, "_no"), getattr(d, "_no", 2)


class _Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


def slots(x):
    s = _Slotted(x)
    s.a = s.a * 2
    return s.a, hasattr(s, "b")


class _Descriptor:
    def __get__(self, instance, owner):
        return 7 if instance is None else instance.base * 2

    def __set__(self, instance, value):
        instance.base = value


class _Described:
    value = _Descriptor()

    def __init__(self):
        self.value = 3

    @property
    def total(self):
        return self.base + 1

    @total.setter
    def total(self, value):
        self.base = value - 1


def descriptors(x):
    d = _Described()
    d.total = 10
    return x * d.value + d.total, _Described.value


@dataclasses.dataclass
class _Data:
    a: object
    b: int = 2
    c: list = dataclasses.field(default_factory=list)

    def total(self):
        return self.a * self.b


@dataclasses.dataclass(frozen=True)
class _Frozen:
    a: object
    b: int = 2


@dataclasses.dataclass(order=True)
class _Ordered:
    rank: int


DATA = _Data(1)


def data_class(x):
    d = _Data(x, b=3)
    d.c.append(1)
    return d.total(), d, _Data(x).c, DATA.total()


def frozen_data_class(x):
    f = _Frozen(x)
    return f.a * f.b, f, dataclasses.replace(f, b=5).b


def frozen_data_class_refuses(x):
    f = _Frozen(x)
    f.b = 3
    return f


def data_class_order(x):
    return _Ordered(1) < _Ordered(2), _Ordered(1) == _Ordered(1), x


def data_class_helpers(x):
    d = _Frozen(1, 2)
    return [f.name for f in dataclasses.fields(d)], dataclasses.is_dataclass(d), x


class _Color(enum.Enum):
    RED = 1
    BLUE = "b"


class _Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class _Flags(enum.Flag):
    A = 1
    B = 2


def enums(x):
    return (
        x * _Level.HIGH, _Color.RED.name, _Color.BLUE.value, _Color.RED is _Color.RED,
        _Color("b") is _Color.BLUE, _Color["RED"].value, _Color.RED == _Color.BLUE,
        _Level.LOW < _Level.HIGH, [c.name for c in _Color], len(_Color),
        (_Flags.A | _Flags.B).value,
        isinstance(_Color.RED, _Color), _Color.RED in _Color,
    )  # fmt: skip


class _Typed(NamedTuple):
    a: object
    b: int = 4

    def product(self):
        return self.a * self.b


def typed_named_tuple(x):
    t = _Typed(x)
    return t.product(), t, t._replace(b=2).b, t == (x, 4)


def inheritance(x):
    class_ = _Sub
    s = class_(x)
    return s.value(), isinstance(s, _Vector), _Sub.__mro__[1] is _Vector, issubclass(_Sub, _Vector)


class _Sub(_Vector):
    def __init__(self, a):
        super().__init__(a, 3)

    def value(self):
        return self.a * len(self)


class _MyList(list):
    def total(self):
        return sum(self)


class _MyDict(dict):
    def __missing__(self, key):
        return len(key)


def list_subclass(x):
    items = _MyList([1, 2])
    items.append(3)
    return x * items.total(), len(items), isinstance(items, list)


def dict_subclass(x):
    d = _MyDict(a=1)
    return x * d["four"] + d["a"], len(d)


class _WithNew:
    def __new__(cls, value):
        made = super().__new__(cls)
        made.value = value
        return made


def with_new(x):
    return _WithNew(3).value * x


class _Counter:
    count = 0

    def __init__(self):
        type(self).count += 1


def class_attribute_written(x):
    _Counter()
    _Counter()
    return x * _Counter.count


class _Indexed:
    def __index__(self):
        return 1

    def __int__(self):
        return 4

    def __float__(self):
        return 2.5

    def __format__(self, spec):
        return f"[{spec}]"

    def __abs__(self):
        return 3


def conversions(x):
    v = _Indexed()
    return [10, 20][v], int(v), float(v), f"{v:abc}", abs(v), x


class _Iterates:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def iterator_class(x):
    return [x * i for i in _Iterates(3)], list(_Iterates(2)), sum(_Iterates(4))


class _OldIteration:
    def __getitem__(self, index):
        if index > 2:
            raise IndexError(index)
        return index * 2


def iteration_by_getitem(x):
    return [x + i for i in _OldIteration()], 4 in _OldIteration()


@breaks("build-class")
def local_class(x):
    class Local:
        k = 2

    return x * Local.k


Pair = namedtuple("Pair", "left right")


def namedtuple_of_tensors(x, y):
    p = Pair(x * 2, right=y)
    return p, p.left + p[1], len(p)


class _Settings:
    def __init__(self):
        self.width = 2
        self.name = "relu"


SETTINGS = _Settings()


def dict_of_a_changed_object(x):
    SETTINGS.width = 3
    SETTINGS.depth = x
    return list(vars(SETTINGS)), SETTINGS.__dict__["width"] * x, "depth" in SETTINGS.__dict__


def object_changed_through_its_dict(x):
    own = SETTINGS.__dict__
    own["width"] = 5
    own.update(scale=2, name="tanh")
    SETTINGS.scale += 1
    return SETTINGS.width * x, own["scale"], getattr(torch, SETTINGS.name)(x), own is vars(SETTINGS)


def deleted_and_set_again(x):
    del SETTINGS.width
    gone = "width" in vars(SETTINGS)
    SETTINGS.width = 1
    return list(vars(SETTINGS).items()), gone, x + SETTINGS.width


def dict_of_a_new_object(x):
    made = _Settings()
    own = vars(made)
    own["bias"] = x
    made.width = 4
    return own is vars(made), list(own), made.bias * own["width"], made


def ids_as_keys(xs, table):
    seen, count = set(), {}
    for item in (table, SETTINGS, table, *xs, xs[0]):
        if id(item) not in seen:
            seen.add(id(item))
        count[id(item)] = count.get(id(item), 0) + 1
    return len(seen), count[id(table)], id(xs[0]) in seen, xs[0] * len(count)


class _Chained:
    def __init__(self, value, after=None):
        self.value, self.after, self.log = value, after, []


CHAINED = _Chained(2)
CHAINED.after = CHAINED


def copies_of_objects(x):
    shallow, deep = copy.copy(CHAINED), copy.deepcopy(CHAINED)
    shallow.value, deep.value = 3, x
    shallow.log.append(1)
    deep.log.append(2)
    return shallow.after is CHAINED, deep.after is deep, CHAINED.log, deep.log, x * CHAINED.value


class _CopiesItself(_Chained):
    def __copy__(self):
        return _CopiesItself(self.value + 1)


def copies_in_their_own_way(x):
    return copy.copy(_CopiesItself(1)).value * x


class _Single:
    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            cls.instance.count = 0
        return cls.instance


def single_instance(x):
    one, other = _Single(), _Single()
    one.count += 1
    return one is other, _Single.instance is one, x * other.count


def facts_of_code(x):
    code = single_instance.__code__
    return code.co_name, code.co_argcount, code.co_varnames[0], x + 1
