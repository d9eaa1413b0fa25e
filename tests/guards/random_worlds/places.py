"""What a program may read of the world, and how that changes between two calls.

In each text `name@` has the place's number, `$` a random value, `?` a random key.  `name` is the
variable that the reads begin with: it is a global, an argument, a cell or a default of the program.
Invariant: reads change nothing, so eager and compiled can be asked one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

VALUES = (
    "0", "1", "2", "3", "-1", "7.5", "0.0", "-0.0", "True", "False", "None", "'s'", "''", "(1, 2)",
    "(1, (2.0, 's'))", "[1, 2]", "[]", "{'a': 1}", "{1, 2}", "torch.ones(2)", "torch.tensor(2.0)",
    "torch.ones(2, dtype=torch.float64)", "1 + 2j", "b'q'", "range(3)", "len", "int", "...",
    "float('nan')", "10**30", "KEPT", "Plain()", "Color.RED", "Pair(1, 2)", "(lambda *a: 5)", "add",
    "frozenset((1, 2))",
)  # fmt: skip
KEYS = ("'a'", "'b'", "'z'", "0", "1", "True", "1.0", "(1, 2)", "None")


@dataclass(frozen=True)
class Kind:
    """`unseen`: changes that none of the reads can see."""

    name: str
    made: str
    reads: tuple[str, ...]
    changes: tuple[str, ...]
    unseen: tuple[str, ...] = ()


def lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


VALUE = Kind(
    "G@",
    "G@ = $",
    lines("""
        G@
        x * G@
        G@ + 1
        type(G@).__name__
        isinstance(G@, int)
        isinstance(G@, (float, str))
        G@ is None
        G@ == 1
        G@ == True
        (not G@)
        str(G@)
        [G@, G@]
        callable(G@)
        hasattr(G@, 'append')
        getattr(G@, 'real', 'none')
        len(G@)
        G@ is KEPT
        G@ in (1, 's', None)
        sum(G@)
        G@(x)
        abs(G@)
        G@[0]
        f'{G@}'
        (x if G@ is True else y)
        int(G@)
        max(G@, 2)
    """),
    ("G@ = $", "G@ = $", "G@ = $", "del G@"),
)

LIST = Kind(
    "L@",
    "L@ = [1, 2, $]",
    lines("""
        L@[0]
        L@[-1]
        L@[1:]
        L@[9]
        len(L@)
        bool(L@)
        sum(L@)
        [v for v in L@]
        tuple(L@)
        2 in L@
        L@ == [1, 2, 3]
        L@.index(2)
        L@.count(1)
        sorted(L@)
        max(L@)
        x * len(L@)
        x * L@[0]
        L@ is KEPT
        L@[0] is L@[-1]
        [*L@, *L@]
        L@ + [1]
        list(reversed(L@))
        list(zip(L@, 'ab'))
        list(enumerate(L@))
        type(L@) is list
        any(L@)
        L@
    """),
    lines("""
        L@[0] = $
        L@[-1] = $
        L@.append($)
        L@.pop()
        L@.pop(0)
        L@.clear()
        L@.reverse()
        L@.insert(0, $)
        L@[:] = [1, 2, 3]
        L@ = [1, 2, 3]
        L@ = (1, 2, 3)
        L@ = KEPT
        L@ = Row([1, 2, 3])
        L@ = {1: 2}
        L@[0] = L@
    """),
)

DICT = Kind(
    "D@",
    "D@ = {'a': 1, 'b': {'c': [2, $]}, 1: 5}",
    lines("""
        D@['a']
        D@[?]
        D@.get(?)
        D@.get('z', 5)
        ? in D@
        ? not in D@
        len(D@)
        list(D@)
        list(D@.values())
        [*D@.items()]
        {k: v for k, v in D@.items()}
        D@['b']['c'][0]
        x * D@['a']
        D@ == {'a': 1}
        bool(D@)
        D@ is KEPT
        {**D@}
        dict(D@)
        sorted(map(str, D@))
        [k for k in D@ if k != 'a']
        type(D@) is dict
        D@
        len(D@.keys())
        next(iter(D@))
    """),
    lines("""
        D@[?] = $
        D@[?] = $
        D@.pop(?)
        D@['b'] = {'c': [$]}
        D@['b']['c'][0] = $
        D@['b']['c'].append(1)
        D@['b'].clear()
        D@.clear()
        D@['a'] = D@.pop('a')
        D@.update({1: 7})
        D@ = {'a': 1, 'b': {'c': [2]}}
        D@ = OrderedDict(a=1)
        D@ = Table(a=1)
        D@[True] = D@.pop(1)
        D@ = KEPT
    """),
)

SET = Kind(
    "S@",
    "S@ = {1, 2, 's'}",
    lines("""
        ? in S@
        1 in S@
        len(S@)
        S@ == {1, 2}
        bool(S@)
        sorted(map(str, S@))
        S@ | {9}
        S@ is KEPT
        x * len(S@)
        isinstance(S@, frozenset)
        S@.issuperset({1})
        S@
    """),
    lines("""
        S@.add(?)
        S@.discard(?)
        S@.clear()
        S@.add($)
        S@ = {1, 2}
        S@ = frozenset((1, 2))
        S@ = [1, 2]
        S@ = KEPT
    """),
)

OBJECT = Kind(
    "o@",
    """
class Base@:
    low = 1
    def twice(self, v):
        return v * 2
    def __len__(self):
        return 3
class Other@:
    low, k = 8, 9
    def twice(self, v):
        return v * 9
    def times(self, v):
        return v * 10
class Box@(Base@):
    k = 2
    def __init__(self):
        self.v, self.w = 3, [4]
    prop = property(lambda self: self.v)
    def times(self, v, by=3):
        return v * by + self.k
    still = staticmethod(lambda v: v + 1)
    made = classmethod(lambda cls: cls.k)
    def __call__(self, v):
        return v - self.k
    def __getitem__(self, key):
        return key
    def __eq__(self, other):
        return other == self.k
    __hash__ = None
o@ = Box@()
q@ = Box@()
""",
    lines("""
        o@.v
        o@.k
        o@.low
        o@.w[0]
        o@.prop
        o@.none
        getattr(o@, 'none', 7)
        hasattr(o@, 'none')
        hasattr(o@, 'v')
        o@.times(x)
        o@.times(x, 2)
        o@.twice(x)
        o@.still(2)
        o@.made()
        o@(x)
        o@[1]
        o@ == 2
        o@ != 2
        len(o@)
        bool(o@)
        x * o@.v
        o@.__dict__['v']
        'v' in o@.__dict__
        'none' in vars(o@)
        list(vars(o@))
        isinstance(o@, Base@)
        isinstance(o@, Other@)
        type(o@).__name__
        type(o@).k
        o@.__class__ is Box@
        o@ is q@
        Box@.k
        Box@.low
        Box@.times(o@, x)
        super(Box@, o@).twice(x)
        issubclass(Box@, Other@)
        (o@.v if o@.k else o@.low)
        {m: getattr(o@, m) for m in ('v', 'k')}
        hasattr(Box@, 'v')
        o@
        o@.v is o@.w
        callable(o@)
        [a for a in o@.w]
    """),
    lines("""
        o@.v = $
        o@.k = $
        o@.low = $
        del o@.v
        o@.none = $
        o@.w = $
        o@.w[0] = $
        o@.w.append(1)
        o@.times = lambda v, by=1: v
        o@.__dict__['v'] = $
        o@.__dict__ = {'v': $, 'w': [1]}
        o@.__dict__.clear()
        o@.__class__ = Other@
        o@ = q@
        o@ = Box@()
        o@ = Other@()
        o@ = KEPT
        q@ = o@
        Box@.k = $
        Box@.low = $
        Base@.low = $
        Box@.v = $
        Box@.none = $
        Base@.none = $
        del Box@.k
        Box@.prop = property(lambda self: $)
        Box@.prop = $
        Box@.times = lambda self, v, by=1: v
        Base@.twice = lambda self, v: $
        Box@.times.__defaults__ = ($,)
        Box@.times.__code__ = (lambda self, v, by=3: v - by).__code__
        Box@.still = staticmethod(lambda v: $)
        Box@.still = lambda *v: len(v)
        Box@.made = classmethod(lambda cls: $)
        Box@.__getattr__ = lambda self, name: $
        Box@.__getattribute__ = lambda self, name: $
        del Box@.__getattr__
        del Box@.__getattribute__
        Box@.__call__ = lambda self, v: $
        Box@.__eq__ = lambda self, other: $
        Box@.__ne__ = lambda self, other: $
        Base@.__len__ = lambda self: 0
        Box@.__bool__ = lambda self: False
        Box@.__len__ = lambda self: 5
        Box@.__bases__ = (Other@,)
        Box@.__bases__ = (Base@,)
        Box@.__bases__ = (Other@, Base@)
        Box@.__name__ = 'Crate'
        Box@.v = Data($)
        Box@.k = Data($)
        Box@.__getitem__ = lambda self, key: $
        Box@.__class_getitem__ = 1
        Base@.__getattr__ = lambda self, name: $
        Box@.__iter__ = lambda self: iter(())
    """),
    ("Base@.unused = $",),
)

SLOTS = Kind(
    "s@",
    """
class Slots@:
    __slots__ = ('a', 'b')
    c = 3
    def __init__(self):
        self.a = 1
s@ = Slots@()
""",
    lines("""
        s@.a
        s@.b
        s@.c
        x * s@.a
        hasattr(s@, 'b')
        getattr(s@, 'b', 4)
        hasattr(s@, '__dict__')
        type(s@) is Slots@
    """),
    lines("""
        s@.a = $
        s@.b = $
        del s@.a
        del s@.b
        Slots@.c = $
        s@ = Slots@()
        Slots@.__getattr__ = lambda self, name: $
        Slots@.a = $
        s@ = Plain()
    """),
    ("Slots@.unused = $",),
)

FUNCTION = Kind(
    "h@",
    """
W@ = 2
def make@(c):
    def h@(v, k=2, *, s=1):
        'Help.'
        return v * k + s + c + W@
    def put(value):
        nonlocal c
        c = value
    return h@, put
h@, put@ = make@(1)
""",
    lines("""
        h@(x)
        h@(x, 3)
        h@(x, s=4)
        h@(2)
        h@.__name__
        h@.__doc__
        h@.__defaults__
        h@.__kwdefaults__
        h@.__kwdefaults__['s']
        h@.__module__
        h@.tag
        hasattr(h@, 'tag')
        getattr(h@, 'tag', 0)
        h@ is add
        callable(h@)
        h@.__code__.co_name
        list(map(h@, (1, 2)))
        partial(h@, k=4)(x)
        h@.__closure__[0].cell_contents
        type(h@).__name__
        h@.__dict__
        h@.__wrapped__
    """),
    lines("""
        h@.__defaults__ = ($,)
        h@.__defaults__ = ()
        h@.__defaults__ = None
        h@.__kwdefaults__ = {'s': $}
        h@.__kwdefaults__['s'] = $
        h@.__kwdefaults__ = None
        h@.__code__ = make_other(5).__code__
        h@.__name__ = 'other'
        h@.__doc__ = $
        h@.tag = $
        del h@.tag
        h@.__module__ = 'elsewhere'
        h@ = lambda v, *more, **named: v
        h@ = make@(1)[0]
        h@ = make@($)[0]
        h@ = add
        h@ = len
        h@ = partial(add, 2)
        h@ = Plain()
        put@($)
        put@($)
        W@ = $
        del W@
    """),
    ("h@.unused = 1",),
)

PARTIAL = Kind(
    "P@",
    "T@ = [2]\nP@ = partial(add, 2, c=T@)",
    ("P@(x)", "P@(3)", "P@.args", "P@.func is add", "P@.keywords", "P@.keywords['c'][0]"),
    ("P@ = partial(add, $)", "P@.keywords['c'] = $", "T@[0] = $", "P@ = add", "P@.tag = 1"),
)

MODULE = Kind(
    "m@",
    "m@ = ModuleType('m@')\nm@.v, m@.f, m@.sub = 3, add, ModuleType('sub@')\nm@.sub.w = 4",
    lines("""
        m@.v
        m@.sub.w
        m@.none
        getattr(m@, 'none', 3)
        hasattr(m@, 'none')
        m@.f(1, 2)
        x * m@.v
        m@.__name__
        type(m@).__name__
        'v' in vars(m@)
        m@.__dict__['v']
    """),
    lines("""
        m@.v = $
        del m@.v
        m@.none = $
        m@.f = $
        m@.f = len
        m@.sub.w = $
        m@.sub = ModuleType('other')
        m@.sub = Plain()
        m@ = ModuleType('new')
        m@ = Plain()
        m@.__getattr__ = lambda name: $
        del m@.__getattr__
        m@.__name__ = 'other'
    """),
    ("m@.unused = $", "m@.sub.unused = $"),
)

TENSOR = Kind(
    "t@",
    "t@ = torch.tensor([1.0, 2.0])",
    lines("""
        x + t@
        t@.sum()
        t@.shape
        t@.shape[0]
        t@.dim()
        t@.dtype
        t@.dtype is torch.float32
        t@.requires_grad
        t@.stride()
        t@.is_contiguous()
        t@.numel()
        t@.device.type
        t@ is x
        t@ is y
        (t@ is x or t@ is y)
        t@ * y
        t@.storage_offset()
        (t@ * 2).requires_grad
        t@.reshape(-1)
        t@.tolist()
        x.add(t@)
        t@[0]
        t@.is_leaf
        t@.grad is None
        len(t@)
        t@.size(0) + 1
        isinstance(t@, torch.Tensor)
        t@.T
        t@.float()
        t@.detach()
        type(t@) is type(x)
        [row for row in t@]
        t@
    """),
    lines("""
        t@ = torch.ones(3)
        t@ = torch.ones(2, 2)
        t@ = torch.ones(1)
        t@ = torch.ones(2, 1)
        t@ = torch.ones(())
        t@ = torch.zeros(0)
        t@ = torch.tensor([1, 2])
        t@ = torch.tensor([True, False])
        t@ = torch.tensor([1.0, 2.0], dtype=torch.float64)
        t@ = torch.ones(2, requires_grad=True)
        t@ = torch.ones(2, requires_grad=True) * 2
        t@ = torch.arange(6.0).reshape(2, 3)
        t@ = torch.arange(6.0).reshape(3, 2).t()
        t@ = torch.arange(4.0)[2:]
        t@ = torch.arange(4.0)[::2]
        t@ = torch.ones(1).expand(2)
        t@ = x0
        t@ = y0
        t@ = x0[:]
        t@ = 2.0
        t@ = Plain()
        t@.data = torch.ones(3)
        t@.data = torch.ones(2, dtype=torch.float64)
        t@.requires_grad_()
        t@.requires_grad_(False)
        t@.detach_()
        t@[0] = 5.0
        t@ = made_in_inference()
        t@ = t@.clone()
        t@ = t@.detach()
    """),
)

# `where` is what the call happens under, `x0` and `y0` are its first arguments.
STATE = Kind(
    "where",
    "",
    lines("""
        torch.is_grad_enabled()
        torch.get_default_dtype()
        torch.ones(2) * 1.5
        torch.tensor(1.5).dtype
        torch.tensor([1, 2]) * 1.5
        torch.is_inference_mode_enabled()
        (x * torch.ones(2, requires_grad=True)).requires_grad
        torch.zeros(2).is_inference()
        torch.full((2,), 2.5)
        x / 3
        torch.arange(3) / 2
        torch.get_num_threads()
    """),
    lines("""
        where = 'no_grad'
        where = 'inference'
        where = 'thread'
        where = ''
        where = 'enable_grad'
        torch.set_default_dtype(torch.float64)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(False)
        torch.set_grad_enabled(True)
        torch.set_num_threads(1)
        torch.set_num_threads(2)
    """),
)

BUILTIN = Kind(
    "absent@",
    "",
    ("abs(-3)", "len('abc')", "sum((1, 2))", "absent@", "max(1, 2)", "isinstance(3, int)",
     "sorted((2, 1))", "relu(x)", "torch.relu(x)", "torch.exp(x)"),  # fmt: skip
    ("abs = lambda v: 7", "del abs", "len = lambda v: $", "del len", "sum = max", "del sum",
     "absent@ = $", "del absent@", "isinstance = lambda *v: $", "del isinstance", "sorted = len",
     "del sorted", "relu = torch.exp", "relu = torch.relu", "int = float", "del int",
     "torch = ModuleType('torch')", "torch = TORCH"),  # fmt: skip
)  # fmt: skip

ARGUMENTS = Kind(
    "x0",
    "",
    ("x + y", "x * 2", "x.shape", "x is y", "x.dtype", "x.requires_grad", "x.stride()", "y.sum()",
     "x.shape[0] + 1", "x.shape == y.shape", "x[0]", "torch.relu(x) + y"),  # fmt: skip
    ("x0 = torch.ones(3)", "y0 = torch.ones(3)", "x0 = y0", "x0 = torch.ones(2)", "y0 = x0[:]",
     "x0 = torch.ones(2, 2).t()", "y0 = torch.ones(2, dtype=torch.float64)", "y0 = torch.ones(1)",
     "x0 = torch.ones(2, requires_grad=True)", "x0 = torch.arange(4.0)[::2]", "x0 = torch.ones(4)",
     "y0 = torch.ones(4)", "y0 = torch.arange(2.0)", "y0 = torch.ones(2)", "x0 = torch.ones(5)",
     "x0.requires_grad_()", "y0.requires_grad_(False)", "y0 = torch.tensor([3, 4])"),  # fmt: skip
)  # fmt: skip

NUMBERED = (VALUE, LIST, DICT, SET, OBJECT, SLOTS, FUNCTION, PARTIAL, MODULE, TENSOR, BUILTIN)
