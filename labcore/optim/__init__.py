"""Optimizers: what training does with the gradients.

    optimizer   Optimizer: groups of parameters, their state, its saving
    sgd         SGD, with momentum
    adam        Adam and AdamW
"""

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
