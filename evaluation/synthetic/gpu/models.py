"""The networks that the GPU jobs train, in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Block(nn.Module):
    """Attention and a perceptron, each behind a normalization."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.projections = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.before_perceptron = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, states: Tensor) -> Tensor:
        batch, length, width = states.shape
        found = self.projections(self.before_attention(states))
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in found.chunk(3, dim=-1)
        )
        attended = functional.scaled_dot_product_attention(query, key, value)
        attended = attended.transpose(1, 2).reshape(batch, length, width)
        states = states + self.output(attended)
        return states + self.perceptron(self.before_perceptron(states))


class Transformer(nn.Module):
    """Tokens [batch, length] to scores [batch, length, outputs]."""

    def __init__(
        self,
        *,
        vocabulary: int,
        width: int,
        depth: int,
        heads: int,
        longest: int,
        outputs: int = 0,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, outputs or vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        states = self.tokens(tokens) + self.positions(places)
        scores: Tensor = self.head(self.last(self.blocks(states)))
        return scores


class Classifier(Transformer):
    """Tokens [batch, length] to scores [batch, outputs]."""

    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(tokens).mean(dim=1)


class Residual(nn.Module):
    """Residual block of two convolutions with equal width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(width)

    def forward(self, images: Tensor) -> Tensor:
        found = functional.relu(self.first_norm(self.first(images)))
        return functional.relu(self.second_norm(self.second(found)) + images)


class Convolutions(nn.Module):
    """Images [batch, 3, height, width], 8-bit or float, to scores [batch, 10]."""

    def __init__(self, *, width: int, depth: int, patch: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, stride=patch)
        self.blocks = nn.Sequential(*(Residual(width) for _ in range(depth)))
        self.head = nn.Linear(width, 10)

    def forward(self, images: Tensor) -> Tensor:
        if images.dtype == torch.uint8:
            images = images.float() / 255
        scores: Tensor = self.head(self.blocks(self.stem(images)).mean(dim=(2, 3)))
        return scores


class Recurrent(nn.Module):
    """Series [batch, length, inputs] to scores [batch, 10]."""

    def __init__(self, *, inputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(inputs, width, layers, batch_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, series: Tensor) -> Tensor:
        states, _ = self.recurrent(series)
        scores: Tensor = self.head(states[:, -1])
        return scores


def next_tokens(model: nn.Module, tokens: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of predicting a token at each place."""
    return functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())


def classes(model: nn.Module, inputs: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of predicting one class of each example."""
    return functional.cross_entropy(model(inputs), labels)
