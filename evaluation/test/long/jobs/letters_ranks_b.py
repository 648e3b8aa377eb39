"""Character model on two ranks: DistributedDataParallel with gradient accumulation."""

import argparse
import contextlib
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import agent

LETTERS = 40


def write_text(path, length=400_000):
    generator = torch.Generator().manual_seed(1)
    table = (torch.randn(LETTERS**2, LETTERS, generator=generator) * 1.8).softmax(1)
    ends = table.cumsum(1)
    text = torch.zeros(length // 200, 200, dtype=torch.long)
    for place in range(2, 200):
        context = text[:, place - 2] * LETTERS + text[:, place - 1]
        draw = torch.rand(len(text), 1, generator=generator)
        text[:, place] = (ends[context] < draw).sum(1).clamp(max=LETTERS - 1)
    torch.save(text.flatten(), path)


class Letters(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.embedding = nn.Embedding(LETTERS, width)
        self.places = nn.Embedding(64, width)
        layer = nn.TransformerEncoderLayer(
            width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.out = nn.Linear(width, LETTERS)
        mask = nn.Transformer.generate_square_subsequent_mask(64)
        self.register_buffer("mask", mask)

    def forward(self, text):
        states = self.embedding(text) + self.places.weight
        return self.out(self.layers(states, mask=self.mask))


def train(rank, world, args):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    run = agent.init("letters", project="language", stage="train")
    with run.phase("load_data"):
        text = torch.load("text.pt")
        rows = text[: len(text) // 65 * 65].view(-1, 65)
        sampler = DistributedSampler(TensorDataset(rows), world, rank)
        loader = DataLoader(
            sampler.dataset, batch_size=16, sampler=sampler, drop_last=True
        )
    model = DistributedDataParallel(Letters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    started = time.time()
    micro = epoch = 0
    more = torch.ones(1)
    while more:
        sampler.set_epoch(epoch)
        for (row,) in run.loader(loader):
            micro += 1
            last = micro % args.accumulate == 0
            with contextlib.nullcontext() if last else model.no_sync():
                with run.phase("forward"):
                    logits = model(row[:, :-1])
                    loss = nn.functional.cross_entropy(
                        logits.flatten(0, 1), row[:, 1:].flatten()
                    )
                with run.phase("backward"):
                    (loss / args.accumulate).backward()
            if last:
                with run.phase("optimizer"):
                    optimizer.step()
                    optimizer.zero_grad()
            if last and rank == 0:
                run["train/loss"].append(loss.item(), step=micro // args.accumulate)
            if micro % 16 == 0:
                more[0] = time.time() - started < args.seconds
                dist.broadcast(more, src=0)
                if not more:
                    break
        epoch += 1
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)
    if rank == 0:
        print(f"{micro / (time.time() - started):.2f} steps/s")
    run.finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=70)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--port", type=int, default=29613)
    args = parser.parse_args()
    write_text("text.pt")
    mp.spawn(train, args=(2, args), nprocs=2)
