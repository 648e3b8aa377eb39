"""Two processes train a GRU classifier on articles of different lengths."""

import argparse
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

import agent

VOCABULARY, TOPICS, ARTICLES = 4000, 8, 2048


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 64, padding_idx=0)
        self.gru = nn.GRU(64, 160, batch_first=True)
        self.out = nn.Linear(160, TOPICS)

    def forward(self, tokens):
        states, _ = self.gru(self.embed(tokens))
        return self.out(states.mean(1))


def make_articles():
    generator = torch.Generator().manual_seed(2)
    lengths = (
        (8 + torch.rand(ARTICLES, generator=generator) ** 3 * 300).int().sort().values
    )
    topics = torch.randint(0, TOPICS, (ARTICLES,), generator=generator)
    texts = []
    for length, topic in zip(lengths.tolist(), topics.tolist(), strict=True):
        text = torch.randint(1, VOCABULARY, (length,), generator=generator)
        text[::6] = (
            1 + topic * 20 + torch.randint(0, 20, text[::6].shape, generator=generator)
        )
        texts.append(text)
    return list(zip(texts, topics.tolist(), strict=True))


def collate(rows):
    texts, topics = zip(*rows, strict=True)
    return nn.utils.rnn.pad_sequence(texts, batch_first=True), torch.tensor(topics)


def train(rank, world, store, args):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    run = agent.init("articles", project="news", stage="train")
    articles = make_articles()
    batches = [articles[first : first + 32] for first in range(0, len(articles), 32)]
    share = len(batches) // world
    mine = (
        batches[rank::world]
        if args.fixed
        else batches[rank * share : (rank + 1) * share]
    )
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    order = torch.Generator().manual_seed(0)
    loader = torch.utils.data.DataLoader(
        mine, batch_size=None, shuffle=True, generator=order, collate_fn=collate
    )
    began, steps, go = time.monotonic(), 0, torch.ones(1)
    while go:
        for tokens, topics in run.loader(loader):
            with run.phase("forward"):
                loss = nn.functional.cross_entropy(model(tokens), topics)
            optimizer.zero_grad()
            with run.phase("backward"):
                loss.backward()
            with run.phase("communicate"):
                gradient = nn.utils.parameters_to_vector(
                    [p.grad for p in model.parameters()]
                )
                dist.all_reduce(gradient)
            with run.phase("optimizer"):
                for p, g in zip(
                    model.parameters(), split(gradient / world, model), strict=True
                ):
                    p.grad = g
                optimizer.step()
            if rank == 0:
                run["train/loss"].append(loss.detach())
            steps += 1
        go = torch.tensor([float(time.monotonic() - began < args.seconds)])
        dist.broadcast(go, 0)
    if rank == 0:
        print(f"{steps / (time.monotonic() - began):.2f} steps/s")
    run.finish()
    dist.destroy_process_group()


def split(vector, model):
    sizes = [p.numel() for p in model.parameters()]
    return [
        part.view_as(p)
        for part, p in zip(vector.split(sizes), model.parameters(), strict=True)
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    store = tempfile.mkdtemp(dir=os.getcwd())
    mp.start_processes(
        train, args=(2, f"file://{store}/ranks", args), nprocs=2, start_method="fork"
    )
