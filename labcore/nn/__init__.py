"""What networks are made of.

    functional   the operators under their names in `torch.nn.functional`
"""

from . import functional as functional
