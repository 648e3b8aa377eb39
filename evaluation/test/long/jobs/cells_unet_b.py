"""Segment cells with a small U-Net; the Dice score of the validation set per epoch."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import agent


def draw(count, seed, side=48):
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[:side, :side]
    images = random.normal(0, 0.6, (count, 1, side, side)).astype(np.float32)
    masks = np.zeros((count, 1, side, side), np.float32)
    for image, mask in zip(images, masks, strict=True):
        for _ in range(4):
            y, x = random.integers(4, side - 4, 2)
            size = random.integers(3, 7)
            cell = (rows - y) ** 2 + (columns - x) ** 2 < size**2
            mask[0, cell] = 1
        image += mask * 0.5
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(masks))


def block(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = block(1, 16)
        self.middle = block(16, 32)
        self.up = block(48, 16)
        self.out = nn.Conv2d(16, 1, 1)

    def forward(self, images):
        high = self.down(images)
        low = self.middle(nn.functional.max_pool2d(high, 2))
        low = nn.functional.interpolate(low, scale_factor=2)
        return self.out(self.up(torch.cat([high, low], 1)))


@torch.no_grad()
def dice(model, examples, batch_size):
    model.eval()
    scores = []
    for images, masks in DataLoader(examples, batch_size=batch_size):
        guesses = model(images) > 0
        for guess, mask in zip(guesses, masks > 0.5, strict=True):
            both = (guess & mask).sum().item()
            scores.append(2 * both / max(1, (guess.sum() + mask.sum()).item()))
    model.train()
    return sum(scores) / len(scores)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=70)
    parser.add_argument("--validation", type=int, default=1500)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(2)
    torch.set_num_threads(1)
    run = agent.init("cells", project="microscopy", stage="train")
    with run.phase("load_data"):
        training = draw(1280, seed=1)
        validation = draw(args.validation, seed=2)
    loader = DataLoader(training, batch_size=32, shuffle=True)
    model = UNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    started = time.time()
    steps = epoch = 0
    while time.time() - started < args.seconds:
        for images, masks in run.loader(loader):
            with run.phase("forward"):
                loss = nn.functional.binary_cross_entropy_with_logits(
                    model(images), masks
                )
            with run.phase("backward"):
                optimizer.zero_grad()
                loss.backward()
            optimizer.step()
            steps += 1
            run["train/loss"].append(loss.item(), step=steps)
        epoch += 1
        if args.fixed and epoch % 5:
            continue
        with run.phase("evaluate"):
            score = dice(model, validation, 64 if args.fixed else 1)
        run["val/dice"].append(score, step=steps)
        print(f"epoch {epoch}: loss {loss.item():.3f}, dice {score:.3f}", flush=True)
    print(f"{steps / (time.time() - started):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    main()
