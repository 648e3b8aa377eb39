"""Recognize drawn shapes at random places and sizes."""

import argparse
import time

import numpy as np
import torch
from torch import nn

import agent


def draw(count, size=32, kinds=10, seed=0):
    rng = np.random.default_rng(seed)
    pictures = rng.random((kinds, 12, 12)) > 0.5
    labels = rng.integers(0, kinds, count)
    images = rng.normal(0, 0.15, (count, 1, size, size)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        y, x = rng.integers(0, size - 12, 2)
        image[0, y : y + 12, x : x + 12] += pictures[label]
    return torch.from_numpy(images), torch.from_numpy(labels)


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2),
        nn.ReLU(),
        nn.AdaptiveMaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def main(args):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    images, labels = draw(12_000)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.98)
    run = agent.init("shapes", project="shapes", stage="train")
    run["params/learning_rate"] = 4e-3
    run["params/gamma"] = 0.98

    step = 0
    started = time.time()
    while time.time() - started < args.seconds:
        for rows in torch.randperm(len(images)).split(64):
            loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if not args.fixed:
                scheduler.step()
            step += 1
            run["train/loss"].append(loss.item(), step=step)
            if time.time() - started > args.seconds:
                break
        if args.fixed:
            scheduler.step()
    print(f"{step / (time.time() - started):.2f} steps/s, loss {loss.item():.3f}")
    run.finish()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=70)
    parser.add_argument("--fixed", action="store_true")
    main(parser.parse_args())
