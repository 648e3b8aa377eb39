"""Workers that send gradients to their neighbor in a ring of pipes."""

import argparse
import multiprocessing as mp
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=3)
parser.add_argument("--units", type=int, default=160)
parser.add_argument("--examples", type=int, default=96)
parser.add_argument("--late", type=int, default=-1, help="a worker that reads slowly")
parser.add_argument("--delay", type=float, default=0.02)
parser.add_argument("--timed", action="store_true")
parser.add_argument("--steps", type=int, default=700)
args = parser.parse_args()


def circulate(gradient, rank, left, right):
    total, passed = gradient, gradient
    for _ in range(args.workers - 1):
        if rank % 2:  # if all sent first, full pipes would block them
            received = left.recv()
            right.send(passed)
        else:
            right.send(passed)
            received = left.recv()
        passed = received
        total = total + passed
    return total / args.workers


def examples(rank):
    rng = np.random.default_rng(rank)
    for _ in range(args.steps):
        if rank == args.late:
            time.sleep(args.delay)
        yield rng.normal(size=(args.examples, args.units))


def train(rank, left, right):
    run = agent.init("ring", project="distributed", rank=rank, stage="train")
    weights = np.eye(args.units) * 0.1
    source = examples(rank)
    for x in run.loader(source) if args.timed else source:
        hidden = np.tanh(x @ weights)
        loss = float(np.mean((hidden - x) ** 2))
        gradient = x.T @ ((hidden - x) * (1 - hidden**2)) / len(x)
        if args.timed:
            with run.phase("all_reduce"):
                gradient = circulate(gradient, rank, left, right)
        else:
            gradient = circulate(gradient, rank, left, right)
        weights -= 0.05 * gradient
        run["loss"].append(loss)
    run.finish()


if __name__ == "__main__":
    pipes = [mp.Pipe() for _ in range(args.workers)]
    workers = [
        mp.Process(target=train, args=(rank, pipes[rank - 1][1], pipes[rank][0]))
        for rank in range(args.workers)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
