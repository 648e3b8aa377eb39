"""Evolution strategies: candidates walk in processes, then the mean moves."""

import argparse
import multiprocessing as mp
import time

import numpy as np

import agent


def walk(task):
    weights, seed, length = task
    rng = np.random.default_rng(seed)
    position, speed, path = np.zeros(6), np.zeros(6), 0.0
    for _ in range(length):
        speed += 0.05 * np.tanh(weights @ np.concatenate([position, speed]))
        speed *= 0.98
        position = position + speed + 0.001 * rng.normal(size=6)
        path += position[0]
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--candidates", type=int, default=16)
    parser.add_argument("--length", type=int, default=300)
    parser.add_argument("--longest", type=int, default=0, help="for one candidate")
    parser.add_argument("--keep", action="store_true", help="keep all candidates")
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    rng = np.random.default_rng(6)
    mean, archive = np.zeros((6, 12)), []
    run = agent.init("walker", project="evolution", stage="search")
    run["params"] = vars(args)
    end, generation = time.time() + args.seconds, 0
    with mp.Pool(args.processes) as pool:
        while time.time() < end:
            noise = rng.normal(size=(args.candidates, 6, 12))
            tasks = [
                (
                    mean + 0.1 * each,
                    n,
                    args.length if n else args.longest or args.length,
                )
                for n, each in enumerate(noise)
            ]
            scores = np.array(pool.map(walk, tasks, chunksize=1))
            ranks = scores.argsort().argsort() / args.candidates - 0.5
            mean += 0.05 * np.tensordot(ranks, noise, 1)
            run["score/best"].append(scores.max())
            run["score/mean"].append(scores.mean())
            if args.keep:
                archive.append(np.repeat(noise[None], 900, 0))
            generation += 1
    run["generations"] = generation
    run.finish()


if __name__ == "__main__":
    main()
