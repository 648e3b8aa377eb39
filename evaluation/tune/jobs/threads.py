"""Parse text records in threads of the training process."""

import argparse
import queue
import random
import threading
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--records", type=int, default=200, help="of a batch")
parser.add_argument("--native", action="store_true", help="parse with NumPy")
parser.add_argument("--compute", type=int, default=4)
parser.add_argument("--loader", action="store_true")
parser.add_argument("--phases", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

line = ",".join(f"{random.random():.5f}" for _ in range(60))
ready = queue.Queue(maxsize=4)
until = time.time() + args.seconds
run = agent.init("records", project="tables")
run["params"] = vars(args)


def parse():
    while time.time() < until:
        if args.native:
            table = np.fromstring(",".join([line] * args.records), sep=",")
            table = table.reshape(args.records, 60)
        else:
            rows = []
            for _ in range(args.records):
                rows.append([float(c) * 2 - 1 for c in line.split(",")])
            table = np.array(rows)
        ready.put(table)
    ready.put(None)


for _ in range(args.threads):
    threading.Thread(target=parse, daemon=True).start()


def batches():
    while (table := ready.get()) is not None:
        yield table


weights = np.zeros((60, 200))
for table in run.loader(batches()) if args.loader else batches():
    if args.phases:
        with run.phase("forward"):
            hidden = np.tanh(table @ weights)
        with run.phase("backward"):
            for _ in range(args.compute):
                weights += 1e-4 * table.T @ (1 - hidden**2)
    else:
        hidden = np.tanh(table @ weights)
        for _ in range(args.compute):
            weights += 1e-4 * table.T @ (1 - hidden**2)
    run["train/loss"].append(float(np.abs(hidden).mean()))
run.finish()
