"""What networks are made of.

    functional   the operators under their names in `torch.nn.functional`
    module       Module and Parameter          init         how weights begin
    layers       Linear, Conv2d, LayerNorm ... containers   Sequential, ModuleList, ModuleDict
    attention    MultiheadAttention            simple       what is an operator and its options
"""

from typing import TYPE_CHECKING, Any

from . import functional as functional, init as init
from .attention import (
    MultiheadAttention as MultiheadAttention,
    TransformerEncoderLayer as TransformerEncoderLayer,
)
from .containers import (
    ModuleDict as ModuleDict,
    ModuleList as ModuleList,
    Sequential as Sequential,
)
from .layers import (
    BatchNorm1d as BatchNorm1d,
    BatchNorm2d as BatchNorm2d,
    Conv1d as Conv1d,
    Conv2d as Conv2d,
    Dropout as Dropout,
    Embedding as Embedding,
    Flatten as Flatten,
    GroupNorm as GroupNorm,
    Identity as Identity,
    LayerNorm as LayerNorm,
    Linear as Linear,
    RMSNorm as RMSNorm,
)
from .module import Module as Module, Parameter as Parameter
from .simple import CLASSES

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # those of CLASSES


globals().update(CLASSES)
