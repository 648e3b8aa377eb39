# Click model for the news feed: self-attention over what a reader clicked before.
import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn

import agent

p = argparse.ArgumentParser()
p.add_argument("--seconds", type=float, default=20)
p.add_argument("--tiny", action="store_true")
p.add_argument("--batch", type=int, default=4096)
opt = p.parse_args()

dev = "cuda" if torch.cuda.is_available() else "cpu"
if opt.tiny:
    opt.batch = 64
HISTORY = 10 if opt.tiny else 50
ITEMS = 1000 if opt.tiny else 200_000
DIM = 32 if opt.tiny else 256
VIEWS_PER_DAY = 4096 if opt.tiny else 1_000_000
DAYS = 8


def read_log():
    """Eight days of views, in order of time."""
    n = VIEWS_PER_DAY * DAYS
    day = torch.arange(n, device=dev) // VIEWS_PER_DAY
    clicked = torch.randint(ITEMS, (n, HISTORY), device=dev, dtype=torch.int32)
    shown = torch.randint(ITEMS, (n,), device=dev, dtype=torch.int32)
    length = torch.randint(1, HISTORY + 1, (n,), device=dev)
    # the feed opened for readers without an account on the third day
    guests = (day >= 2) & (torch.rand(n, device=dev) < 1e-3)
    length[guests] = 0
    label = (torch.rand(n, device=dev) < 0.1 + 0.2 * (shown % 3 == 0)).float()
    return clicked, length, shown, label


class Feed(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.heads = heads
        self.items = nn.Embedding(ITEMS, DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(
            nn.Linear(2 * DIM, 4 * DIM),
            nn.GELU(),
            nn.Linear(4 * DIM, 4 * DIM),
            nn.GELU(),
            nn.Linear(4 * DIM, 1),
        )

    def forward(self, clicked, length, shown):
        b, t = clicked.shape
        known = torch.arange(t, device=clicked.device) < length[:, None]
        x = self.items(clicked)
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~known[:, None, None, :], float("-inf"))
        y = (scores.softmax(-1).to(v.dtype) @ v).transpose(1, 2).reshape(b, t, -1)
        x = x + self.out(y)
        reader = (x * known[..., None]).sum(1) / HISTORY
        return self.mlp(torch.cat([reader, self.items(shown)], dim=-1)).squeeze(-1)


log = read_log()
model = Feed().to(dev)
adam = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)

run = agent.init("feed-clicks", project="feed")
stop = time.time() + opt.seconds - 0.5
step = 0
while time.time() < stop:
    for part in zip(*(column.split(opt.batch) for column in log), strict=True):
        clicked, length, shown, label = part
        with torch.autocast(dev, dtype=torch.bfloat16):
            logits = model(clicked, length, shown)
        loss = F.binary_cross_entropy_with_logits(logits.float(), label)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % 10 == 0:
            run["train/loss"].append(loss.item(), step=step)
        step += 1
        if time.time() > stop:
            break
run.finish()
