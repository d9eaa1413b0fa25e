"""`MultiheadAttention`, and the transformer's layer around it.

In: (batch, sequence, features) with `batch_first`, else (sequence, batch, features); or without a
batch.  Out: the same shape, and the weights of the attention when they are wanted.
Invariant: names, shapes and beginnings of the parameters are PyTorch's.
"""

from __future__ import annotations

from typing import Any

from ..dtypes import bool as BOOL
from ..tensor import empty, zeros
from . import functional as F, init
from .layers import Dropout, LayerNorm, Linear
from .module import Module, Parameter


class MultiheadAttention(Module):
    """Attention in `num_heads` parts of the features, each by projections of its own."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        batch_first: bool = False,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout, self.batch_first = dropout, batch_first
        self.in_proj_weight = Parameter(empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = Parameter(zeros(3 * embed_dim)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        init.xavier_uniform_(self.in_proj_weight)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple:
        """A mask of bools is true where nothing is to be seen (the other way round than that of
        `scaled_dot_product_attention`); one of numbers is added. `is_causal` only says that
        `attn_mask` is so, as in PyTorch: RuntimeError without one."""
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        single = len(query.shape) == 2
        if single:
            query, key, value = (t.unsqueeze(0) for t in (query, key, value))
        elif not self.batch_first:
            query, key, value = (t.transpose(0, 1) for t in (query, key, value))
        query, key, value = (
            self._heads(self._projected(t, k)) for k, t in enumerate((query, key, value))
        )
        mask = self._mask(attn_mask, key_padding_mask, len(query))
        found, weights = self._attended(query, key, value, mask, need_weights)
        found = self.out_proj(found.transpose(1, 2).flatten(2))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if single:
            return found.squeeze(0), None if weights is None else weights.squeeze(0)
        return found if self.batch_first else found.transpose(0, 1), weights

    def _projected(self, input: Any, part: int) -> Any:
        rows = slice(part * self.embed_dim, (part + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        return F.linear(input, self.in_proj_weight[rows], bias)

    def _heads(self, input: Any) -> Any:
        return input.unflatten(2, (self.num_heads, self.head_dim)).transpose(1, 2)

    def _mask(self, attn_mask: Any, key_padding_mask: Any, batch: int) -> Any:
        """(batch, heads, queries, keys), or what broadcasts to it; numbers to be added."""
        mask = _additive(attn_mask)
        if mask is not None and len(mask.shape) == 3:
            mask = mask.unflatten(0, (batch, self.num_heads))
        padding = _additive(key_padding_mask)
        if padding is None:
            return mask
        padding = padding.view(-1, 1, 1, padding.shape[-1])
        return padding if mask is None else mask + padding

    def _attended(
        self, query: Any, key: Any, value: Any, mask: Any, need_weights: bool
    ) -> tuple:
        dropout = self.dropout if self.training else 0.0
        if not need_weights:
            return F.scaled_dot_product_attention(query, key, value, mask, dropout), None
        scores = (query * self.head_dim**-0.5) @ key.transpose(-2, -1)
        weights = F.softmax(scores if mask is None else scores + mask, -1)
        weights = F.dropout(weights, dropout)
        return weights @ value, weights


def _additive(mask: Any) -> Any:
    if mask is None or mask.dtype is not BOOL:
        return mask
    return zeros(mask.shape).masked_fill(mask, float("-inf"))


class TransformerEncoderLayer(Module):
    """Attention, then two linear layers, each added to its input and normalized."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = getattr(F, activation) if isinstance(activation, str) else activation

    def forward(
        self,
        src: Any,
        src_mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:
        masks = src_mask, src_key_padding_mask, is_causal
        if self.norm_first:
            src = src + self._attention(self.norm1(src), *masks)
            return src + self._feed_forward(self.norm2(src))
        src = self.norm1(src + self._attention(src, *masks))
        return self.norm2(src + self._feed_forward(src))

    def _attention(self, x: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
        found, _ = self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)
        return self.dropout1(found)

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
