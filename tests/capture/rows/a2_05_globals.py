"""A2.5: globals."""

import math

from tests.capture.rows import elsewhere

SCALE = 2.5
NAMES = ("a", "b")
CONFIG = {"hidden": 3, "bias": True}
WEIGHTS = [0.5, 1.5]
CALLS = 0


def number(x):
    return x * SCALE


def containers(x):
    return x * CONFIG["hidden"] + WEIGHTS[1] + len(NAMES) if CONFIG["bias"] else x


def module_constant(x):
    return x * math.pi + math.e


def written(x):
    global CALLS
    CALLS = CALLS + 1
    return x + CALLS


def written_in_a_callee(x):
    def bump():
        global CALLS
        CALLS += 2

    bump()
    return x * CALLS


def other_module_reads(x):
    return elsewhere.scaled(x)


def other_module_writes(x):
    return x * (elsewhere.bump() > 0)


def deleted_global(x):
    global TEMPORARY
    TEMPORARY = 3
    y = x * TEMPORARY
    del TEMPORARY
    return y


def missing_global(x):
    return x + NOT_THERE


def builtin_shadowed(x):
    len = lambda value: 7
    return x * len([])


def import_inside(x):
    import math as m
    from operator import add

    return add(x, m.pi)
