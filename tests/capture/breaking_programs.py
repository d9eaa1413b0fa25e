"""Random programs full of breaks: loops, with, try, raise, closures, containers, tensors."""

from __future__ import annotations

from random import Random

PREAMBLE = '''\
COUNT = 0

class Noisy:
    def __init__(self, swallow=False):
        self.swallow = swallow

    def __enter__(self):
        log("enter")
        return self

    def __exit__(self, kind, value, tb):
        log(("exit", kind and kind.__name__))
        return self.swallow and kind is ValueError

def check(k):
    if k % 3 == 1:
        log("bad")
        raise ValueError("one of three")

def callee(t, k):
    t = t + 1
    log(("callee", k))
    return t * 2

def guarded(t, k):
    try:
        t = t * 2
        check(k)
        return t + 1
    finally:
        log("leaving")

def star(*ts, scale=1, **more):
    log(len(ts))
    return sum(ts, more.get("start", 0)) * scale

def gen(t, k):
    for j in range(k):
        log(("yield", j))
        yield t + j

def deep(t, k):
    if k <= 0:
        log("bottom")
        return t
    return deep(t * 0.5, k - 1) + 1

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
                log(j)
        return t
    return t - 1

def annotated(t):
    def inner(u: "a tensor", *, k: int = 2) -> "another":
        return u * k + t
    log("between")
    return inner

class Holder:
    def __init__(self, x):
        self.x = x

    def twice(self):
        return self.x * 2

def pure(t, k=2):
    return t * k + 1

@disable
def observe(t):
    log(t.tolist())
    return t

'''

EXPRESSIONS = (
    "x + 1", "x * 2", "x.relu()", "x + y", "x * y - 1", "pure(x)", "pure(y, k)", "callee(x, k)",
    "observe(x)", "x if k > 1 else y", "guarded(x, k)", "x * x.sum().item()", "y - x",
    "(lambda t: t * 2)(x)", "total + x", "bump(x)", "read() + 1", "x[0] + y", "x.view(2, 1)[:, 0]",
    "[x, y][k % 2]", "{'a': x, 'b': y}['b']", "sum([t * j for j, t in enumerate((x, y))])",
    "sum([t + noise(j) for j, t in enumerate((x, y))])", "items[0] if items else x", "(x + k) * 2",
    "star(x, y, scale=2)", "star(*[x, y], **{'start': y})", "nests(x, k)", "sum(gen(x, k), y)",
    "deep(x, k)", "annotated(x)(y)", "x.sum() and y", "k or x", "y if x[0] > 0 else x",
    "(w := x * 2) + w", "[t * 2 for t in (x, y) if t.sum() > 0 or k][0] if k else y",
    "{j: t for j, t in enumerate((x, y))}[k % 2]", "max((x, y), key=lambda t: t.sum().item())",
    "sorted((x, y), key=lambda t: -t[0].item())[0]", "(x if k else y).view(2).add(noise(1))",
    "x.clone().add_(y)", "star(x, scale=noise(2))", "Holder(x).twice()",
    "x * len({1, 2, *[noise(j) for j in range(k)]})", "x.detach()",
    "torch.where(x > 0, x, y)", "x * (k if k else 0.5)", "d.get('a', y)",
)
SIMPLE = (
    "log(k)", "print('k', k)", "check(k)", "k = k + 1", "k += 2", "items.append(x)", "d['a'] = x",
    "box.hits += 1", "box.x = y", "parts.append(x)", "parts = [y, parts]", "x += 1", "x.mul_(0.5)",
    "graph_break()", "x, y = y, x", "COUNT += 1", "total = total + x", "z = x * 3", "log(z)",
    "del z", "log(len(items))", "log((len(parts), COUNT))", "d.pop('a')", "log(sorted(d))",
    "noise(k)", "assert k < 5, 'large'", "log(f'{k}-{COUNT}')", "made = lambda t: t + k",
    "x = made(x) if k else x", "box.items = parts", "log(sys.exc_info()[0])", "it = iter(items)",
    "log(next(it, None))", "x = x + next(it, y)", "log(locals()['k'])", "a, *b = x, y, k; log(b)",
    "raise ValueError('told')", "x = x + torch.ones(k)", "items[0] = x", "box.step(x)",
    "v = x.view(2)\n{i}x.mul_(2)\n{i}y = y + v", "log({j for j in range(k)})", "parts += [x]",
    "match k:\n{i}    case 0 | 1:\n{i}        log('low')\n{i}    case _:\n{i}        x = x + k",
    "class C:\n{i}    a = k\n{i}k = C.a", "import math; k = math.floor(k + 0.5)",
    "log(list(map(lambda t: t.sum().item(), (x, y))))", "d |= {'c': k}", "items[:1] = [x]",
    "for q in gen(x, 3):\n{i}    x = x + q\n{i}    if k: break", "del items[1:]",
    "try:\n{i}    x = nests(x, k)\n{i}except ValueError:\n{i}    log(repr(sys.exc_info()[1]))",
    "x, y = (x, y) if x.sum() > 0 else (y, x)",
)  # fmt: skip
CONDITIONS = (
    "x.sum() > 0", "k > 1", "k % 2", "x.sum() > y.sum()", "len(items) > 2", "box.hits", "not k",
    "n > 2 and x.sum() < 100", "items or parts", "y is x", "isinstance(x, torch.Tensor)",
    "0 < k < 3", "d", "x[0] > 1 or k == 2",
)
LOOPS = (
    "for i in range(n):", "for i in range(k, 3):", "for t in items[:3]:",
    "for i, t in enumerate((x, y)):",
    "for t, u in zip((x, y), items):", "while k < n:", "for key in list(d):", "for t in (x, y):",
    "for i in (1, 2):", "for i in (q for q in range(2)):", "while x.sum() < 8 and k < 9:",
)  # fmt: skip


class Writer:
    """Writes one function body. A budget keeps it short and its loops few."""

    def __init__(self, random: Random) -> None:
        self.random, self.lines, self.budget = random, list[str](), random.randint(8, 24)

    def block(self, indent: int, depth: int, loop: bool) -> None:
        for _ in range(self.random.randint(1, 5)):
            self.budget -= 1
            self.statement(indent, depth, loop)
            if self.budget < 0:
                break

    def write(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text.replace("{i}", "    " * indent))

    def statement(self, indent: int, depth: int, loop: bool) -> None:
        pick = self.random.random()
        if depth and pick < 0.45:
            compound = self.random.choice((self.branch, self.loop, self.context, self.attempt))
            compound(indent, depth - 1, loop)
        elif pick < 0.55 and loop:
            self.write(indent, f"if {self.random.choice(CONDITIONS)}:")
            self.write(indent + 1, self.random.choice(("break", "continue", "return x", "log(k)")))
        elif pick < 0.75:
            name = self.random.choice("xxxy")
            self.write(indent, f"{name} = {self.random.choice(EXPRESSIONS)}")
        else:
            self.write(indent, self.random.choice(SIMPLE))

    def branch(self, indent: int, depth: int, loop: bool) -> None:
        self.write(indent, f"if {self.random.choice(CONDITIONS)}:")
        self.block(indent + 1, depth, loop)
        if self.random.random() < 0.4:
            self.write(indent, "else:")
            self.block(indent + 1, depth, loop)

    def loop(self, indent: int, depth: int, loop: bool) -> None:
        head = self.random.choice(LOOPS)
        self.write(indent, head)
        self.write(indent + 1, "x = x.abs() + 1; k += 1" if "while" in head else "x = x * 0.5")
        self.block(indent + 1, depth, True)
        if self.random.random() < 0.2:
            self.write(indent, "else:")
            self.write(indent + 1, self.random.choice(SIMPLE))

    def context(self, indent: int, depth: int, loop: bool) -> None:
        heads = "Noisy()", "Noisy(True)", "Noisy() as w", "Noisy(), Noisy(True)", "torch.no_grad()"
        self.write(indent, f"with {self.random.choice(heads)}:")
        self.block(indent + 1, depth, loop)

    def attempt(self, indent: int, depth: int, loop: bool) -> None:
        self.write(indent, "try:")
        self.block(indent + 1, depth, loop)
        kind = self.random.random()
        if kind < 0.7:
            clauses = ("ValueError as e", "(KeyError, RuntimeError)", "Exception")
            self.write(indent, f"except {self.random.choice(clauses)}:")
            self.block(indent + 1, depth, loop)
            if self.random.random() < 0.3:
                self.write(indent + 1, self.random.choice(("raise", "raise KeyError('x')")))
            if self.random.random() < 0.2:
                self.write(indent, "else:")
                self.block(indent + 1, depth, loop)
        if kind > 0.5:
            self.write(indent, "finally:")
            self.block(indent + 1, depth, loop)


def program(random: Random) -> str:
    """The source of `f(x, y, n, items, d, box)`."""
    writer = Writer(random)
    writer.block(1, 3, False)
    head = (
        "def f(x, y, n, items, d, box):\n"
        "    global COUNT\n"
        "    k = 0\n"
        "    parts = []\n"
        "    total = z = y\n"
        "    it = iter(items)\n"
        "    made = bump = pure\n"
        "    read = lambda: x\n"
    )
    if random.random() < 0.6:
        head += (
            "    def bump(t):\n"
            "        nonlocal total\n"
            "        total = total + t\n"
            f"        {random.choice(('log(k)', 'pass'))}\n"
            "        return total\n"
            "    def read():\n"
            "        return total * 2\n"
        )
    end = random.choice(("x", "(x, y, k)", "[x, parts, items]", "{'x': x, 'k': [k, d]}"))
    return PREAMBLE + head + "\n".join(writer.lines) + f"\n    return {end}\n"
