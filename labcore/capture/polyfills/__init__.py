"""Builtins in Python: what calls the user's functions or steps through an iterable is read as
bytecode, like the user's own code.

    reductions.py   any all sum min max sorted
    sorting.py      the order in which a list is sorted
    iterators.py    map filter zip enumerate reversed iter; extend update
    selections.py   itertools
    searches.py     in, index, count, remove, == and < of containers
    methods.py      what len, str, int do with a method of the user's
    copies.py       copy.copy, copy.deepcopy
    derivatives.py  what `Function.apply` tells the tape

Invariant: each does what the builtin does, in the same order, and raises what it raises. Names
mean here what these files say, whatever the user's program did to `builtins`.
PyTorch has the same under `_dynamo/polyfills`.
"""
