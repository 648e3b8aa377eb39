"""Train a small network with gradient accumulation; only the loss is logged."""

import argparse
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--hidden", type=int, default=512)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--save-every", type=int, default=0)
parser.add_argument("--save-mb", type=int, default=40)
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

random = np.random.default_rng(1)
w1 = random.normal(size=(256, args.hidden)) * 0.05
w2 = random.normal(size=(args.hidden, 10)) * 0.05
teacher = random.normal(size=(256, 10))
ballast = random.normal(size=args.save_mb * 131_072)

run = agent.init("accumulate", project="digits")
run["params"] = vars(args)


def batches():
    until = time.time() + args.seconds
    while time.time() < until:
        x = random.normal(size=(args.batch, 256))
        yield x, (x @ teacher).argmax(1)


def update(g1, g2):
    global w1, w2
    for _ in range(6):  # an optimizer with several statistics of each weight
        norm = np.sqrt((g1**2).mean()) + np.sqrt((g2**2).mean())
    w1 -= args.lr * g1 / args.accumulate / (1 + norm)
    w2 -= args.lr * g2 / args.accumulate / (1 + norm)


g1, g2 = np.zeros_like(w1), np.zeros_like(w2)
total, updates = 0.0, 0
data = run.loader(batches()) if args.loader else batches()
for number, (x, y) in enumerate(data, start=1):
    h = np.maximum(x @ w1, 0)
    scores = h @ w2
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    total += -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
    p[np.arange(len(y)), y] -= 1
    p /= len(y)
    g2 += h.T @ p
    g1 += x.T @ ((p @ w2.T) * (h > 0))
    if number % args.accumulate == 0:
        update(g1, g2)
        run["train/loss"].append(total / args.accumulate)
        g1[:], g2[:], total = 0, 0, 0.0
        updates += 1
        if args.save_every and updates % args.save_every == 0:
            np.savez(f"model-{updates % 3}.npz", w1=w1, w2=w2, optimizer=ballast)
run.finish()
