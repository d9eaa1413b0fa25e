"""copy.copy and copy.deepcopy of builtin containers, and of objects of attributes that do not say
how they are copied; anything else is the library's to copy."""

from __future__ import annotations

import copy as library
from collections import deque
from typing import Any

library_copy, library_deepcopy = library.copy, library.deepcopy
ATOMS = (int, float, bool, complex, str, bytes, range, type(None), type(...), type)


def copy(x: Any) -> Any:
    kind = type(x)
    if kind is list or kind is dict or kind is set or kind is deque:
        return x.copy()
    if is_its_attributes(x):
        made = object.__new__(kind)
        made.__dict__.update(x.__dict__)
        return made
    return x if kind is tuple or is_atom(x) else library_copy(x)


def deepcopy(x: Any, memo: Any = None, _nil: Any = None) -> Any:
    return library_deepcopy(x, memo) if memo is not None else copied(x, [])


def is_atom(value: Any) -> bool:
    """Is it its own deep copy?"""
    return type(value) in ATOMS


def is_its_attributes(value: Any) -> bool:
    """Is it an object of a user's class that says nothing of how it is to be copied?"""
    raise NotImplementedError("a rule of capture's answers")


def copied(x: Any, done: list) -> Any:
    """`done`: what was copied already, with its copy."""
    if is_atom(x):
        return x
    for original, made in done:
        if original is x:
            return made
    kind = type(x)
    if kind is list:
        new_list: list = []
        done.append((x, new_list))
        for item in x:
            new_list.append(copied(item, done))
        return new_list
    if kind is dict:
        new_dict: dict = {}
        done.append((x, new_dict))
        for key, value in x.items():
            new_dict[copied(key, done)] = copied(value, done)
        return new_dict
    if kind is tuple:
        return copied_tuple(x, done)
    if kind is set:
        return {copied(item, done) for item in x}
    if is_its_attributes(x) and "__deepcopy__" not in x.__dict__:
        new_object = object.__new__(kind)
        done.append((x, new_object))
        new_object.__dict__.update(copied(x.__dict__, done))
        return new_object
    return library_deepcopy(x)


def copied_tuple(x: tuple, done: list) -> tuple:
    """A tuple of atoms is its own copy; one that contains itself was made meanwhile."""
    parts = [copied(item, done) for item in x]
    for original, made in done:
        if original is x:
            return made
    for old, new in zip(x, parts):
        if not is_atom(old) and old is not new:
            done.append((x, tuple(parts)))
            return done[-1][1]
    return x
