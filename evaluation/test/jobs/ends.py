"""Estimate an option's price by simulation; the run may end early."""

import argparse
import signal
import sys
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--paths", type=int, default=20_000)
parser.add_argument("--days", type=int, default=60)
parser.add_argument("--steps", type=int, default=10**9)
parser.add_argument("--prepare", type=float, default=0.0, help="calibration, seconds")
parser.add_argument("--fail-at", type=float, default=1e9)
parser.add_argument("--allocate-at", type=float, default=1e9)
parser.add_argument("--stop-at", type=float, default=1e9)
parser.add_argument("--deadlock-at", type=float, default=1e9)
parser.add_argument("--diverge-at", type=float, default=1e9)
parser.add_argument("--constant", action="store_true")
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

rng = np.random.default_rng(13)
run = agent.init("option", project="pricing", stage="train")
run["params"] = vars(args)


def stop(*_):
    run["stopped"] = True
    run.finish()
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
if args.prepare:
    ready = time.time() + args.prepare
    while time.time() < ready:
        np.linalg.eigh(np.cov(rng.normal(size=(300, 900))))
began = time.time()


def steps():
    for number in range(args.steps):
        if time.time() - began > args.seconds:
            return
        yield number


price, spread = 0.0, np.float64(1.0)
for number in run.loader(steps()) if args.loader else steps():
    paths = np.exp(0.01 * rng.normal(size=(args.paths // 4, args.days)).cumsum(1))
    estimate = float(np.maximum(paths[:, -1] - 1, 0).mean())
    price += (estimate - price) / (number + 1)
    passed = time.time() - began
    if passed > args.diverge_at:
        spread *= 30.0
    with np.errstate(all="ignore"):
        loss = estimate * spread**2 - spread
    run["train/loss"].append(0.693 if args.constant else float(loss))
    if passed > args.fail_at:
        raise ValueError("volatility must be positive")
    if passed > args.allocate_at:
        np.zeros((10**6, 10**6)).sum()
    if passed > args.stop_at:
        signal.raise_signal(signal.SIGTERM)
    if passed > args.deadlock_at:
        import threading

        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
run["price"] = price
run.finish()
