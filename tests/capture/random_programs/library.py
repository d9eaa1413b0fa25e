"""The classes, functions and globals of random programs, as text."""

from __future__ import annotations

LIBRARY = '''\
class Doubled:
    def __get__(self, obj, cls):
        return obj.t * 2 if obj is not None else self

class Box:
    KIND = 1

    def __init__(self, t, k=0):
        self.t, self.k, self.name = t, k, "box"
        self.items = []

    @classmethod
    def of(cls, t):
        return cls(t, cls.KIND)

    @property
    def total(self):
        return sum(self.items, self.t)

    @property
    def level(self):
        return self.k * 2

    @level.setter
    def level(self, k):
        self.k = k

    @functools.cached_property
    def cached(self):
        LOG.append("computed")
        return self.k + 1

    doubled = Doubled()

    def twice(self):
        return self.t * 2

    def scale(self, t):
        return t * (self.k or 1)

    def step(self, t):
        self.k += 1
        self.t = t
        return self

    def same(self):
        return self

    def made(self, k):
        return type(self)(self.t, k)

    def count(self, what):
        LOG.append(what)
        return len(LOG)

    def __call__(self, t):
        return t + self.t

    def __getitem__(self, k):
        return self.t * k

    def __setitem__(self, k, t):
        self.items = [*self.items, t][:3]
        self.k = k

    def __len__(self):
        return len(self.items)

    def __contains__(self, k):
        return k == self.k

    def __add__(self, other):
        return Box(self.t + (other.t if isinstance(other, Box) else other), self.k)

    def __neg__(self):
        return Box(-self.t, -self.k)

    def __eq__(self, other):
        return isinstance(other, Box) and self.k == other.k

    def __hash__(self):
        return 7

    def __repr__(self):
        return f"<{type(self).__name__} {self.k}>"

class Sub(Box):
    __slots__ = ("extra",)

    def __init__(self, t, k=1):
        super().__init__(t, k + 1)
        self.sub = True

    def twice(self):
        return super().twice() + 1

    def __bool__(self):
        return self.k % 2 == 0

    def __getattr__(self, name):
        if name == "none":
            return self.t
        raise AttributeError(name)

@dataclasses.dataclass
class Point:
    t: object
    k: int = 0
    tags: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.tags.append(self.k)

    @property
    def area(self):
        return self.k * len(self.tags)

    def moved(self, k):
        return Point(self.t + k, self.k + k, self.tags)

class Custom(Exception):
    def __init__(self, k):
        super().__init__(k)
        self.k = k

class Color(enum.Enum):
    RED = 1
    BLUE = 2

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2

class Noisy:
    def __init__(self, swallow=False):
        self.swallow = swallow

    def __enter__(self):
        LOG.append("enter")
        return self

    def __exit__(self, kind, value, tb):
        LOG.append(("exit", kind and kind.__name__))
        return self.swallow and kind is ValueError

class Countdown:
    def __init__(self, t, k):
        self.t, self.k = t, k

    def __iter__(self):
        return self

    def __next__(self):
        if self.k <= 0:
            raise StopIteration
        self.k -= 1
        return self.t * self.k

@contextlib.contextmanager
def managing(name):
    LOG.append(("in", name))
    try:
        yield name
    except KeyError:
        LOG.append("swallowed")
    finally:
        LOG.append(("out", name))

def check(k):
    if k % 3 == 2:
        LOG.append("bad")
        raise ValueError("two of three", k)
    return k

@disable
def noise(k):
    LOG.append(("noise", k))
    return k

@disable
def observe(t):
    LOG.append(t.tolist())
    return t

def double(t):
    return t * 2

def add(a, b):
    return a + b

def pair(a, b=None):
    return (a, a if b is None else b)

def star(*ts, k=1, **more):
    LOG.append((len(ts), sorted(more)))
    return sum(ts, more.get("a", WEIGHT)) * k

def keep(**given):
    return given

def spread(*ts):
    return [t for part in ts for t in part]

def collect(ts):
    found = []
    for t in ts:
        if len(found) > 2:
            break
        found.append(t)
    return found

def attempt(t, k):
    try:
        check(k)
        return t + 1
    except ValueError as error:
        return t * len(error.args)

def guarded(t, k):
    try:
        t = t * 2
        return t + check(k)
    finally:
        LOG.append("leaving")

def nests(t, k):
    with Noisy(True):
        for j in range(2):
            try:
                t = t + 1
                check(k + j)
            except KeyError:
                return t
            finally:
                t = t * 2
                LOG.append(j)
        return t
    return t - 1

def managed(t, k):
    with managing("m"):
        t = t + k
        if k == 4:
            raise KeyError(k)
        return t
    return t * 0

def deep(t, k):
    if k <= 0:
        return t
    return deep(t * 0.5, k - 1) + 1

def make(k):
    count = 0
    def inner(t, more=k):
        nonlocal count
        count += 1
        return t * more + count
    return inner

def twice(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(fn(*args, **kwargs))
    return inner

@functools.singledispatch
def told(value):
    return "something"

@told.register
def told_number(value: int):
    return f"number {value % 3}"

@told.register(Box)
def told_box(value):
    return value.name

def maybe(k, t):
    return t if k % 2 else None

def dispatch(value):
    match value:
        case Box(t=t):
            return t
        case {"a": t} | [t, *_]:
            return t
        case int() | float():
            return WEIGHT * value
        case str():
            return WEIGHT + len(value)
    return WEIGHT

def cached(t):
    key = len(CACHE) % 3
    CACHE[key] = CACHE.get(key, 0) + 1
    return t * CACHE[key]

@functools.lru_cache
def memo(k):
    LOG.append("memo")
    return k * 2

def bump():
    global COUNT
    COUNT += 1
    return COUNT

def tally(ks):
    global COUNT
    for k in ks:
        COUNT += k % 2
    return COUNT

def measure(ks):
    lo, hi = min(ks, default=0), max(ks, default=0)
    return hi - lo

def gen(t, k):
    for j in range(k % 4):
        LOG.append(("yield", j))
        yield t + j

def chained(ts):
    for t in ts:
        yield t
    got = yield from tidy(WEIGHT, 2)
    LOG.append(got)

def tidy(t, k):
    try:
        for j in range(k % 4):
            yield t * j
        return "done"
    finally:
        CLOSED["tidy"] += 1

def echo(t):
    got = yield t
    LOG.append("got")
    yield got * 2

COUNT = 0
LOG = []
CLOSED = collections.Counter()  # when a generator is closed is not compared, but whether
WEIGHT = torch.tensor([0.25, 2.0])
STOCK = [WEIGHT, WEIGHT * 3]
TABLE = {"a": WEIGHT, "t": WEIGHT + 1}
CACHE = {1: 1}
NUMBERS = [3, 0, 1]
SEEN = {1, 2}
WORDS = {"a", "q"}
TALLY = collections.Counter("aab")
BAG = Bag([WEIGHT], 2)
RECORD = Record(a=WEIGHT)
QUEUE = collections.deque([1, 2], maxlen=3)
SHARED = Box(WEIGHT, 2)
POINT = Point(WEIGHT, 1)
Pair = collections.namedtuple("Pair", "a b")
PAIR = Pair(WEIGHT, WEIGHT + 1)
'''
