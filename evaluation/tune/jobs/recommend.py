"""Factorize a table of ratings, epoch by epoch, with an evaluation now and then."""

import argparse
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--users", type=int, default=20_000)
parser.add_argument("--items", type=int, default=3000)
parser.add_argument("--factors", type=int, default=32)
parser.add_argument("--batch", type=int, default=4096)
parser.add_argument("--epoch", type=int, default=100, help="steps")
parser.add_argument("--evaluate-every", type=int, default=100, help="steps")
parser.add_argument("--evaluate-users", type=int, default=500)
parser.add_argument("--phases", action="store_true")
parser.add_argument("--history", action="store_true", help="smooth the whole history")
parser.add_argument("--report-every", type=int, default=0)
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

random = np.random.default_rng(8)
users = random.normal(size=(args.users, args.factors)) * 0.1
items = random.normal(size=(args.items, args.factors)) * 0.1
run = agent.init("ratings", project="shop")
run["params"] = vars(args)
losses = []


def step():
    u = random.integers(args.users, size=args.batch)
    i = random.integers(args.items, size=args.batch)
    rating = ((u + i) % 5) / 5
    error = (users[u] * items[i]).sum(1) - rating
    np.add.at(users, u, -0.05 * error[:, None] * items[i])
    np.add.at(items, i, -0.05 * error[:, None] * users[u])
    return float(np.mean(error**2))


def evaluate():
    some = random.integers(args.users, size=args.evaluate_users)
    best = np.argsort(users[some] @ items.T, axis=1)[:, -10:]
    run["val/coverage"].append(len(np.unique(best)) / args.items)


def smoothed():
    for window in (2, 5, 10):
        kernel = np.ones(window) / window
        np.convolve(np.repeat(losses, 60), kernel, "same")
    return float(np.mean(losses[-10:]))


def steps():
    until, number = time.time() + args.seconds, 0
    while time.time() < until:
        number += 1
        yield number


for number in run.loader(steps()):
    losses.append(step())
    run["train/loss"].append(smoothed() if args.history else losses[-1])
    if args.report_every and number % args.report_every == 0:
        text = "\n".join(f"{n},{v:.6f}" for n, v in enumerate(losses * 400))
        with open("report.csv", "w") as file:
            file.write(text[:2_000_000])
    if args.evaluate_every and number % args.evaluate_every == 0:
        if args.phases:
            with run.phase("evaluate"):
                evaluate()
        else:
            evaluate()
run.finish()
