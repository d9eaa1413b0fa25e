"""Further kinds of places: what Python's library, classes within classes and `torch.nn` make."""

from __future__ import annotations

from .places import Kind, lines

DATACLASS = Kind(
    "c@",
    """
@dataclass
class Config@:
    v: int = 3
    w: list = field(default_factory=lambda: [4])
    low: ClassVar[int] = 1
@dataclass(frozen=True, order=True)
class Frozen@:
    a: int = 1
    b: object = None
c@ = Config@()
c@.inner = Frozen@(2, Config@(5))
""",
    lines("""
        c@.v
        c@.w[0]
        c@.low
        c@.inner.a
        c@.inner.b.v
        c@.inner.b.w
        x * c@.v
        x * c@.inner.b.v
        c@ == Config@()
        c@ == c@.inner.b
        c@.inner < Frozen@(3)
        c@.inner == Frozen@(2)
        hash(c@.inner) == hash(Frozen@(2))
        replace(c@, v=9).v
        replace(c@.inner, b=1)
        asdict(c@.inner.b)
        [f.name for f in fields(c@)]
        is_dataclass(c@)
        repr(c@)
        Config@(v=7).v
        Frozen@(c@.v)
        type(c@).__dataclass_fields__['v'].default
        c@.inner in {Frozen@(2): 1}
        c@
    """),
    lines("""
        c@.v = $
        c@.w = $
        c@.w.append($)
        c@.w[0] = $
        c@.inner = Frozen@($, c@)
        c@.inner = Frozen@(2, Config@(5))
        c@.inner = $
        c@.inner.b.v = $
        object.__setattr__(c@.inner, 'a', $)
        Config@.v = $
        Config@.low = $
        Config@.__eq__ = lambda self, other: $
        Config@.__repr__ = lambda self: 'a config'
        Config@.__init__.__defaults__ = ($, 1)
        Frozen@.__lt__ = lambda self, other: $
        c@ = Config@($)
        c@ = Frozen@(1)
        del c@.v
    """),
    ("Config@.unused = $", "c@.unused = $"),
)

NAMED_TUPLE = Kind(
    "n@",
    "Point@ = namedtuple('Point@', 'a b', defaults=[7])\nn@ = Point@(1, [2, 3])",
    lines("""
        n@.a
        n@[1]
        n@.b[0]
        x * n@.a
        n@._replace(a=5)
        n@._fields
        n@._asdict()
        n@ == (1, [2, 3])
        [v for v in n@]
        Point@(4)
        Point@(4).b
        n@.count(1)
        1 in n@
        n@[::-1]
        type(n@) is Point@
        isinstance(n@, tuple)
        n@ + (1,)
        (lambda a, b: (b, a))(*n@)
        n@
    """),
    lines("""
        n@ = Point@($, [2, 3])
        n@ = Point@(1, $)
        n@.b[0] = $
        n@.b.append($)
        n@ = (1, [2, 3])
        n@ = Pair(1, [2, 3])
        n@ = [1, [2, 3]]
        Point@.a = property(lambda self: $)
        Point@._fields = ('a', 'c')
        Point@.__new__.__defaults__ = ($,)
        Point@.extra = $
    """),
)

ENUM = Kind(
    "e@",
    """
class Mode@(Enum):
    LOW, HIGH = 1, 2
    def twice(self):
        return self.value * 2
class Level@(IntEnum):
    LOW, HIGH = 1, 2
class Flags@(Flag):
    A, B = 1, 2
e@ = Mode@.LOW
""",
    lines("""
        e@ is Mode@.LOW
        e@ == Mode@.HIGH
        e@ == Level@.LOW
        e@ == 1
        e@.value
        e@.name
        x * e@.value
        x * e@
        e@ in (Mode@.LOW, Level@.LOW)
        {Mode@.LOW: 'low', Mode@.HIGH: 'high'}.get(e@, 'none')
        e@.twice()
        isinstance(e@, int)
        Mode@(1)
        Mode@['HIGH'].value
        Mode@.HIGH.value
        [m.name for m in Mode@]
        len(Mode@)
        e@ in Mode@
        str(e@)
        hash(e@) == hash(Mode@.LOW)
        e@ & Flags@.A
        bool(e@)
        e@
    """),
    lines("""
        e@ = Mode@.LOW
        e@ = Mode@.HIGH
        e@ = Level@.LOW
        e@ = Level@.HIGH
        e@ = Flags@.A
        e@ = Flags@.A | Flags@.B
        e@ = $
        e@ = Mode@
        Mode@.twice = lambda self: $
        Mode@.LOW._value_ = $
        Mode@.__str__ = lambda self: 'a mode'
        Mode@.LOW.extra = $
    """),
)

CLASS = Kind(
    "K@",
    """
class Meta@(type):
    shared = 5
    def of_meta(cls):
        return cls.v
    def __getattr__(cls, name):
        if name == 'made_up':
            return 6
        raise AttributeError(name)
class Root@:
    low = [1]
    table = {'a': 1}
    @classmethod
    def make(cls, n=2):
        return n, cls.__name__, cls.v
    @staticmethod
    def still(n, k=[3]):
        return n, k[0]
class K@(Root@, metaclass=Meta@):
    v = 3
    class Inner:
        w = 4
        def __init__(self, n=1): self.n = n
    inner = Inner()
""",
    lines("""
        K@.v
        K@.low[0]
        K@.table['a']
        K@.Inner.w
        K@.inner.w
        K@.inner.n
        K@.Inner().n
        K@.shared
        K@.of_meta()
        K@.made_up
        K@.make()
        K@.make(3)
        K@.still(1)
        K@().v
        K@().low
        x * K@.v
        x * K@.Inner.w
        hasattr(K@, 'none')
        getattr(K@, 'none', 1)
        'v' in K@.__dict__
        K@.__dict__['v']
        vars(K@)['v']
        K@.__name__
        K@.__mro__[1] is Root@
        issubclass(K@, Root@)
        type(K@) is Meta@
        isinstance(K@.inner, K@.Inner)
        K@
    """),
    lines("""
        K@.v = $
        K@.low = $
        Root@.low = $
        Root@.low[0] = $
        Root@.low.append(2)
        K@.table['a'] = $
        Root@.table = {'a': $}
        K@.Inner.w = $
        K@.inner.w = $
        K@.inner.n = $
        K@.inner = K@.Inner($)
        K@.Inner = Plain
        K@.Inner.__init__.__defaults__ = ($,)
        Meta@.shared = $
        K@.shared = $
        Meta@.of_meta = lambda cls: $
        Meta@.__getattr__ = lambda cls, name: $
        Meta@.v = property(lambda cls: 8)
        del Meta@.v
        K@.make = classmethod(lambda cls, n=1: $)
        Root@.make.__func__.__defaults__ = ($,)
        Root@.still.__defaults__[0][0] = $
        Root@.still = staticmethod(lambda n: $)
        K@.__bases__ = (Plain,)
        del K@.v
        K@ = Root@
        K@ = Plain
    """),
    ("K@.unused = $", "Root@.unused = $", "Meta@.unused = $", "K@.Inner.unused = $"),
)

TREE = Kind(
    "r@",
    """
class Node@:
    def __init__(self, value, *children):
        self.value, self.children, self.by_name = value, list(children), {}
    def total(self):
        return self.value + sum(child.total() for child in self.children)
    def __contains__(self, value):
        return value == self.value or any(value in child for child in self.children)
leaf@ = Node@(1)
r@ = Node@(2, leaf@, Node@(3, Node@(4)))
r@.by_name['leaf'], r@.parent = leaf@, None
""",
    lines("""
        r@.value
        r@.total()
        x * r@.children[0].value
        r@.children[1].children[0].value
        r@.by_name['leaf'].value
        r@.by_name['leaf'] is r@.children[0]
        r@.by_name.get('none')
        len(r@.children)
        4 in r@
        [child.value for child in r@.children]
        {name: node.value for name, node in r@.by_name.items()}
        r@.parent is None
        (r@.parent or r@).value
        r@.children[-1].children
        max(r@.children, key=lambda child: child.value).value
        r@.children[0] is leaf@
        r@.children[0].value + leaf@.value
    """),
    lines("""
        leaf@.value = $
        r@.value = $
        r@.children[0] = Node@($)
        r@.children[1].children[0].value = $
        r@.children[1].children.append(leaf@)
        r@.children[1].children.clear()
        r@.children.append(Node@(5))
        r@.children.reverse()
        r@.children.pop()
        r@.by_name['leaf'] = Node@($)
        r@.by_name['new'] = leaf@
        r@.by_name.clear()
        leaf@ = Node@($)
        r@.parent = $
        r@.parent = leaf@
        r@.parent = r@
        Node@.total = lambda self: $
        Node@.value = 7
        r@ = Node@(2, leaf@)
    """),
    ("leaf@.unused = $", "Node@.unused = $"),
)

CLOSURES = Kind(
    "f@",
    """
def outer@(a, b=[5]):
    def middle(c):
        def f@(v, k=b, *, by={'n': 1}):
            return v * a + c + k[0] + by['n'] + deep(1)
        def deep(n):
            return n + a + len(b)
        return f@
    def put_a(value):
        nonlocal a
        a = value
    return middle, put_a, b
middle@, put_a@, kept@ = outer@(2)
f@ = middle@(3)
""",
    lines("""
        f@(x)
        f@(1)
        f@(x, [2])
        f@(1, by={'n': 4})
        [f@(v) for v in (1, 2)]
        middle@(4)(1)
        middle@(4)(x)
        outer@(1)[0](2)(3)
        f@.__defaults__[0][0]
        f@.__kwdefaults__['by']['n']
        (lambda v: f@(v) + 1)(1)
        list(map(f@, (1, 2)))
        sorted((3, 1, 2), key=f@)
        functools.reduce(lambda a, b: a + f@(b), (1, 2), 0)
        wrapped(f@)(1)
        wrapped(f@).__name__
    """),
    lines("""
        put_a@($)
        put_a@(1)
        kept@[0] = $
        kept@.append($)
        kept@[:] = [6]
        f@.__defaults__ = ([$],)
        f@.__kwdefaults__['by'] = {'n': $}
        f@.__kwdefaults__['by']['n'] = $
        f@ = middle@($)
        middle@, put_a@, kept@ = outer@($)
        f@ = outer@(2)[0](3)
        f@.__closure__[0].cell_contents = $
        outer@.__defaults__ = ([$],)
        f@ = lambda v, k=None, **by: v
        wrapped = lambda f: f
    """),
)

LIBRARY = Kind(
    "q@",
    """
q@ = deque((1, 2, 3), maxlen=4)
dd@ = defaultdict(list, {'a': [1]})
od@ = OrderedDict(a=1, b=2)
cn@ = Counter('aab')
cm@ = ChainMap({'a': 1}, {'b': 2})
names@ = {'a', 'b'}
""",
    lines("""
        q@[0]
        q@[-1]
        len(q@)
        list(q@)
        2 in q@
        q@.maxlen
        q@ == deque((1, 2, 3))
        x * q@[1]
        [v for v in q@]
        dd@['a'][0]
        dd@.get('none')
        dd@.default_factory is list
        'z' in dd@
        od@['a']
        list(od@)
        list(od@.items())
        next(reversed(od@))
        od@ == OrderedDict(b=2, a=1)
        cn@['a']
        cn@['none']
        cn@.most_common(1)
        cn@ + Counter('a')
        sum(cn@.values())
        cm@['b']
        cm@.maps[0]
        'a' in names@
        'z' in names@
        names@ & {'a', 'z'}
        sorted(names@)
        len(names@ | {'q'})
        all(name in names@ for name in ('a', 'b'))
        {'a', 'b'} <= names@
    """),
    lines("""
        q@.append($)
        q@.appendleft($)
        q@.popleft()
        q@.rotate(1)
        q@.clear()
        q@[0] = $
        q@ = deque((1, 2, 3))
        q@ = [1, 2, 3]
        dd@['a'] = $
        dd@['a'].append($)
        dd@['z'] = 1
        dd@.default_factory = None
        dd@ = {'a': [1]}
        od@.move_to_end('a')
        od@['a'] = $
        od@.popitem(last=False)
        od@ = dict(a=1, b=2)
        cn@['a'] += 1
        cn@.update('zz')
        del cn@['a']
        cm@.maps.pop()
        cm@['b'] = $
        cm@.maps[1]['b'] = $
        names@.add('z')
        names@.discard('a')
        names@ = frozenset('ab')
        names@ = {'b', 'a', 'c'}
    """),
)

VIEWS = Kind(
    "i@",
    """
d@ = {'a': 1, 'b': 2, 3: [4]}
i@, ks@, vs@ = d@.items(), d@.keys(), d@.values()
sl@, rg@, mv@ = slice(0, 2), range(4), d@.get
""",
    lines("""
        list(i@)
        len(i@)
        'a' in ks@
        list(ks@)
        ks@ & {'a', 'z'}
        ks@ == {'a', 'b', 3}
        list(vs@)
        2 in vs@
        {k: v for k, v in i@ if k != 3}
        [k for k in reversed(d@)]
        sorted(map(str, ks@))
        sum(v for v in d@.values() if isinstance(v, int))
        d@ | {'z': 1}
        (d@.keys() - {'a'})
        sl@.stop
        (1, 2, 3)[sl@]
        x[sl@]
        rg@[1]
        3 in rg@
        len(rg@)
        list(rg@)
        mv@('a')
        mv@('none', 7)
        dict(zip(d@, rg@))
        d@.items() <= {('a', 1), ('b', 2)}
    """),
    lines("""
        d@['a'] = $
        d@['z'] = $
        d@.pop('a', None)
        d@.clear()
        d@['b'] = d@.pop('b', 2)
        d@[3].append(5)
        d@ = {'a': 1}
        i@ = {'a': 1}.items()
        ks@ = {'a': 1}.keys()
        vs@ = [1, 2]
        sl@ = slice(0, 1)
        sl@ = slice(None)
        sl@ = slice(0, 2, $)
        rg@ = range(3)
        rg@ = range(0, 4, 2)
        rg@ = (0, 1, 2, 3)
        mv@ = {'a': $}.get
    """),
)

SIZES = Kind(
    "z@",
    "z@ = torch.arange(6.0).reshape(2, 3)",
    lines("""
        z@.shape
        z@.shape[1:]
        z@.shape[-1]
        z@.shape[:1] + (7,)
        len(z@.shape)
        z@.shape == (2, 3)
        3 in z@.shape
        sum(z@.shape)
        max(z@.shape)
        [n * 2 for n in z@.shape]
        z@.shape.numel()
        z@.size()[0] // 2
        z@.reshape(*z@.shape, 1)
        z@.reshape(-1)[: z@.shape[0]]
        z@[: z@.shape[0] // 2]
        z@[:, 1:].sum()
        z@.sum(0)
        z@ * z@.shape[0]
        (z@.sum() if z@.shape[0] > 2 else z@.sum() * 2)
        z@.t().stride()
        z@.view(z@.numel())
        torch.zeros(z@.shape).sum()
        torch.cat([z@, z@]).shape
        min(z@.shape[0], 4)
        divmod(z@.shape[0], 2)
        str(tuple(z@.shape))
        {2: 'two', 3: 'three'}.get(z@.shape[0], 'other')
        z@.shape[0] % 2 == 0
        z@.mean(-1)
        z@[z@.shape[0] - 1]
        x.sum() + z@.sum()
    """),
    lines("""
        z@ = torch.ones(2, 3)
        z@ = torch.ones(3, 3)
        z@ = torch.ones(4, 3)
        z@ = torch.ones(5, 4)
        z@ = torch.ones(6, 5)
        z@ = torch.ones(1, 3)
        z@ = torch.ones(0, 3)
        z@ = torch.ones(3)
        z@ = torch.ones(2, 2, 2)
        z@ = torch.ones(3, 5).t()
        z@ = torch.ones(8, 3)[::2]
        z@ = torch.ones(4, 9)[:, 3:]
        z@ = torch.ones(3, 1).expand(3, 4)
        z@ = torch.ones(7, 3, requires_grad=True)
        z@ = torch.ones(4, 4, dtype=torch.float64)
        z@ = z@.clone()
        torch._dynamo.maybe_mark_dynamic(z@, 0)
        torch._dynamo.mark_static(z@)
    """),
)

NETWORK = Kind(
    "net@",
    """
class Net@(torch.nn.Module):
    scale = 2
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 2)
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        self.register_buffer('seen', torch.ones(2))
        self.rate = 0.5
    def forward(self, v):
        v = self.layers(self.first(v)) * self.scale
        return v + self.seen if self.training else v * self.rate
net@ = Net@()
""",
    lines("""
        net@(x)
        net@.forward(y)
        net@.first(x)
        net@.layers[0](x)
        len(net@.layers)
        [type(layer).__name__ for layer in net@.layers]
        net@.training
        net@.layers[1].training
        net@.first.weight.requires_grad
        net@.first.bias is None
        net@.first.in_features
        net@.rate
        net@.scale
        net@.seen
        net@.seen * x
        [name for name, _ in net@.named_parameters()]
        [tuple(p.shape) for p in net@.parameters()]
        sum(p.numel() for p in net@.parameters())
        hasattr(net@, 'extra')
        isinstance(net@, torch.nn.Module)
        list(net@.state_dict())
        list(net@.children())[0] is net@.first
    """),
    lines("""
        net@.eval()
        net@.train()
        net@.layers.eval()
        net@.training = False
        net@.rate = $
        net@.rate = 0.25
        net@.scale = $
        Net@.scale = 3
        net@.seen = torch.zeros(2)
        net@.seen = None
        net@.first = torch.nn.Linear(2, 2, bias=False)
        net@.first = net@.layers[0]
        net@.first = torch.nn.Identity()
        net@.first.bias = None
        net@.first.weight.requires_grad_(False)
        net@.requires_grad_(False)
        net@.requires_grad_()
        net@.first.weight.data = torch.ones(2, 2)
        net@.first.weight = torch.nn.Parameter(torch.zeros(2, 2))
        net@.layers[1] = torch.nn.Tanh()
        net@.layers.append(torch.nn.Linear(2, 2))
        net@.extra = torch.nn.Linear(2, 2)
        net@.extra = $
        net@.register_buffer('seen', torch.full((2,), 3.0))
        net@.forward = lambda v: v
        Net@.forward = lambda self, v: v * self.scale
        net@.double()
        net@ = Net@()
        net@ = torch.nn.Linear(2, 2)
        net@.first.forward = lambda v: v + 1
    """),
)

MORE = (
    DATACLASS, NAMED_TUPLE, ENUM, CLASS, TREE, CLOSURES, LIBRARY, VIEWS, SIZES, NETWORK,
)  # fmt: skip
