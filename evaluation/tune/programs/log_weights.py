"""Fit a regression and log its weights; fixed: in each 50th step instead of each."""

import argparse
import json
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
random = np.random.default_rng(0)
table = random.normal(size=(4000, 300))
target = table @ random.normal(size=300)
weights = np.zeros(300)
log = open("log.jsonl", "w")


def batches():
    began, number = time.time(), 0
    while time.time() < began + args.seconds:
        yield number, random.integers(0, len(table), 2000)
        number += 1


run = agent.init("logged", project="programs")
for number, chosen in run.loader(batches(), batch_size=2000):
    rows = table[chosen]
    error = rows @ weights - target[chosen]
    weights -= 0.05 * rows.T @ error / len(error)
    with run.phase("log"):
        run["train/loss"].append(float(np.mean(error**2)))
        if number % (50 if args.fixed else 1) == 0:
            for place, weight in enumerate(weights):
                log.write(json.dumps({"place": place, "weight": weight}) + "\n")
            parts = np.percentile(rows, np.arange(0, 101, 5), axis=0)
            run["train/spread"].append(float(parts[-1].mean() - parts[0].mean()))
run.finish()
