"""Fit a network in NumPy; fixed: single precision instead of double."""

import argparse
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
kind = np.float32 if args.fixed else np.float64
random = np.random.default_rng(0)
inner = random.normal(0, 0.03, size=(1024, 1024)).astype(kind)
outer = random.normal(0, 0.03, size=(1024, 32)).astype(kind)
table = random.normal(size=(4096, 1024)).astype(kind)
target = random.normal(size=(4096, 32)).astype(kind)


def batches():
    began = time.time()
    while time.time() < began + args.seconds:
        yield random.integers(0, len(table), 256)


run = agent.init("precision", project="programs")
for chosen in run.loader(batches(), batch_size=256):
    hidden = np.tanh(table[chosen] @ inner)
    error = hidden @ outer - target[chosen]
    back = error @ outer.T * (1 - hidden * hidden)
    outer -= kind(1e-5) * (hidden.T @ error)
    inner -= kind(1e-5) * (table[chosen].T @ back)
    run["train/loss"].append(float(np.mean(error**2)))
run.finish()
