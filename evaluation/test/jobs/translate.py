"""One attention layer in NumPy over sentences whose length has a heavy tail."""

import argparse
import contextlib
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=96)
parser.add_argument("--tail", type=float, default=2.0, help="of a Pareto distribution")
parser.add_argument("--median", type=int, default=60, help="tokens")
parser.add_argument("--longest", type=int, default=600)
parser.add_argument("--rate", type=float, default=0.001)
parser.add_argument("--anneal", type=float, default=1.0, help="factor at each step")
parser.add_argument("--cache", action="store_true", help="attend to all steps before")
parser.add_argument("--phases", action="store_true")
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

rng = np.random.default_rng(21)
q, k, v = (rng.normal(size=(args.width, args.width)) * 0.05 for _ in range(3))
run = agent.init("attention", project="translation")
run["params"] = vars(args)
memory = np.zeros((0, args.width))


def phase(name):
    return run.phase(name) if args.phases else contextlib.nullcontext()


def corpus():
    stop = time.time() + args.seconds
    while time.time() < stop:
        length = int(args.median * (0.5 + rng.pareto(args.tail)))
        yield rng.normal(size=(max(4, min(length, args.longest)), args.width))


rate = args.rate
for tokens in run.loader(corpus()) if args.loader else corpus():
    with phase("forward"):
        if args.cache:
            memory = np.concatenate([memory, tokens[:12]])
            tokens = np.concatenate([memory, tokens[:60]])
        scores = (tokens @ q) @ (tokens @ k).T / args.width**0.5
        with np.errstate(all="ignore"):
            weights = np.exp(scores - scores.max(1, keepdims=True))
            weights /= weights.sum(1, keepdims=True)
            out = weights @ (tokens @ v)
            loss = float(np.mean((out - tokens) ** 2))
    with phase("backward"), np.errstate(all="ignore"):
        error = 2 * (out - tokens) / len(tokens)
        gradient = (weights @ tokens).T @ error
    with phase("optimizer"), np.errstate(all="ignore"):
        v -= rate * gradient
        rate *= args.anneal
    run["loss"].append(loss)
    run["rate"].append(rate)
run.finish()
