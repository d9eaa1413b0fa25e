"""A module of its own, whose globals its functions read and write."""

COUNT = 0
FACTOR = 2.0


def bump():
    global COUNT
    COUNT += 1
    return COUNT


def scaled(t):
    return t * FACTOR
