"""The data of the GPU jobs: real loaders, over made-up examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

Batch = tuple[Tensor, ...]


class Tokens(Dataset[Batch]):
    """Sequences, and for each place the token that comes next."""

    def __init__(self, count: int, length: int, vocabulary: int) -> None:
        # The next token follows from the last one: there is something to learn.
        first = torch.randint(0, vocabulary, (count, 1))
        steps = torch.arange(length + 1) * 7
        self.tokens = (first + steps) % vocabulary

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, number: int) -> Batch:
        tokens = self.tokens[number]
        return tokens[:-1], tokens[1:]


class Texts(Tokens):
    """Sequences with one label each."""

    def __getitem__(self, number: int) -> Batch:
        tokens = self.tokens[number][:-1]
        return tokens, tokens[0] % 2


class Images(Dataset[Batch]):
    """8-bit images, cut out at random places and flipped at random."""

    margin = 8

    def __init__(self, count: int, size: int) -> None:
        whole = size + self.margin
        self.size = size
        self.images = torch.randint(0, 255, (count, 3, whole, whole), dtype=torch.uint8)
        self.random = Random(0)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, number: int) -> Batch:
        top, left = (self.random.randrange(self.margin) for _ in range(2))
        image = self.images[number, :, top : top + self.size, left : left + self.size]
        if self.random.getrandbits(1):
            image = image.flip(-1)
        return image.contiguous(), torch.tensor(number % 10)


class Repeated:
    """The same batches again and again, as they are: mostly on the GPU already."""

    def __init__(self, batches: Sequence[Batch], steps: int) -> None:
        self.batches = batches
        self.steps = steps
        self.batch_size = len(batches[0][0])

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[Batch]:
        for number in range(self.steps):
            yield self.batches[number % len(self.batches)]


def loader_of(
    examples: Dataset[Batch], batch_size: int, *, workers: int, on_gpu: bool
) -> DataLoader[Batch]:
    """Return a loader as PyTorch recommends it for a GPU."""
    return DataLoader(
        examples,
        batch_size=batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=workers,
        pin_memory=on_gpu,
        persistent_workers=workers > 0,
    )
