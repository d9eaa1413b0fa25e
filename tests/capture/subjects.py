"""What several tests capture: helpers, an object with methods, example tensors."""

from __future__ import annotations

import labcore as torch

SCALE = 3.0
FLAG = True
PAIR = (2, 0.5)
CONFIG = {"scale": 2.0, "steps": 3}


def helper(x, factor=2, *, shift=1.0):
    return x * factor + shift


def variadic(*args, **kwargs):
    return args[0] * len(args) + sum(kwargs.values())


class Layer:
    kind = "linear"

    def __init__(self, weight, bias):
        self.weight, self.bias, self.training = weight, bias, True

    def forward(self, x):
        out = x @ self.weight
        return out + self.bias if self.training else out

    @staticmethod
    def twice(x):
        return x * 2

    def __call__(self, x):
        return self.forward(x).relu()


def x4():
    return torch.tensor([1.0, -2.0, 3.0, -0.0])


def m23():
    return torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
