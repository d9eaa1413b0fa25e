"""The networks that are trained to measure and to test training: a transformer, a small CNN.

In: word numbers, or images.  Out: a score for each class.
"""

from __future__ import annotations

from typing import Any

import labcore as torch
from labcore.nn import Module

nn: Any = torch.nn


class Block(Module):
    """Attention and two linear layers, each normalized before and added after."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Any, mask: Any) -> Any:
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Transformer(Module):
    """Scores of the next word, from the words up to each place."""

    def __init__(self, words: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.head = nn.Linear(width, words)

    def forward(self, x: Any) -> Any:
        length = x.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        x = self.embedding(x)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


class Convolutional(Module):
    """Scores of three classes, for images of one channel and 8 by 8."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 8, 3, padding=1),
            nn.ReLU(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Dropout(dropout),
            nn.Linear(32, 3),
        )

    def forward(self, x: Any) -> Any:
        return self.layers(x)
