"""Extract rows, transform them and fit a model: three stages, each in its own run."""

import argparse
import csv
import random
import time

import numpy as np
from sklearn.linear_model import Ridge

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=20_000)
parser.add_argument("--approval", type=float, default=0.0, help="seconds of waiting")
parser.add_argument("--parse-again", action="store_true", help="for each fit")
parser.add_argument("--named", action="store_true")
parser.add_argument("--seconds", type=float, default=12)
args = parser.parse_args()


def transform():
    with open("rows.csv", newline="") as file:
        rows = [[float(cell) for cell in row] for row in csv.reader(file)]
    table = np.array(rows)
    return (table - table.mean(0)) / (table.std(0) + 1e-9)


with agent.init("sales", project="etl", stage="extract") as run:
    end = time.time() + 6
    while time.time() < end:
        with open("rows.csv", "w", newline="") as file:
            writer = csv.writer(file)
            for _ in range(args.rows):
                writer.writerow([f"{random.gauss(0, 1):.5f}" for _ in range(12)])
    run["rows"] = args.rows

with agent.init("sales", project="etl", stage="transform") as run:
    end = time.time() + 6
    while time.time() < end:
        np.save("table.npy", transform())

if args.approval:
    time.sleep(args.approval)

with agent.init("sales", project="etl", stage="train") as run:
    run["params"] = vars(args)
    end, fold = time.time() + args.seconds, 0
    while time.time() < end:
        if args.parse_again and args.named:
            with run.phase("preprocess"):
                table = transform()
        else:
            table = transform() if args.parse_again else np.load("table.npy")
        for alpha in (0.1, 1.0, 10.0):
            for _ in range(10):
                chosen = np.random.permutation(len(table))
                half = len(chosen) // 2
                model = Ridge(alpha).fit(
                    table[chosen[:half], 1:], table[chosen[:half], 0]
                )
                score = model.score(table[chosen[half:], 1:], table[chosen[half:], 0])
            run[f"score/{alpha}"].append(score)
        fold += 1
