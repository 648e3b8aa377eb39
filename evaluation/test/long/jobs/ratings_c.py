import argparse
import time

import numpy as np

import agent

USERS, ITEMS, RANK = 20_000, 5_000, 48


def ratings(rng, count):
    u = rng.normal(size=(USERS, 6)).astype(np.float32)
    v = rng.normal(size=(ITEMS, 6)).astype(np.float32)
    users, items = rng.integers(0, USERS, count), rng.integers(0, ITEMS, count)
    stars = 3 + 0.4 * (u[users] * v[items]).sum(1) + 0.3 * rng.normal(size=count)
    return users, items, stars.clip(1, 5).astype(np.float32)


def learning_rate(step, fixed):
    warm = 0.002 * 1.015**step
    return min(warm, 0.02) if fixed else warm


p = argparse.ArgumentParser()
p.add_argument("--seconds", type=float, default=65)
p.add_argument("--fixed", action="store_true")
args = p.parse_args()

rng = np.random.default_rng(0)
users, items, stars = ratings(rng, 2_000_000)
P = rng.normal(size=(USERS, RANK)).astype(np.float32) * 0.1
Q = rng.normal(size=(ITEMS, RANK)).astype(np.float32) * 0.1
mean = stars.mean()

run = agent.init(
    "factorize", project="movies", params={"rank": RANK, "l2": 0.02, "batch": 16384}
)
start, step = time.monotonic(), 0
while time.monotonic() - start < args.seconds:
    pick = rng.integers(0, len(stars), 16384)
    u, i = users[pick], items[pick]
    p_u, q_i = P[u], Q[i]
    error = stars[pick] - mean - (p_u * q_i).sum(1)
    lr = learning_rate(step, args.fixed)
    np.add.at(P, u, lr * (error[:, None] * q_i - 0.02 * p_u))
    np.add.at(Q, i, lr * (error[:, None] * p_u - 0.02 * q_i))
    run.log({"train/mse": float((error**2).mean()), "lr": lr})
    if step % 100 == 0:
        print(
            step,
            float((error**2).mean()),
            round(lr, 4),
            f"{time.monotonic() - start:.1f} s",
        )
    step += 1
print(f"{step / (time.monotonic() - start):.2f} steps/s")
run.finish()
