"""Fit a model on products of features; fixed: NumPy computes them instead of loops."""

import argparse
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
random = np.random.default_rng(0)
table = random.normal(size=(20_000, 60))
target = table[:, 0] * table[:, 1] + table[:, 2]
first, second = np.triu_indices(60)
weights = np.zeros(len(first))


def batches():
    began = time.time()
    while time.time() < began + args.seconds:
        yield random.integers(0, len(table), 256)


def products(rows):
    if args.fixed:
        return rows[:, first] * rows[:, second]
    return np.array(
        [[row[i] * row[j] for i in range(60) for j in range(i, 60)] for row in rows]
    )


run = agent.init("pairs", project="programs")
for chosen in run.loader(batches(), batch_size=256):
    with run.phase("features"):
        features = products(table[chosen])
    with run.phase("fit"):
        error = features @ weights - target[chosen]
        weights -= 1e-3 * features.T @ error / len(error)
    run["train/loss"].append(float(np.mean(error**2)))
run.finish()
