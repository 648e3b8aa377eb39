"""Classify small scans. Epochs over an array in memory, two loader workers."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent


class Scans(Dataset):
    def __init__(self, count, side):
        random = np.random.default_rng(11)
        self.labels = random.integers(0, 6, count)
        self.images = random.normal(size=(count, side, side)).astype(np.float32)
        lines = np.linspace(0, 2 * np.pi, side, dtype=np.float32)
        for label in range(6):
            self.images[self.labels == label] += 0.12 * np.sin(lines * (label + 1))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        if index % 2:
            image = image[:, ::-1]
        image = (image - image.mean()) / image.std()
        return torch.from_numpy(image.copy())[None], int(self.labels[index])


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(512, 6),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--count", type=int, default=3200)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = agent.init("scans", project="clinic", stage="train")
    loader = DataLoader(
        Scans(args.count, 72),
        batch_size=64,
        shuffle=True,
        num_workers=2,
        multiprocessing_context="spawn",
        persistent_workers=args.fixed,
    )
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.003, momentum=0.9)
    started = time.time()
    steps = epoch = 0
    while time.time() - started < args.seconds:
        right = seen = 0
        for images, labels in run.loader(loader):
            logits = model(images)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run["train/loss"].append(loss.item())
            right += (logits.argmax(1) == labels).sum().item()
            seen += len(labels)
            steps += 1
        run["train/accuracy"].append(right / seen)
        print(f"epoch {epoch}: accuracy {right / seen:.3f}", flush=True)
        epoch += 1
    print(f"{steps / (time.time() - started):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    main()
