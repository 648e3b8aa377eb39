"""Train a part-of-speech tagger on two ranks (gloo)."""

import argparse
import os
import random
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.utils.rnn import pad_sequence

import agent

VOCABULARY = 4000
TAGS = 17


def build_corpus(sentences, path):
    generator = torch.Generator().manual_seed(3)
    tag_of = torch.randint(0, TAGS, (VOCABULARY,), generator=generator)
    share = torch.rand(sentences, generator=generator).sort().values
    lengths = (6 + 150 * share**3).long()
    corpus = []
    for length in lengths.tolist():
        words = torch.randint(0, VOCABULARY, (length,), generator=generator)
        tags = tag_of[words]
        corpus.append((words, tags))
    torch.save(corpus, path)


class Tagger(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.encoder = nn.GRU(width, width, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * width, TAGS)

    def forward(self, words):
        states, _ = self.encoder(self.words(words))
        return self.head(states)


def collate(examples):
    words = pad_sequence([words for words, _ in examples], batch_first=True)
    tags = pad_sequence(
        [tags for _, tags in examples], batch_first=True, padding_value=-100
    )
    return words, tags


def average_gradients(model, world):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    place = 0
    for parameter in model.parameters():
        count = parameter.numel()
        parameter.grad.copy_(flat[place : place + count].view_as(parameter))
        place += count


def work(rank, world, args):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    run = agent.init("tagger", project="syntax", stage="train")
    dist.init_process_group("gloo", rank=rank, world_size=world)

    corpus = torch.load("corpus.pt")
    if args.fixed:
        shard = corpus[rank::world]
    else:
        share = len(corpus) // world
        shard = corpus[rank * share : (rank + 1) * share]

    groups = [range(n, n + 32) for n in range(0, len(shard), 32)]
    random.Random(0).shuffle(groups)
    loader = torch.utils.data.DataLoader(
        shard, batch_sampler=groups, collate_fn=collate
    )
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    started = time.time()
    steps = epoch = 0
    more = torch.ones(1)
    while more:
        for words, tags in run.loader(loader):
            with run.phase("forward"):
                logits = model(words)
                loss = nn.functional.cross_entropy(logits.flatten(0, 1), tags.flatten())
            with run.phase("backward"):
                optimizer.zero_grad()
                loss.backward()
            with run.phase("communicate"):
                average_gradients(model, world)
            with run.phase("optimizer"):
                optimizer.step()
            steps += 1
            if rank == 0:
                run["train/loss"].append(loss.item(), step=steps)
        epoch += 1
        more = torch.tensor([float(time.time() - started < args.seconds)])
        dist.broadcast(more, src=0)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)
    if rank == 0:
        print(f"{steps / (time.time() - started):.2f} steps/s")
    run.finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=70)
    parser.add_argument("--sentences", type=int, default=4096)
    parser.add_argument("--port", type=int, default=29611)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    build_corpus(args.sentences, "corpus.pt")
    mp.spawn(work, args=(2, args), nprocs=2)
