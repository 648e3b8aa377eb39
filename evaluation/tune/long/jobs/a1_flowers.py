"""Train a residual network on images of growing size, with a short evaluation now and then."""

import argparse
import itertools
import time

import torch
import torch.nn.functional as F
from torch import nn

import agent

SHAPES = [(32, 48), (40, 32), (48, 24)]  # image size, batch size


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.b = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm_a = nn.BatchNorm2d(width)
        self.norm_b = nn.BatchNorm2d(width)

    def forward(self, x):
        y = F.relu(self.norm_a(self.a(x)))
        return F.relu(x + self.norm_b(self.b(y)))


def network(classes=20):
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, stride=2, padding=1),
        Residual(32),
        nn.Conv2d(32, 64, 3, stride=2, padding=1),
        Residual(64),
        Residual(64),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, classes),
    )


def flowers(count):
    rng = torch.Generator().manual_seed(15)
    labels = torch.randint(0, 20, (count,), generator=rng)
    patterns = torch.randn(20, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    images = F.interpolate(patterns, 48)[labels]
    return images + torch.randn(count, 3, 48, 48, generator=rng) * 3, labels


class Batches:
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __iter__(self):
        for turn in itertools.count():
            size, count = SHAPES[turn // 30 % len(SHAPES)]
            rows = torch.randint(0, len(self.images), (count,))
            images = self.images[rows]
            if size != 48:
                images = F.interpolate(images, size, mode="bilinear")
            yield images, self.labels[rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=85)
    parser.add_argument("--evaluate-every", type=int, default=100)
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(2)
    images, labels = flowers(3000)
    test_images, test_labels = images[:200], labels[:200]
    model = network()
    optimizer = torch.optim.SGD(
        model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4
    )
    run = agent.init("flowers", project="flowers", stage="train")
    end = time.time() + args.seconds
    for step, (x, y) in enumerate(run.loader(Batches(images[200:], labels[200:])), 1):
        with run.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        with run.phase("backward"):
            optimizer.zero_grad()
            loss.backward()
        with run.phase("optimizer"):
            optimizer.step()
        run["train/loss"].append(loss.item(), step=step)
        if step % args.evaluate_every == 0:
            with run.phase("evaluate"), torch.no_grad():
                model.eval()
                accuracy = (
                    (model(test_images).argmax(1) == test_labels).float().mean().item()
                )
                model.train()
            run["test/accuracy"].append(accuracy, step=step)
            torch.save(model.state_dict(), "flowers.pt")
        if time.time() > end:
            break
    print(f"{step / args.seconds:.2f} steps/s, loss {loss.item():.3f}")
    run.finish()


if __name__ == "__main__":
    main()
