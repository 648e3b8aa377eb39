"""Train a plant classifier and write a report about its worst mistakes."""

import argparse
import heapq
import itertools
import json
import time

import torch
from torch import nn

import agent


def photos(count, side, seed):
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(0, 20, (count,), generator=generator)
    shapes = torch.randn(20, 3, side // 8, side // 8, generator=generator)
    images = nn.functional.interpolate(shapes, scale_factor=8)[kinds] * 0.2
    return images + torch.randn(images.shape, generator=generator), kinds


class Report:
    """Collects examples and writes those with the highest loss."""

    def __init__(self, keep=None):
        self.keep = keep
        self.order = itertools.count()
        self.examples = []

    def add(self, images, kinds, losses):
        if self.keep is None:
            self.examples.append((images, kinds, losses))
            return
        for image, kind, loss in zip(images, kinds, losses.tolist(), strict=True):
            entry = (loss, next(self.order), image.clone(), kind)
            if len(self.examples) < self.keep:
                heapq.heappush(self.examples, entry)
            elif loss > self.examples[0][0]:
                heapq.heapreplace(self.examples, entry)

    def write(self, path):
        if self.keep is None:
            losses = torch.cat([losses for _, _, losses in self.examples])
            worst = losses.topk(32).values.tolist()
        else:
            worst = sorted((entry[0] for entry in self.examples), reverse=True)
        with open(path, "w") as file:
            json.dump(worst, file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(8)
    run = agent.init("plants", project="garden")
    images, kinds = photos(2000, 64, seed=8)
    model = nn.Sequential(
        nn.Conv2d(3, 24, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(24, 48, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(768, 20),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = nn.CrossEntropyLoss(reduction="none")
    report = Report(keep=32 if args.fixed else None)
    started = time.time()
    step = 0
    while time.time() - started < args.seconds:
        chosen = torch.randint(0, len(kinds), (64,))
        batch = images[chosen]
        batch = batch + 0.5 * torch.randn(batch.shape)
        losses = criterion(model(batch), kinds[chosen])
        loss = losses.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        report.add(batch, kinds[chosen], losses.detach())
        step += 1
        run["loss"].append(loss.item(), step=step)
        if step % 100 == 0:
            print(f"{step}: {loss.item():.3f}", flush=True)
    report.write("worst.json")
    print(f"{step / (time.time() - started):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    main()
