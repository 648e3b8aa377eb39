# Next-step forecast of ocean fields (temperature, salinity, currents ...).
import argparse
import time

import numpy as np
import torch
from torch import nn

import agent

cli = argparse.ArgumentParser()
cli.add_argument("--seconds", type=float, default=20.0)
cli.add_argument("--window", type=int, default=32)
cli.add_argument("--tiny", action="store_true")
opts = cli.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
channels, height, width = (4, 32, 64) if opts.tiny else (16, 360, 720)
hours, window = (64, 4) if opts.tiny else (160, opts.window)
dim = 32 if opts.tiny else 256


def load_reanalysis():
    rng = np.random.default_rng(7)
    day = rng.standard_normal((8, channels, height, width), dtype=np.float32)
    return np.concatenate([day] * (hours // 8))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(channels, dim, 8, stride=8)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(dim, dim, 3, padding=1),
                nn.BatchNorm2d(dim),
                nn.Conv2d(dim, 2 * dim, 1),
                nn.GELU(),
                nn.Conv2d(2 * dim, dim, 1),
            )
            for _ in range(3)
        )
        self.up = nn.Conv2d(dim, channels, 1)

    def forward(self, x):
        x = self.down(x)
        for block in self.blocks:
            x = x + block(x)
        return self.up(x)


def windows(fields):
    rng = np.random.default_rng(0)
    while True:
        start = int(rng.integers(len(fields) - window))
        yield torch.from_numpy(fields[start : start + window])


fields = load_reanalysis()
net = Mixer().to(device).to(memory_format=torch.channels_last)
adam = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=device == "cuda")
pool = nn.AvgPool2d(8)

run = agent.init("ocean-fields", params={"window": window, "dim": dim})
stop = time.monotonic() + opts.seconds
for n, batch in enumerate(run.loader(windows(fields), batch_size=window, workers=0)):
    with run.phase("copy"):
        batch = batch.to(device)
    with torch.autocast(device, dtype=torch.bfloat16), run.phase("forward"):
        forecast = net(batch[:-1])
        error = (forecast.float() - pool(batch[1:])).square().mean()
    with run.phase("backward"):
        error.backward()
    with run.phase("optimizer"):
        adam.step()
        adam.zero_grad()
    if n % 20 == 0:
        run["train/mse"].append(error.item(), step=n)
    if time.monotonic() > stop:
        break
run.finish()
