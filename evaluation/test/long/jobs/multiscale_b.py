"""Train an autoencoder on textures at several scales; one loader worker."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

import agent

SCALES = [(32, 96), (48, 48), (64, 24)]


class Textures(IterableDataset):
    """Crops of large textures; the scale changes from batch to batch."""

    def __init__(self, batches):
        self.batches = batches
        random = np.random.default_rng(2)
        fields = random.normal(size=(12, 512, 512))
        spectrum = np.fft.rfft2(fields)
        distance = np.hypot(np.fft.fftfreq(512)[:, None], np.fft.rfftfreq(512))
        smooth = np.fft.irfft2(spectrum / (0.01 + distance))
        self.fields = (smooth / smooth.std()).astype(np.float32)

    def __iter__(self):
        random = np.random.default_rng()
        for number in range(self.batches):
            side, count = SCALES[number % len(SCALES)]
            batch = np.empty((count, 1, side, side), np.float32)
            for crop in batch:
                field = self.fields[random.integers(12)]
                y, x = random.integers(0, 512 - side, 2)
                crop[0] = field[y : y + side, x : x + side]
            yield torch.from_numpy(batch)


def autoencoder():
    return nn.Sequential(
        nn.Conv2d(1, 24, 4, stride=2, padding=1),
        nn.GELU(),
        nn.Conv2d(24, 48, 4, stride=2, padding=1),
        nn.GELU(),
        nn.Conv2d(48, 8, 3, padding=1),
        nn.ConvTranspose2d(8, 48, 4, stride=2, padding=1),
        nn.GELU(),
        nn.ConvTranspose2d(48, 1, 4, stride=2, padding=1),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(2)
    run = agent.init("textures", project="materials", stage="train")
    with run.phase("load_data"):
        loader = DataLoader(
            Textures(300),
            batch_size=None,
            num_workers=1,
            persistent_workers=True,
            prefetch_factor=6,
        )
    model = autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    started = time.time()
    steps = 0
    while time.time() - started < args.seconds:
        for batch in run.loader(loader):
            with run.phase("forward"):
                loss = nn.functional.mse_loss(model(batch), batch)
            with run.phase("backward"):
                optimizer.zero_grad()
                loss.backward()
            with run.phase("optimizer"):
                optimizer.step()
            steps += 1
            run["train/loss"].append(loss.item(), step=steps)
            if time.time() - started > args.seconds:
                break
        print(f"step {steps}: loss {loss.item():.4f}", flush=True)
        torch.save(model.state_dict(), "latest.pt")
    print(f"{steps / (time.time() - started):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    main()
