"""Fit a regression with plain gradient descent, with habits that cost time."""

import argparse
import json
import os
import signal
import sys
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=4000)
parser.add_argument("--features", type=int, default=200)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--print-weights", action="store_true")
parser.add_argument("--phases", action="store_true")
parser.add_argument("--sync-every", type=int, default=0, help="wait for a lock file")
parser.add_argument("--startup", type=float, default=0.0)
parser.add_argument("--raise-after", type=float, default=0.0)
parser.add_argument("--terminate-after", type=float, default=0.0)
parser.add_argument("--hang-after", type=float, default=0.0)
parser.add_argument("--exhaust-after", type=float, default=0.0)
parser.add_argument("--steps", type=int, default=10**9)
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

run = agent.init("prices", project="houses", stage="train")
run["params"] = vars(args)
random = np.random.default_rng(2)
if args.startup:
    table = random.normal(size=(2000, 400))
    ready = time.time() + args.startup
    while time.time() < ready:
        table = np.sort(table, axis=0)[::-1]
x = random.normal(size=(args.rows, args.features))
y = x @ random.normal(size=args.features)
weights = np.zeros(args.features)
log = open("log.jsonl", "w")
began = time.time()


def batches():
    for number in range(args.steps):
        if time.time() > began + args.seconds:
            return
        yield number


def write_log():
    for weight in weights:
        log.write(json.dumps({"weight": weight, "time": time.time()}) + "\n")
        log.flush()
    os.fsync(log.fileno())


for number in run.loader(batches()) if args.loader else batches():
    for _ in range(12):
        error = x @ weights - y
        gradient = x.T @ error / len(y)
    weights = weights - args.lr * gradient
    with np.errstate(all="ignore"):
        run["train/loss"].append(float(np.mean(error**2)))
    if args.print_weights:
        if args.phases:
            with run.phase("log"):
                write_log()
        else:
            write_log()
    if args.sync_every and number % args.sync_every == args.sync_every - 1:
        time.sleep(0.5)
    passed = time.time() - began
    if args.raise_after and passed > args.raise_after:
        raise KeyError("price_per_room")
    if args.terminate_after and passed > args.terminate_after:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        sys.exit(1)
    if args.hang_after and passed > args.hang_after:
        time.sleep(3600)
    if args.exhaust_after and passed > args.exhaust_after:
        np.ones((400_000, 400_000))
run.finish()
