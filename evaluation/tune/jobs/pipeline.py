"""Clean a text corpus, build features, then train on them: stages of one run."""

import argparse
import random
import time
from collections import Counter
from pathlib import Path

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--documents", type=int, default=3000)
parser.add_argument("--gap", type=float, default=0.0, help="wait for a machine")
parser.add_argument("--every-epoch", action="store_true", help="clean in each epoch")
parser.add_argument("--phases", action="store_true")
parser.add_argument("--seconds", type=float, default=14)
args = parser.parse_args()
random.seed(4)
WORDS = ["".join(random.choices("abcdefgh", k=5)) for _ in range(2000)]


def clean(documents):
    cleaned = []
    for text in documents:
        words = [w.strip(".,").lower() for w in text.split()]
        counts = Counter(words)
        cleaned.append([w for w in words if counts[w] < 9])
    return cleaned


def features(documents):
    index = {word: number for number, word in enumerate(WORDS)}
    table = np.zeros((len(documents), 512), np.float32)
    for row, words in enumerate(documents):
        for word in words:
            table[row, index.get(word, 0) % 512] += 1
    return table


raw = [" ".join(random.choices(WORDS, k=120)) for _ in range(args.documents)]
with agent.init("corpus", project="topics", stage="preprocess") as run:
    until = time.time() + 8
    while time.time() < until:
        table = features(clean(raw))
    run["documents"] = len(raw)
    np.save("features.npy", table)
if args.gap:
    time.sleep(args.gap)

with agent.init("corpus", project="topics", stage="train") as run:
    run["params"] = vars(args)
    table = np.load(Path("features.npy"))
    target = (table.sum(1) > np.median(table.sum(1))).astype(np.float32)
    weights = np.zeros(512, np.float32)
    until, epoch = time.time() + args.seconds, 0
    while time.time() < until:
        if args.every_epoch:
            if args.phases:
                with run.phase("preprocess"):
                    table = features(clean(raw))
            else:
                table = features(clean(raw))
        order = np.random.permutation(len(table))
        for rows in run.loader(np.array_split(order, max(1, len(order) // 64))):
            for _ in range(20):
                error = 1 / (1 + np.exp(-table[rows] @ weights)) - target[rows]
                weights -= 1e-4 * table[rows].T @ error
            run["train/loss"].append(float(np.mean(error**2)))
        epoch += 1
