"""Train an encoder on two ranks; gradients are averaged by hand."""

import argparse
import os
import random
import socket
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils.rnn import pad_sequence

import agent

WORDS = 4000


def launch(world=2):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    children = []
    for rank in range(world):
        env = os.environ | {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
        children.append(subprocess.Popen([sys.executable, *sys.argv], env=env))
    sys.exit(max(child.wait() for child in children))


def sentences(count=8000):
    rng = random.Random(6)
    lengths = sorted(int(rng.triangular(8, 120, 12)) for _ in range(count))
    return [
        torch.tensor([min(int(rng.paretovariate(0.6)), WORDS - 1) for _ in range(n)])
        for n in lengths
    ]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 96)
        self.rnn = nn.GRU(96, 160, batch_first=True)
        self.head = nn.Linear(160, WORDS)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def batches(data, size=16):
    rng = random.Random(0)
    while True:
        first = rng.randrange(len(data) - size)
        yield pad_sequence(data[first : first + size], batch_first=True)


def average(model, world):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at : at + p.numel()].view_as(p))
        at += p.numel()


def train(args):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    data = sentences()
    if args.fixed:
        data = data[rank::world]
    else:
        part = len(data) // world
        data = data[rank * part : (rank + 1) * part]
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    run = agent.init("translate", project="translation", stage="train")

    start, step = time.time(), 0
    stop = torch.zeros(1)
    for ids in run.loader(batches(data), batch_size=16, workers=0):
        with run.phase("forward"):
            logits = model(ids[:, :-1])
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0
            )
        with run.phase("backward"):
            optimizer.zero_grad()
            loss.backward()
        with run.phase("communicate"):
            average(model, world)
        with run.phase("optimizer"):
            optimizer.step()
        step += 1
        if step % 5 == 0:
            run["train/loss"].append(loss.item(), step=step)
            stop[0] = time.time() - start > args.seconds
            dist.all_reduce(stop, op=dist.ReduceOp.MAX)
            if stop.item():
                break
    if rank == 0:
        print(f"{step / (time.time() - start):.2f} steps/s")
    run.finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    if "RANK" in os.environ:
        train(arguments)
    else:
        launch()
