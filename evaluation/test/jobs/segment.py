"""Segment cells in tiles that processes cut from large pictures and deform."""

import argparse
import multiprocessing as mp
import time

import numpy as np
import torch
from torch import nn

import agent


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--tile", type=int, default=48)
    parser.add_argument("--tiles", type=int, default=8, help="of a batch")
    parser.add_argument("--deform", type=int, default=2, help="passes over each tile")
    parser.add_argument("--rare", type=int, default=0, help="a large picture each n")
    parser.add_argument("--download", type=float, default=0.0, help="seconds a tile")
    parser.add_argument("--straggler", type=int, default=1, help="times the passes")
    parser.add_argument("--filters", type=int, default=12)
    parser.add_argument("--loader", action="store_true")
    parser.add_argument("--seconds", type=float, default=20)
    return parser.parse_args()


def cut(task):
    args, seed = task
    random = np.random.default_rng(seed)
    passes = args.deform
    if args.rare and seed % args.rare == 0:
        passes *= 12
    if args.straggler > 1 and mp.current_process().name.endswith("-1"):
        passes *= args.straggler
    tiles = []
    for _ in range(args.tiles):
        tile = random.normal(size=(args.tile, args.tile)).astype(np.float32)
        for _ in range(passes):
            shift = random.integers(1, 5)
            tile = 0.5 * tile + 0.25 * (np.roll(tile, shift, 0) + np.rot90(tile))
            tile = np.sort(tile, axis=1)
        if args.download:
            time.sleep(args.download)
        tiles.append(np.ascontiguousarray(tile))
    return np.stack(tiles)[:, None]


class Batches:
    """Asks processes for batches and hands them out in the order they were asked."""

    def __init__(self, args):
        self.args = args
        self.pool = mp.Pool(args.processes) if args.processes else None
        self.end = time.time() + args.seconds

    def __iter__(self):
        waiting, seed = [], 0
        while time.time() < self.end:
            seed += 1
            if self.pool is None:
                yield cut((self.args, seed))
                continue
            waiting.append(self.pool.apply_async(cut, ((self.args, seed),)))
            if len(waiting) > 2 * self.args.processes:
                yield waiting.pop(0).get()


def main():
    args = options()
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Conv2d(1, args.filters, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(args.filters, args.filters, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(args.filters, 1, 1),
    )
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    batches = Batches(args)
    run = agent.init("cells", project="microscopy", stage="train")
    run["params"] = vars(args)
    for tiles in run.loader(batches) if args.loader else batches:
        tiles = torch.from_numpy(tiles)
        loss = nn.functional.binary_cross_entropy_with_logits(
            model(tiles), (tiles > 0).float()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run["dice"].append(1 - loss.item())
        run["loss"].append(loss.item())
    run.finish()


if __name__ == "__main__":
    main()
