"""The lab: a small, real `torch.compile`, to be imported `as torch`."""
from labcore.tensor import *  # noqa: F403
