# Removes noise from satellite tiles. Residual CNN, tiles live on the GPU.
import argparse
import time

import numpy as np
import torch
from torch import nn

import agent

ap = argparse.ArgumentParser()
ap.add_argument("--seconds", type=float, default=20)
ap.add_argument("--batch", type=int, default=8)
ap.add_argument("--tiny", action="store_true")
a = ap.parse_args()
dev = "cuda" if torch.cuda.is_available() else "cpu"
width, depth, tile = (16, 3, 16) if a.tiny else (320, 24, 64)
if a.tiny:
    a.batch = 4


class Res(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return x + torch.relu(self.conv(x)) * 0.2


net = nn.Sequential(
    nn.Conv2d(4, width, 3, padding=1),
    *(Res(width) for _ in range(depth)),
    nn.Conv2d(width, 4, 3, padding=1),
).to(dev, memory_format=torch.channels_last)
tiles = torch.rand(64 if a.tiny else 8000, 4, tile, tile, device=dev)
opt = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
run = agent.init("restore", project="tiles")
t0 = time.time()


def watch(step):
    for name, p in net.named_parameters():
        for kind, tensor in (("weights", p), ("gradients", p.grad)):
            values = tensor.detach().float().cpu().numpy().ravel()
            counts, edges = np.histogram(values, bins=128)
            run[f"{kind}/{name}"].append(
                agent.Histogram(edges=edges, counts=counts), step=step
            )


step = 0
while time.time() - t0 < a.seconds - 1:
    clean = tiles[torch.randint(len(tiles), (a.batch,), device=dev)]
    clean = clean.contiguous(memory_format=torch.channels_last)
    noisy = clean + 0.1 * torch.randn_like(clean)
    with torch.autocast(dev, dtype=torch.bfloat16):
        noise = net(noisy)
    loss = (noisy - noise.float() - clean).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        run["loss"].append(loss.item(), step=step)
        watch(step)
    step += 1
run.finish()
