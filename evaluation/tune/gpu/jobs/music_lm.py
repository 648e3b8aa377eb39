"""Language model over MIDI events; keeps a table of its gradients."""

import argparse
import csv
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import agent

ap = argparse.ArgumentParser()
ap.add_argument("--seconds", type=float, default=20)
ap.add_argument("--tiny", action="store_true")
cfg = ap.parse_args()
DEV = "cuda" if torch.cuda.is_available() else "cpu"
EVENTS = 512
D, DEPTH, BATCH, CONTEXT = (32, 2, 4, 32) if cfg.tiny else (512, 24, 32, 256)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.fc, self.out = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.heads = max(1, D // 64)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).unbind(2)
        a = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
        )
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, D))
        return x + self.out(F.gelu(self.fc(self.n2(x))))


class MusicModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.event = nn.Embedding(EVENTS, D)
        self.place = nn.Embedding(CONTEXT, D)
        self.blocks = nn.ModuleList([Block() for _ in range(DEPTH)])
        self.norm, self.head = nn.LayerNorm(D), nn.Linear(D, EVENTS)

    def forward(self, x):
        h = self.event(x) + self.place.weight[: x.shape[1]]
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


class GradientTable:
    """One row for each parameter and step, to look at in a notebook later."""

    def __init__(self, path):
        self.file = open(path, "w", newline="")
        self.csv = csv.writer(self.file)
        self.csv.writerow(["step", "name", "norm", "max", "mean", "zeros", "weight"])

    def write(self, step, model):
        for name, p in model.named_parameters():
            g = p.grad
            self.csv.writerow(
                [
                    step,
                    name,
                    g.norm().item(),
                    g.abs().max().item(),
                    g.mean().item(),
                    (g == 0).float().mean().item(),
                    p.std().item(),
                ]
            )
        self.file.flush()


songs = torch.randint(EVENTS, (2048, CONTEXT + 1), device=DEV)
model = MusicModel().to(DEV)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=DEV == "cuda")
table = GradientTable("gradients.csv")

run = agent.init("music-lm")
begin = time.perf_counter()
step = 0
while time.perf_counter() - begin < cfg.seconds:
    batch = songs[torch.randint(len(songs), (BATCH,), device=DEV)]
    with torch.autocast(DEV, dtype=torch.bfloat16):
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    table.write(step, model)
    opt.step()
    run["train/loss"].append(loss.item(), step=step)
    step += 1
run.finish()
