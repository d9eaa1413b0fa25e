"""Modules that are an operator and its options: `ReLU GELU Softmax MaxPool2d MSELoss` ...

In: the operator's options.  Out: a module that calls it.
Invariant: a row of the table is all there is to such a module; its options, their order and their
defaults are those of the operator after its tensors.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from .. import ops
from ..ops import Op
from . import functional as F
from .module import Module


class Simple(Module):
    """`function(*tensors, **options)`: the operator, under its name in `functional`."""

    operator: Op
    function: Any
    tensors = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        parameters = list(self.operator.signature.parameters.values())[self.tensors :]
        if "softm" in self.operator.name:  # whose axis has a deprecated default
            parameters[0] = parameters[0].replace(default=None)
        if self.operator.name in F.INPLACE:
            kind = Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(Parameter("inplace", kind, default=False))
        try:
            bound = Signature(parameters).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__(): {error}") from None
        bound.apply_defaults()
        self.options = dict(bound.arguments)
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    def forward(self, *tensors: Any) -> Any:
        return self.function(*tensors, **self.options)

    def extra_repr(self) -> str:
        shown = {k: v for k, v in self.options.items() if v is not None and (k != "inplace" or v)}
        return "" if self.tensors > 1 else ", ".join(f"{k}={v!r}" for k, v in shown.items())


ACTIVATIONS = {
    "ReLU": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "GELU": "gelu", "SiLU": "silu",
    "Mish": "mish", "Softplus": "softplus", "Softsign": "softsign", "Tanhshrink": "tanhshrink",
    "LogSigmoid": "logsigmoid", "LeakyReLU": "leaky_relu", "ELU": "elu", "SELU": "selu",
    "Hardtanh": "hardtanh", "ReLU6": "relu6", "Hardsigmoid": "hardsigmoid",
    "Hardswish": "hardswish", "Threshold": "threshold", "GLU": "glu", "Softmax": "softmax",
    "Softmin": "softmin", "LogSoftmax": "log_softmax",
}
POOLS = {
    "MaxPool1d": "max_pool1d", "MaxPool2d": "max_pool2d", "AvgPool1d": "avg_pool1d",
    "AvgPool2d": "avg_pool2d", "AdaptiveAvgPool2d": "adaptive_avg_pool2d",
}
LOSSES = {
    "MSELoss": "mse_loss", "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss", "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "KLDivLoss": "kl_div",
    "NLLLoss": "nll_loss", "CrossEntropyLoss": "cross_entropy",
    "PoissonNLLLoss": "poisson_nll_loss", "CosineSimilarity": "cosine_similarity",
}

CLASSES: dict[str, type[Simple]] = {}
for _table, _tensors in ((ACTIVATIONS, 1), (POOLS, 1), (LOSSES, 2)):
    for _name, _function in _table.items():
        CLASSES[_name] = type(
            _name,
            (Simple,),
            {
                "operator": ops.OPS[_function],
                "function": staticmethod(getattr(F, _function)),
                "tensors": _tensors,
                "__module__": "labcore.nn",
            },
        )
