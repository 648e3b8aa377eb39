"""Search hyperparameters: many short fits of a small network, one after the other."""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--samples", type=int, default=2000)
parser.add_argument("--largest", type=int, default=64, help="hidden units")
parser.add_argument("--iterations", type=int, default=30)
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()
warnings.simplefilter("ignore")

rng = np.random.default_rng(40)
x, y = make_moons(args.samples, noise=0.25, random_state=1)
half = len(x) // 2
run = agent.init("moons", project="search", stage="tune")
best, trial, until = 0.0, 0, time.time() + args.seconds
while time.time() < until:
    hidden = int(rng.integers(4, args.largest))
    rate = float(10 ** rng.uniform(-4, -1))
    model = MLPClassifier(
        (hidden,), learning_rate_init=rate, max_iter=args.iterations, random_state=trial
    )
    score = model.fit(x[:half], y[:half]).score(x[half:], y[half:])
    run["trial/score"].append(score)
    run["trial/hidden"].append(hidden)
    run["trial/rate"].append(rate)
    best = max(best, score)
    trial += 1
run["best"] = best
run.finish()
