"""Gradient boosting by hand, to try a robust loss for house prices."""

import argparse
import time

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import agent


def make_table(rng, rows):
    x = rng.normal(size=(rows, 24)).astype(np.float32)
    y = (
        np.sin(2 * x[:, 0]) * x[:, 1]
        + x[:, 2] ** 2
        + np.abs(x[:, 3])
        + rng.normal(size=rows) * 0.2
    )
    return x, y


def ensemble(trees, base, rate, x):
    total = np.full(len(x), base)
    for tree in trees:
        total += rate * tree.predict(x)
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()

    run = agent.init("boost", project="houses", params={"rate": args.rate, "depth": 5})
    rng = np.random.default_rng(3)
    x, y = make_table(rng, 20_000)
    x_val, y_val = make_table(rng, 6_000)
    base = float(np.median(y))
    trees = []
    current, current_val = np.full(len(x), base), np.full(len(x_val), base)

    began = time.monotonic()
    while time.monotonic() - began < args.seconds:
        rows = rng.choice(len(x), len(x) // 3, replace=False)
        residual = np.clip(y - current, -2.0, 2.0)
        tree = DecisionTreeRegressor(
            max_depth=5, max_features=12, random_state=len(trees)
        )
        tree.fit(x[rows], residual[rows])
        trees.append(tree)
        if args.fixed:
            current += args.rate * tree.predict(x)
            current_val += args.rate * tree.predict(x_val)
        else:
            current = ensemble(trees, base, args.rate, x)
            current_val = ensemble(trees, base, args.rate, x_val)
        run.log(
            {
                "train/mae": np.abs(y - current).mean(),
                "val/mae": np.abs(y_val - current_val).mean(),
            }
        )

    print(f"{len(trees)} trees, {len(trees) / (time.monotonic() - began):.2f} trees/s")
    run["trees"] = len(trees)
    run.finish()


main()
