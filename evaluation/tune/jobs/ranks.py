"""Data-parallel training of several processes that average their gradients."""

import argparse
import multiprocessing as mp
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import agent


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--slow", type=int, default=-1, help="a rank with longer data")
    parser.add_argument("--factor", type=float, default=2.0)
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("--loader", action="store_true")
    parser.add_argument("--steps", type=int, default=600)
    return parser.parse_args()


def work(rank, args, barrier, shared):
    gradients = np.frombuffer(shared, np.float64).reshape(
        args.ranks, args.size, args.size
    )
    random = np.random.default_rng(rank)
    weights = np.zeros((args.size, args.size))
    batch = int(args.batch * (args.factor if rank == args.slow else 1))
    run = agent.init("parallel", project="ranks", stage="train", rank=rank)
    if rank == 0:
        run["params"] = vars(args)

    def exchange(gradient):
        gradients[rank] = gradient
        barrier.wait()
        mean = gradients.mean(0)
        barrier.wait()
        return mean

    steps = range(args.steps)
    for _ in run.loader(steps) if args.loader else steps:
        if args.phases:
            with run.phase("forward"):
                x = random.normal(size=(batch, args.size))
                error = x @ weights - x
            with run.phase("backward"):
                gradient = x.T @ error / batch
            with run.phase("all_reduce"):
                gradient = exchange(gradient)
        else:
            x = random.normal(size=(batch, args.size))
            error = x @ weights - x
            gradient = exchange(x.T @ error / batch)
        weights -= 0.01 * gradient
        run["train/loss"].append(float(np.mean(error**2)))
    run.finish()


def main():
    args = parse()
    shared = mp.RawArray("d", args.ranks * args.size * args.size)
    barrier = mp.Barrier(args.ranks)
    ranks = [
        mp.Process(target=work, args=(rank, args, barrier, shared))
        for rank in range(args.ranks)
    ]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()


if __name__ == "__main__":
    main()
