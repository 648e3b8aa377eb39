"""Train on samples that lie in files, read by processes of our own."""

import argparse
import multiprocessing as mp
import os
import random
import time
from pathlib import Path

import numpy as np

import agent

FOLDER = Path("samples")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=600)
    parser.add_argument("--kib", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32, help="files")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cold", action="store_true", help="data larger than memory")
    parser.add_argument("--network", type=float, default=0.0, help="seconds a file")
    parser.add_argument("--slow-process", type=float, default=0.0)
    parser.add_argument("--parse", type=int, default=1)
    parser.add_argument("--lumpy", type=int, default=0)
    parser.add_argument("--compute", type=int, default=6)
    parser.add_argument("--loader", action="store_true")
    parser.add_argument("--seconds", type=float, default=20)
    return parser.parse_args()


def read(job):
    args, paths, number = job
    parts = []
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        if args.cold:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        parts.append(np.frombuffer(os.read(descriptor, 1 << 24), np.uint8))
        os.close(descriptor)
        if args.network:
            time.sleep(args.network)
    passes = args.parse
    if args.lumpy and number % args.lumpy == 0:
        passes *= 5 * args.lumpy
    if args.slow_process and mp.current_process().name.endswith("-1"):
        time.sleep(args.slow_process)
    table = np.stack(parts).astype(np.float32)
    for _ in range(passes):
        table = np.sqrt(table * table + 1.0)
    return table[:, :256].copy()


def main():
    args = parse()
    FOLDER.mkdir()
    content = np.random.default_rng(0).bytes(args.kib * 1024)
    paths = [str(FOLDER / f"{number}.bin") for number in range(args.files)]
    for path in paths:
        Path(path).write_bytes(content)
    os.sync()
    run = agent.init("samples", project="files")
    run["params"] = vars(args)
    until = time.time() + args.seconds

    def numbered():
        number = 0
        while time.time() < until:
            number += 1
            yield args, random.choices(paths, k=args.batch), number

    weights = np.zeros((256, 64), np.float32)
    with mp.Pool(max(1, args.processes)) as pool:
        if args.processes:
            batches = ahead(pool, numbered(), 2 * args.processes)
        else:
            batches = map(read, numbered())
        for table in run.loader(batches) if args.loader else batches:
            for _ in range(args.compute):
                weights += 1e-6 * table.T @ np.tanh(table @ weights)
            run["train/loss"].append(float(np.abs(weights).mean()))
    run.finish()


def ahead(pool, jobs, count):
    """Keep a few results ahead, in order, as loaders do."""
    waiting = []
    for job in jobs:
        waiting.append(pool.apply_async(read, (job,)))
        if len(waiting) >= count:
            yield waiting.pop(0).get()


if __name__ == "__main__":
    main()
