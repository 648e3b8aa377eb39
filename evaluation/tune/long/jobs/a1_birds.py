"""Classify birds from a folder of arrays, with random crops and flips."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent

KINDS = 12


class Birds(Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("*/*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path = self.files[i]
        image = np.load(path)
        top, left = np.random.randint(0, 17, 2)
        image = image[top : top + 64, left : left + 64]
        if np.random.rand() < 0.5:
            image = image[:, ::-1]
        image = torch.from_numpy(image.copy()).permute(2, 0, 1).float() / 255
        return image, int(path.parent.name)


def make(folder, count):
    rng = np.random.default_rng(3)
    means = rng.integers(60, 190, (KINDS, 1, 1, 3))
    for i in range(count):
        kind = i % KINDS
        path = Path(folder, str(kind), f"{i}.npy")
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = rng.normal(0, 60, (80, 80, 3))
        np.save(path, np.clip(means[kind] + noise, 0, 255).astype(np.uint8))


def net():
    layers = []
    before = 3
    for width in (16, 32, 64):
        layers += [
            nn.Conv2d(before, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
        before = width
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, KINDS)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--images", type=int, default=720)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    make("birds", args.images)
    loader = DataLoader(
        Birds("birds"),
        batch_size=32,
        shuffle=True,
        num_workers=2,
        multiprocessing_context="spawn",
        persistent_workers=args.fixed,
        drop_last=True,
    )
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    run = agent.init("birds", project="birds", stage="train")
    run["params"] = vars(args)

    step = 0
    epoch = 0
    start = time.monotonic()
    while time.monotonic() - start < args.seconds:
        for images, kinds in run.loader(loader):
            loss = nn.functional.cross_entropy(model(images), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            run["train/loss"].append(loss.item(), step=step)
            if time.monotonic() - start > args.seconds:
                break
        epoch += 1
        run["train/epoch"].append(epoch, step=step)
    print(f"{step / (time.monotonic() - start):.2f} steps/s, {epoch} epochs")
    run.finish()


if __name__ == "__main__":
    main()
