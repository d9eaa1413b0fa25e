"""What an AttributeError says of PyTorch's names that the lab does not have.

In: a name, and the names that there are.  Out: the error's text; and `Missing`, an attribute of
`Tensor` that is not there, for each method of PyTorch's that people reach for.
Invariant: such an attribute raises what any missing one does, so `hasattr` is False; attributes
that are there cost nothing, which a `__getattr__` of the class would change.
"""

from __future__ import annotations

import functools
from typing import Any

FEW = 4  # names that are told

METHODS = """
    H absolute acos acosh addbmm addcdiv addcmul addmm addmv addr adjoint aminmax angle apply_
    arccos arcsin arctan arctan2 argmax argmin argsort argwhere asin asinh atan atan2 atanh baddbmm
    bernoulli bfloat16 bincount bmm broadcast_to byte cauchy_ ceil char cholesky chunk clamp_max
    clamp_min clip conj copysign corrcoef cosh count_nonzero cov cross cuda cummax cummin cumprod
    cumsum deg2rad det diag diag_embed diagonal diff digamma dist divide dot erfc erfinv exp2 expm1
    exponential_ fill_diagonal_ fix flip fliplr flipud float_power floor fmax fmin fmod frac frexp
    gather gcd get_device greater greater_equal half heaviside histc hypot imag index_add
    index_copy index_fill index_put index_reduce index_select inner inverse is_complex is_cuda
    is_nonzero is_signed is_sparse isclose isfinite isinf isneginf isposinf isreal kron kthvalue
    lcm ldexp lerp less less_equal lgamma log10 log1p log2 log_softmax logaddexp logaddexp2
    logcumsumexp logdet logit logsumexp mH masked_fill masked_fill_ masked_scatter masked_select
    matrix_exp matrix_power max median min mm mode moveaxis msort multinomial multiply mv
    nan_to_num nanmean nanmedian nanquantile nansum narrow ndimension negative new_empty new_tensor
    nextafter nonzero norm normal_ not_equal outer pin_memory pinverse positive prelu prod put_ qr
    quantile rad2deg random_ ravel real renorm repeat repeat_interleave resize_ roll rot90 round
    scatter scatter_ scatter_add scatter_add_ scatter_reduce sgn share_memory_ short signbit sinc
    sinh slogdet softmax sort split squeeze_ std subtract svd swapaxes swapdims take
    take_along_dim tan tensor_split tile to_dense to_sparse topk trace transpose_ tril triu
    true_divide trunc type unbind unflatten unfold uniform_ unique unique_consecutive unsqueeze_
    values var vdot xlogy
"""


@functools.lru_cache
def text(owner: str, name: str, known: tuple[str, ...]) -> str:
    """What to say of `owner`, which has no attribute `name` but those in `known`."""
    said = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):
        return said
    found = near(name, known)
    like = f", with names like it: {', '.join(found)}" if found else ""
    return f"{said}. The lab has only a part of PyTorch{like}"


def near(name: str, known: tuple[str, ...]) -> list[str]:
    """The names that a reader may have meant."""
    import difflib  # late: only a wrong name needs it

    inside = sorted((other for other in known if name in other), key=len) if len(name) > 2 else []
    alike = difflib.get_close_matches(name, known, FEW)
    return list(dict.fromkeys([*alike, *inside]))[:FEW]


class Missing:
    """An attribute that raises AttributeError."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, cls: type) -> Any:
        known = tuple(public(cls))
        subject = f"type object {cls.__name__!r}" if owner is None else f"{cls.__name__!r} object"
        holder = cls if owner is None else owner
        raise AttributeError(text(subject, self.name, known), name=self.name, obj=holder)


def public(cls: type) -> list[str]:
    """Names of a class that are its users'."""
    found = {name: entry for place in cls.__mro__ for name, entry in vars(place).items()}
    return [n for n, e in found.items() if not n.startswith("_") and type(e) is not Missing]


def is_missing(cls: type, name: str) -> bool:
    entry = next((vars(place)[name] for place in cls.__mro__ if name in vars(place)), None)
    return type(entry) is Missing


def install(cls: type) -> None:
    """Give the class a `Missing` for each method that it does not have."""
    for name in METHODS.split():
        if not hasattr(cls, name):
            setattr(cls, name, Missing(name))
