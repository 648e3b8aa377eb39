# Predict the next hour of global weather fields from the current one.
import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import agent

p = argparse.ArgumentParser()
p.add_argument("--seconds", type=float, default=20)
p.add_argument("--batch", type=int, default=24)
p.add_argument("--tiny", action="store_true")
args = p.parse_args()

hours, channels, lat, lon, width = 96, 69, 176, 360, 256
if args.tiny:
    hours, channels, lat, lon, width, args.batch = 16, 5, 32, 64, 16, 4

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rng = np.random.default_rng(1)
climate = rng.standard_normal((channels, lat, lon))
fields = np.empty((hours, channels, lat, lon))
for h in range(hours):
    np.multiply(climate, 1 + 0.3 * np.sin(h / 4), out=fields[h])


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(8, width)
        self.space = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.up = nn.Conv2d(width, 4 * width, 1)
        self.down = nn.Conv2d(4 * width, width, 1)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.space(self.norm(x)))))


model = nn.Sequential(
    nn.Conv2d(channels, width, 8, stride=8),
    *[Mixer() for _ in range(6)],
    nn.ConvTranspose2d(width, channels, 8, stride=8),
).to(device)
opt = torch.optim.AdamW(model.parameters(), lr=2e-4, weight_decay=0.05)

run = agent.init("weather")
run["batch"] = args.batch
t0 = time.time()
step = 0
while time.time() - t0 < args.seconds:
    first = int(rng.integers(0, hours - args.batch))
    now = torch.from_numpy(fields[first : first + args.batch]).to(device).float()
    later = (
        torch.from_numpy(fields[first + 1 : first + 1 + args.batch]).to(device).float()
    )
    with torch.autocast(device.type, dtype=torch.bfloat16):
        loss = F.l1_loss(now + model(now), later)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 5 == 0:
        run.log({"loss": loss.item()})
    step += 1
run.finish()
