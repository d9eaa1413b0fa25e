"""Change what a captured program looked at, in every way there is, and compare with eager each
time."""

from __future__ import annotations

import builtins
import enum
import types

import labcore as torch
from labcore import relu  # noqa: F401  (a global that tests exchange)

from .watching import Watched

SCALE = 2.0
NUMBERS = [1, 2]
CONFIG = {"k": 1, "inner": {"deep": (1, 2)}}
FLAG = None


def helper(x, k=2, *, shift=0):
    return x * k + shift


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Model:
    gain = 2

    def __init__(self):
        self.weight, self.bias, self.training = torch.ones(2), None, True

    def forward(self, x):
        y = x * self.weight * self.gain
        return y if self.bias is None else y + self.bias


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


def ones():
    return torch.ones(2)


def exchange(monkeypatch, name, value):
    monkeypatch.setitem(globals(), name, value)


def test_globals(monkeypatch):
    watched = Watched(lambda x: x * SCALE, may_break=True)
    assert not watched(ones()) and watched(ones())
    for value in (3.0, 3, True, -0.0, "no", torch.ones(2), None):
        exchange(monkeypatch, "SCALE", value)
        watched(ones())
    monkeypatch.delitem(globals(), "SCALE")
    assert not watched(ones())
    assert any(
        "SCALE" in reason and "cannot be read any more" in reason for reason in watched.reasons
    )


def test_a_function_behind_a_global(monkeypatch):
    watched = Watched(lambda x: helper(x))
    assert not watched(ones()) and watched(ones())
    exchange(monkeypatch, "helper", lambda x: x - 1)
    assert not watched(ones())
    exchange(monkeypatch, "helper", torch.exp)
    assert not watched(ones())
    exchange(monkeypatch, "helper", len)
    assert not watched(ones())


def test_an_operator_behind_a_module(monkeypatch):
    watched = Watched(lambda x: torch.relu(x - 2))
    assert not watched(ones())
    monkeypatch.setattr(torch, "relu", torch.exp)
    assert not watched(ones())
    monkeypatch.undo()
    assert watched(ones())
    exchange(monkeypatch, "torch", types.SimpleNamespace(relu=lambda x: x, ones=torch.ones))
    assert not watched(ones())


def test_a_builtin_that_is_shadowed_or_replaced(monkeypatch):
    watched = Watched(lambda x: x * len(x))
    assert not watched(ones()) and watched(ones())
    exchange(monkeypatch, "len", lambda x: 7)
    assert not watched(ones())
    assert watched.reasons == ["builtin 'len' is shadowed or replaced"]
    monkeypatch.undo()
    assert watched(ones())
    real = builtins.abs
    watched = Watched(lambda x: x * abs(-3))
    assert not watched(ones())
    monkeypatch.setattr(builtins, "abs", lambda x: real(x) + 1)
    assert not watched(ones())


def test_defaults_keyword_defaults_and_code_of_a_callee(monkeypatch):
    watched = Watched(lambda x: helper(x))
    assert not watched(ones()) and watched(ones())
    monkeypatch.setattr(helper, "__defaults__", (5,))
    assert not watched(ones())
    monkeypatch.setattr(helper, "__kwdefaults__", {"shift": 9})
    assert not watched(ones())
    monkeypatch.setattr(helper, "__code__", (lambda x, k=2, *, shift=0: x - k - shift).__code__)
    assert not watched(ones())
    monkeypatch.setattr(helper, "__defaults__", ())
    assert not watched(ones())  # now it raises, as eager does


def test_defaults_of_the_function_itself():
    def f(x, k=2, *, shift=1):
        return x * k + shift

    watched = Watched(f)
    assert not watched(ones()) and watched(ones())
    f.__defaults__ = (3,)
    assert not watched(ones())
    f.__kwdefaults__["shift"] = 5
    assert not watched(ones())
    assert watched(ones(), 2, shift=1)


def test_the_function_itself_is_given_other_code():
    def f(x):
        return x * 2

    def g(x, k=3):
        return x * k

    watched = Watched(f)
    assert not watched(ones()) and watched(ones())
    f.__code__, f.__defaults__ = g.__code__, g.__defaults__
    assert not watched(ones()) and watched(ones())
    assert not watched(ones(), 4)
    assert watched.compiled(ones(), k=5).tolist() == [5.0, 5.0]


def test_closures():
    k, extra = 2, [1]

    def f(x):
        return x * k + extra[0]

    watched = Watched(f)
    assert not watched(ones()) and watched(ones())
    k = 3
    assert not watched(ones())
    extra[0] = 5
    assert not watched(ones())
    extra.append(1)
    watched(ones())
    del k
    assert not watched(ones())
    k = 2


def test_attributes_and_methods(monkeypatch):
    model = Model()
    watched = Watched(lambda m, x: m.forward(x))
    assert not watched(model, ones()) and watched(model, ones()) and watched(Model(), ones())
    model.bias = torch.ones(2)
    assert not watched(model, ones())
    model.weight = model.bias
    assert watched(model, ones())  # both are only read: nobody can tell (test_parameters.py)
    model.gain = 10  # shadows the class attribute
    assert not watched(model, ones())
    monkeypatch.setattr(Model, "gain", 7)
    assert not watched(Model(), ones())
    monkeypatch.setattr(Model, "forward", lambda self, x: x)
    assert not watched(model, ones())
    other = Model()
    other.forward = lambda x: x + 1
    assert not watched(other, ones())
    assert not watched(types.SimpleNamespace(forward=lambda x: x + 2), ones())


def test_a_property_or_getattr_that_appears_later(monkeypatch):
    model = Model()
    watched = Watched(lambda m, x: x * m.gain, may_break=True)
    assert not watched(model, ones())
    monkeypatch.setattr(Model, "gain", property(lambda self: 11))
    assert not watched(model, ones())


def test_slots_and_missing_attributes(monkeypatch):
    watched = Watched(lambda s, x: x * s.k)
    assert not watched(Slotted(2), ones()) and watched(Slotted(2), ones())
    assert not watched(Slotted(3), ones())
    watched = Watched(lambda m, x: x * getattr(m, "extra", 2) + hasattr(m, "more"))
    model = Model()
    assert not watched(model, ones()) and watched(model, ones())
    model.extra = 3
    assert not watched(model, ones())
    monkeypatch.setattr(Model, "more", 1, raising=False)
    assert not watched(model, ones())


def test_hasattr_is_asked_again_of_everything_that_can_change(monkeypatch):
    def plain():
        pass

    module = types.ModuleType("plain")
    for owner in (Model(), Model, module, plain):
        watched = Watched(lambda m, x: x + hasattr(m, "later"), may_break=owner in (Model, plain))
        monkeypatch.setattr(owner, "later", 1, raising=False)
        assert not watched(owner, ones()) and watched(owner, ones())
        monkeypatch.setattr(owner, "later", 2)
        assert watched(owner, ones())  # only whether it is there was asked
        monkeypatch.delattr(owner, "later")
        assert not watched(owner, ones())
        monkeypatch.setattr(owner, "later", 3, raising=False)
        watched(owner, ones())
    model = Model()
    watched = Watched(lambda m, x: x + hasattr(m, "later"))
    monkeypatch.setattr(Model, "later", 1, raising=False)
    assert not watched(model, ones())
    monkeypatch.delattr(Model, "later")
    assert not watched(model, ones())


def test_an_integer_that_python_does_not_print():
    watched = Watched(lambda x, n: x + 1 if n else x - 1, may_break=True)
    for n in (10**5000, 0, 3, 10**5000):
        watched(ones(), n)
    watched = Watched(lambda x: (x + 1, 10**5000 % 7, (1 << 40000) > 5), may_break=True)
    assert not watched(ones()) and watched(ones())


def test_equal_ranges_are_not_the_same_range():
    watched = Watched(lambda x, r: x + r.start * 10 + r.stop)
    assert not watched(ones(), range(0)) and watched(ones(), range(0))
    assert not watched(ones(), range(5, 5))
    assert not watched(ones(), range(0, 3, 2))
    assert not watched(ones(), range(0, 4, 2))


def test_containers_change_in_place(monkeypatch):
    watched = Watched(
        lambda x: x * NUMBERS[0] + sum(NUMBERS) + CONFIG["inner"]["deep"][1] + ("new" in CONFIG)
    )
    assert not watched(ones()) and watched(ones())
    monkeypatch.setattr(__import__(__name__, fromlist=["_"]), "NUMBERS", [1, 5])
    assert not watched(ones())
    NUMBERS.append(3)
    assert not watched(ones())
    monkeypatch.setitem(CONFIG["inner"], "deep", (1, 9))
    assert not watched(ones())
    monkeypatch.setitem(CONFIG, "new", 0)
    assert not watched(ones())


def test_iterating_a_dict_guards_its_keys_in_order():
    watched = Watched(lambda x, d: [x + v for v in d.values()] + [len(d), *d])
    assert not watched(ones(), {"a": 1, "b": 2})
    assert watched(ones(), {"a": 1, "b": 2})
    assert not watched(ones(), {"b": 2, "a": 1})
    assert not watched(ones(), {"a": 1})
    watched = Watched(lambda x, d: [x, *d])
    assert not watched(ones(), {1: 0})
    assert not watched(ones(), {True: 0})


def test_varargs_and_keywords_are_guarded_by_what_is_in_them():
    watched = Watched(lambda x, *args, **kwargs: x * len(args) + sum(kwargs.values()))
    assert not watched(ones(), 1) and watched(ones(), "anything")
    assert not watched(ones(), 1, 2)
    assert not watched(ones(), 1, a=2)
    assert not watched(ones(), 1, a=3)
    assert not watched(ones(), 1, b=2)


def test_enums_and_types():
    watched = Watched(lambda x, c: x + 1 if c is Color.RED else x - 1)
    assert not watched(ones(), Color.RED)
    assert watched(ones(), Color.RED)
    assert not watched(ones(), Color.BLUE)
    watched = Watched(lambda x, cls: x * isinstance(x, cls))
    assert not watched(ones(), torch.Tensor)
    assert not watched(ones(), int)


def test_a_subclass_is_not_its_base():
    class Special(Model):
        def forward(self, x):
            return x

    watched = Watched(lambda m, x: m.forward(x))
    assert not watched(Model(), ones())
    assert not watched(Special(), ones())


def test_the_same_code_under_other_globals():
    code = (lambda x: x * K).__code__  # noqa: F821
    first, second = types.FunctionType(code, {"K": 2}), types.FunctionType(code, {"K": 3})
    watched = Watched(lambda x, f: f(x))
    assert not watched(ones(), first) and watched(ones(), first)
    assert not watched(ones(), second)


def test_a_slot_that_nothing_is_in_and_a_class_that_answers():
    class Answers(Slotted):
        __slots__ = ("empty",)

    watched = Watched(lambda s, x: x * getattr(s, "empty", 2) + hasattr(s, "empty"))
    assert not watched(Answers(1), ones()) and watched(Answers(1), ones())
    Answers.__getattr__ = lambda self, name: 5
    assert not watched(Answers(1), ones()) and watched(Answers(1), ones())
    one = Answers(1)
    one.empty = 5
    assert not watched(one, ones())


def test_a_default_that_is_used_but_never_looked_at_is_there():
    def second(a, b=1, *, c=0):
        return a

    def f(x):
        try:
            return second(x) + 1
        except TypeError:
            return x - 1

    watched = Watched(f)
    assert not watched(ones()) and watched(ones())
    second.__defaults__ = ()
    assert not watched(ones()) and watched(ones())
    second.__defaults__ = (1,)
    assert watched(ones())
    del second.__kwdefaults__["c"]
    assert not watched(ones()) and watched(ones())
    second.__kwdefaults__ = {"c": 3}
    assert watched(ones())


def test_isinstance_follows_the_bases_and_what_an_object_says_of_its_class():
    class First:
        pass

    class Second:
        pass

    class Child(First):
        pass

    watched = Watched(lambda o, x: x + isinstance(o, Second), may_break=True)
    assert not watched(Child(), ones()) and watched(Child(), ones())
    Child.__bases__ = (Second, First)
    assert not watched(Child(), ones())
    Child.__bases__ = (First,)
    assert not watched(Child(), ones()) and watched(Child(), ones())
    class Says(First):
        __class__ = property(lambda self: Second)

    assert not watched(Says(), ones())
    First.__getattribute__ = lambda self, name: Second
    assert not watched(Child(), ones())


def test_a_list_that_contains_itself():
    items = [1, 2]

    def f(x):
        try:
            return x + sorted(items)[0], items
        except TypeError as error:
            return str(error)

    watched = Watched(f, may_break=True)
    assert not watched(ones())
    items[0] = items
    assert not watched(ones())


def test_arguments_may_be_called_anything():
    def f(outcome, error, variants, place=2, *, type=1):
        return outcome * error + variants * place + type

    watched = Watched(f)
    for factor in (1, 2, 3):
        watched(ones(), ones(), ones(), factor)
    assert watched(ones(), ones(), ones(), 1) and watched(ones(), ones(), ones())


def test_a_default_that_was_added_later():
    def f(x, k, n=1):
        return x * k + n

    watched = Watched(f)
    assert not watched(ones(), 2)
    f.__defaults__ = (5, 6)
    watched(ones(), 2)  # n was left out, so what else may be is known from here on
    assert watched.compiled(ones()).tolist() == [11.0, 11.0]
    f.__defaults__ = None
    watched(ones(), 2)
    f.__kwdefaults__ = {}


def test_equal_keys_may_be_others():
    watched = Watched(lambda x, made: (x * 2, [repr(key) for key in made]))
    keys = [0.0, -0.0, 0, False, (1, 2.0), (True, 2.0), (1, 2)]
    for fits in (False, True):
        for key in keys:
            assert watched(ones(), {key: "value"}) is fits
