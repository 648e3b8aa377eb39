"""Two ranks train a click model on shards of a day's log."""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import agent

FIELDS = 24
IDS = 20_000


def write_shards(folder, count, rows):
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(5)
    taste = random.normal(size=IDS).astype(np.float32)
    for number in range(count):
        ids = random.integers(0, IDS, (rows, FIELDS), dtype=np.int32)
        clicked = taste[ids].sum(1) + random.normal(size=rows) > 0
        np.savez(folder / f"part-{number:05}.npz", ids=ids, clicked=clicked)


class Clicks(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.table = nn.Embedding(IDS, width)
        self.net = nn.Sequential(
            nn.Linear(FIELDS * width, 512),
            nn.ReLU(),
            nn.Linear(512, 256),
            nn.ReLU(),
            nn.Linear(256, 1),
        )

    def forward(self, ids):
        return self.net(self.table(ids).flatten(1)).squeeze(1)


def batches(files, size):
    for file in files:
        data = np.load(file)
        ids = torch.from_numpy(data["ids"].astype(np.int64))
        clicked = torch.from_numpy(data["clicked"].astype(np.float32))
        yield from zip(ids.split(size), clicked.split(size), strict=True)


def train(rank, world, args):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    run = agent.init("clicks", project="ads", stage="train")

    files = sorted(Path("log").glob("part-*.npz"))
    if args.fixed:
        files = files[: len(files) // world * world]
    mine = files[rank::world]
    model = DistributedDataParallel(Clicks())
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    criterion = nn.BCEWithLogitsLoss()
    started = time.time()
    step = 0
    for epoch in range(args.epochs):
        for ids, clicked in batches(mine, 256):
            loss = criterion(model(ids), clicked)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0:
                run.log({"loss": loss.item()}, step=step)
        print(f"rank {rank}: epoch {epoch}, {time.time() - started:.0f} s", flush=True)

        checkpoint = Path(f"epoch-{epoch}.pt")
        if rank == 0:
            torch.save(model.module.state_dict(), "saving.pt")
            os.replace("saving.pt", checkpoint)
        while not checkpoint.exists():
            time.sleep(0.2)
        if rank == 0:
            run.log({"epoch": epoch}, step=step)
    print(f"rank {rank}: {step / (time.time() - started):.1f} steps/s")
    run.finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rows", type=int, default=12_800)
    parser.add_argument("--shards", type=int, default=9)
    parser.add_argument("--port", type=int, default=29612)
    parser.add_argument("--fixed", action="store_true")
    options = parser.parse_args()
    for old in Path(".").glob("epoch-*.pt"):
        old.unlink()
    write_shards(Path("log"), options.shards, options.rows)
    mp.spawn(train, args=(2, options), nprocs=2)
