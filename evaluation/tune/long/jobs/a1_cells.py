"""Segment cells in microscope images with a small U-Net."""

import argparse
import gzip
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import agent


def block(a, b):
    return nn.Sequential(
        nn.Conv2d(a, b, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(b, b, 3, padding=1),
        nn.ReLU(),
    )


class UNet(nn.Module):
    def __init__(self, widths=(12, 24, 48, 448)):
        super().__init__()
        a, b, c, d = widths
        self.down = nn.ModuleList([block(1, a), block(a, b), block(b, c)])
        self.middle = block(c, d)
        self.up = nn.ModuleList([block(d + c, c), block(c + b, b), block(b + a, a)])
        self.out = nn.Conv2d(a, 1, 1)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.middle(x)
        for layer, skip in zip(self.up, reversed(kept), strict=True):
            x = layer(torch.cat([F.interpolate(x, scale_factor=2), skip], 1))
        return self.out(x)


def make_cells(count, size=64):
    rng = np.random.default_rng(8)
    grid = np.arange(size)
    masks = np.zeros((count, 1, size, size), np.float32)
    for mask in masks:
        for _ in range(5):
            cx, cy, r = (
                rng.integers(0, size),
                rng.integers(0, size),
                rng.integers(4, 10),
            )
            mask[0] = np.maximum(
                mask[0], (grid - cx) ** 2 + (grid[:, None] - cy) ** 2 < r * r
            )
    images = masks * 0.5 + rng.normal(0, 0.4, masks.shape).astype(np.float32)
    return torch.from_numpy(images), torch.from_numpy(masks)


def save(model, optimizer, step, compress):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": step,
    }
    if compress:
        with gzip.open("last.pt.gz", "wb") as f:
            torch.save(state, f)
    else:
        torch.save(state, "last.pt")


parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=80)
parser.add_argument("--save-every", type=int, default=25)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--fixed", action="store_true")
args = parser.parse_args()
if args.fixed:
    args.save_every *= 4

torch.manual_seed(1)
torch.set_num_threads(args.threads)
images, masks = make_cells(800)
model = UNet()
optimizer = torch.optim.Adam(model.parameters(), 5e-4)
run = agent.init("cells", project="microscope", stage="train")
run["params"] = vars(args)

step, start = 0, time.time()
while time.time() - start < args.seconds:
    pick = torch.randint(0, len(images), (8,))
    loss = F.binary_cross_entropy_with_logits(model(images[pick]), masks[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    run.log({"train/loss": loss.item()}, step=step)
    if step % args.save_every == 0:
        save(model, optimizer, step, compress=not args.fixed)
print(f"{step / (time.time() - start):.2f} steps/s")
run.finish()
