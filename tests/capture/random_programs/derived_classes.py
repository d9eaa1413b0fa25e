"""Classes of random programs that are derived from builtin ones, or are keys, as text."""

from __future__ import annotations

DERIVED = '''\
class Bag(list):
    def __init__(self, items=(), k=0):
        super().__init__(items)
        self.k = k

    def append(self, t):
        self.k += 1
        super().append(t)

    def first(self):
        return self[0] if self else WEIGHT

class Shown(Bag):
    def __len__(self):
        LOG.append("len")
        return super().__len__()

    def __getitem__(self, k):
        LOG.append("item")
        return super().__getitem__(k)

    def __iter__(self):
        LOG.append("iter")
        return super().__iter__()

    def __add__(self, other):
        return Shown(super().__add__(list(other)), self.k)

class Record(dict):
    def __missing__(self, key):
        LOG.append(key)
        return WEIGHT

    def __getattr__(self, name):
        if name == "none":
            return WEIGHT
        raise AttributeError(name)

    def put(self, key, t):
        self[key] = t
        self.last = key
        return self

class Strict(Record):
    def __setitem__(self, key, t):
        LOG.append("set")
        super().__setitem__(key, t)

    def __contains__(self, key):
        LOG.append("in")
        return super().__contains__(key)

    def keys(self):
        return list(super().keys())

class Tags(set):
    def add(self, k):
        LOG.append(("tag", k))
        super().add(k)

class Name(str):
    def loud(self):
        return self.upper() + "!"

class Num(int):
    def __add__(self, other):
        return int(self) + other * 2

    def half(self):
        return self // 2

class Row(tuple):
    @property
    def first(self):
        return self[0]

@dataclasses.dataclass(frozen=True)
class Fixed:
    k: int

'''
