"""What Python's lookups ask besides an object and its class: metaclasses, descriptors, operators,
classes derived from builtin ones, bound methods, modules of another class."""

from __future__ import annotations

from .places import Kind, lines

METACLASS = Kind(
    "C@",
    """
class M@(type):
    k = 'meta'
    mp = property(lambda cls: cls.n)
    def __call__(cls, *args): return len(args)
    def __len__(cls): return 3
    def __getitem__(cls, key): return key * 2
    def __iter__(cls): return iter((1, 2))
    def __contains__(cls, value): return value == 1
    def __instancecheck__(cls, value): return cls.n
    def __subclasscheck__(cls, other): return cls.n
class N@(type):
    k = 'other'
class C@(metaclass=M@):
    n = 1
class E@(metaclass=N@):
    n = 2
""",
    lines("""
        C@.k
        C@.mp
        C@.n
        C@(1)
        len(C@)
        C@[2]
        list(C@)
        1 in C@
        bool(C@)
        (x if C@ else y)
        isinstance(3, C@)
        isinstance(C@, M@)
        issubclass(int, C@)
        type(C@).k
        C@ == E@
        {C@: 1}.get(C@)
        hasattr(C@, 'low')
        C@.__name__
    """),
    lines("""
        C@.n = $
        C@.k = $
        del C@.k
        M@.k = $
        M@.n = property(lambda cls: $)
        M@.mp = property(lambda cls: $)
        C@.mp = $
        M@.__call__ = lambda cls, *args: $
        del M@.__call__
        M@.__len__ = lambda cls: 0
        del M@.__len__
        M@.__bool__ = lambda cls: False
        del M@.__bool__
        M@.__getitem__ = lambda cls, key: $
        del M@.__getitem__
        C@.__class_getitem__ = classmethod(lambda cls, key: $)
        M@.__iter__ = lambda cls: iter(())
        M@.__contains__ = lambda cls, value: $
        del M@.__contains__
        M@.__eq__ = lambda cls, other: $
        M@.__hash__ = lambda cls: 1
        M@.__instancecheck__ = lambda cls, value: $
        del M@.__subclasscheck__
        M@.__getattribute__ = lambda cls, name: $
        del M@.__getattribute__
        M@.__getattr__ = lambda cls, name: $
        C@.__name__ = 'Renamed'
        C@ = E@
        C@ = Plain
    """),
    ("C@.unused = $", "M@.unused = $"),
)

DESCRIPTORS = Kind(
    "a@",
    """
class Get@:
    def __init__(self, v): self.v = v
    def __get__(self, instance, owner=None): return self.v
class Both@(Get@):
    def __set__(self, instance, value): self.v = value
class Owner@:
    g, b, plain = Get@(1), Both@(2), 3
a@ = Owner@()
d@ = Owner@.__dict__['b']
""",
    lines("""
        a@.g
        a@.b
        a@.plain
        Owner@.g
        Owner@.b
        x * a@.b
        getattr(a@, 'g', 0)
        hasattr(a@, 'none')
        Owner@.__dict__['b'].v
        d@.v
        vars(a@)
    """),
    lines("""
        d@.v = $
        a@.g = $
        a@.b = $
        a@.plain = $
        a@.__dict__['b'] = $
        a@.__dict__['g'] = $
        a@.__dict__.clear()
        Get@.__get__ = lambda self, instance, owner=None: $
        del Get@.__get__
        Get@.__set__ = lambda self, instance, value: None
        del Get@.__set__
        Both@.__set__ = None
        del Both@.__set__
        Both@.__delete__ = lambda self, instance: None
        Owner@.g = $
        Owner@.g = Both@($)
        Owner@.b = Get@($)
        Owner@.plain = Both@($)
        Owner@.none = Get@($)
        Owner@.__getattr__ = lambda self, name: $
        a@ = Owner@()
    """),
    ("Owner@.unused = Get@($)", "Get@.unused = $"),
)

DERIVED = Kind(
    "i@",
    """
class Int@(int): pass
class Text@(str):
    def upper(self): return 'UP'
class Row@(list):
    def __len__(self): return size@
class Table@(dict):
    def __missing__(self, key): return size@
size@ = 5
i@, u@, r@, e@ = Int@(3), Text@('a'), Row@([1, 2]), Table@(a=1)
""",
    lines("""
        i@ + 1
        x * i@
        i@ == 3
        list(range(i@))
        (x if i@ else y)
        [10, 20, 30, 40, 50, 60][i@]
        u@.upper()
        u@ == 'a'
        {'a': 1}.get(u@)
        'b' + u@
        len(r@)
        r@[0]
        list(r@)
        bool(r@)
        e@['a']
        e@['z']
        e@.get('z')
        'z' in e@
        {**e@}
        dict(e@)
    """),
    lines("""
        i@ = Int@(4)
        i@ = 4
        i@.extra = $
        Int@.__add__ = lambda self, other: $
        Int@.__mul__ = lambda self, other: $
        Int@.__rmul__ = lambda self, other: $
        Int@.__index__ = lambda self: 1
        Int@.__bool__ = lambda self: False
        Int@.__eq__ = lambda self, other: $
        u@ = Text@('b')
        u@ = 'a'
        Text@.upper = lambda self: $
        Text@.__eq__ = lambda self, other: True
        Text@.__hash__ = lambda self: hash('a')
        size@ = 6
        r@.append($)
        e@['z'] = $
        del e@['z']
        Table@.__missing__ = lambda self, key: $
        del Table@.__missing__
        Table@.__getitem__ = lambda self, key: $
        Table@.__contains__ = lambda self, key: True
        Row@.__len__ = list.__len__
        Row@.__getitem__ = lambda self, key: $
        Row@.__iter__ = lambda self: iter('ab')
        Row@.__bool__ = lambda self: False
        e@ = {}
    """),
    ("Int@.unused = $", "Table@.unused = $"),
)

OPERATORS = Kind(
    "v@",
    """
class Op@:
    def __init__(self, v): self.v = v
    def __call__(self, v): return v + self.v
    def __enter__(self): return self.v
    def __exit__(self, *error): return False
    def __iter__(self): return iter((self.v, 1))
    def __contains__(self, value): return value == self.v
    def __lt__(self, other): return self.v < getattr(other, 'v', other)
    def __neg__(self): return -self.v
    def __matmul__(self, other): return 'times'
    def __radd__(self, other): return 'added'
    def __format__(self, spec): return 'text' + spec
    def __index__(self): return self.v
    def __eq__(self, other): return self.v == getattr(other, 'v', other)
    def __hash__(self): return hash(self.v)
    def within(self):
        with self as value:
            return value
v@, w@ = Op@(1), Op@(2)
bound@ = v@.within
""",
    lines("""
        v@(x)
        list(v@)
        1 in v@
        v@ < 3
        v@ < w@
        sorted((w@, v@))[0].v
        min(v@, w@).v
        -v@
        v@ @ 2
        5 + v@
        f'{v@:q}'
        [10, 20, 30][v@]
        x[v@]
        v@.within()
        bound@()
        bound@.__self__.v
        v@ == w@
        v@ in (w@, v@)
        {v@: 1}.get(w@)
        [v@, w@].index(w@)
        tuple(map(v@, (1, 2)))
        operator.attrgetter('v')(v@)
        partial(v@)(3)
    """),
    lines("""
        v@.v = 2
        v@.v = $
        w@ = v@
        w@ = Op@(1)
        bound@ = w@.within
        Op@.__call__ = lambda self, v: $
        Op@.__enter__ = lambda self: $
        Op@.__exit__ = lambda self, *error: True
        Op@.__iter__ = lambda self: iter((7,))
        del Op@.__iter__
        Op@.__getitem__ = lambda self, key: (1, 2)[key]
        Op@.__contains__ = lambda self, value: True
        del Op@.__contains__
        Op@.__lt__ = lambda self, other: $
        Op@.__gt__ = lambda self, other: $
        Op@.__neg__ = None
        del Op@.__matmul__
        Op@.__radd__ = lambda self, other: NotImplemented
        Op@.__format__ = lambda self, spec: spec
        Op@.__index__ = lambda self: 0
        Op@.__eq__ = lambda self, other: $
        Op@.__hash__ = lambda self: 1
        Op@.__init__ = lambda self, v: None
        Op@.within = lambda self: $
        v@.__call__ = $
        v@.within = lambda: $
    """),
    ("Op@.unused = $", "w@.unused = $"),
)

SETTINGS = Kind(
    "b@",
    """
class Answering@(ModuleType):
    v = property(lambda self: 'answered')
b@ = ModuleType('b@')
b@.v, b@.names = 3, SimpleNamespace(w=4)
held@ = MappingProxyType(vars(b@))
""",
    lines("""
        b@.v
        x * b@.v
        b@.names.w
        getattr(b@, 'w', 0)
        type(b@).__name__
        held@['v']
        'z' in held@
        len(held@)
        vars(b@)['v']
        hasattr(b@, 'z')
    """),
    lines("""
        b@.v = $
        b@.names.w = $
        b@.names = SimpleNamespace(w=$)
        b@.z = $
        del b@.z
        b@.__class__ = Answering@
        b@.__class__ = ModuleType
        del b@.v
        Answering@.v = $
        Answering@.__getattr__ = lambda self, name: $
        held@ = {'v': $}
        b@.__dict__['v'] = $
    """),
    ("Answering@.unused = $", "b@.names.unused = $"),
)

ODD = (METACLASS, DESCRIPTORS, DERIVED, OPERATORS, SETTINGS)
