"""A real PyTorch job that has a fault: one loader worker, where two would keep up.

Photographs are decoded and augmented in plain NumPy, which takes several times as long
as the training step; half of the machine's two cores stays idle.
"""

from __future__ import annotations

import argparse
import os

# The number of threads in the simulated container.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import agent
from seamark.frameworks.torch import describe

SIDE = 48
CLASSES = 10


class Photographs(Dataset):
    """Examples that cost a few milliseconds each, as decoding does."""

    def __init__(self, count: int, passes: int) -> None:
        self.count = count
        self.passes = passes

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        random = np.random.default_rng(index)
        pixels = random.random((3, SIDE, SIDE), dtype=np.float32)
        for _ in range(self.passes):
            pixels = (pixels + np.roll(pixels, 1, axis=1) + np.flip(pixels, 2)) / 3
        return torch.from_numpy(np.ascontiguousarray(pixels)), index % CLASSES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--passes", type=int, default=100)
    options = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = agent.init("one-worker", project="recordings", stage="train")
    loader = DataLoader(
        Photographs(options.steps * options.batch_size, options.passes),
        batch_size=options.batch_size,
        num_workers=options.workers,
    )
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.LazyLinear(CLASSES),
    )
    model(torch.zeros(1, 3, SIDE, SIDE))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    describe(run, model=model, optimizer=optimizer)
    with run:
        train(run, loader, model, optimizer)


def train(
    run: agent.Run,
    loader: DataLoader,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
) -> None:
    for inputs, labels in run.loader(loader):
        with run.phase("forward"):
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        with run.phase("backward"):
            optimizer.zero_grad()
            loss.backward()
        with run.phase("optimizer"):
            optimizer.step()
        run["train/loss"].append(loss)


if __name__ == "__main__":
    main()
