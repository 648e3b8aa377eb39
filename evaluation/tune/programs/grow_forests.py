"""Search forests by cross-validation; fixed: two trees grow at a time."""

import argparse
import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()
random = np.random.default_rng(0)
table = random.normal(size=(3000, 16))
labels = (table[:, 0] * table[:, 1] > 0).astype(int)


def folds():
    began, number = time.time(), 0
    while time.time() < began + args.seconds:
        yield number, (np.arange(len(table)) + number) % 5 == 0
        number += 1


run = agent.init("forests", project="programs")
for number, is_held in run.loader(folds()):
    forest = RandomForestClassifier(
        30, max_depth=4 + number % 3, n_jobs=2 if args.fixed else 1, random_state=0
    )
    forest.fit(table[~is_held], labels[~is_held])
    run["val/accuracy"].append(forest.score(table[is_held], labels[is_held]))
run.finish()
