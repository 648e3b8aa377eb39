"""A character model on generated prose, with perplexity every hundred steps."""

import argparse
import resource
import time

import numpy as np
import torch
from torch import nn

import agent

VOCABULARY = 128


def corpus(length=2_000_000):
    rng = np.random.default_rng(4)
    follow = rng.integers(0, VOCABULARY, (VOCABULARY, 4))
    turns = rng.integers(0, 4, length)
    text = np.empty(length, np.int64)
    now = 0
    for i, turn in enumerate(turns):
        now = follow[now, turn]
        text[i] = now
    return torch.from_numpy(text)


class CharModel(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


class Perplexity:
    def __init__(self):
        self.outputs = []
        self.targets = []

    def add(self, logits, target):
        self.outputs.append(logits)
        self.targets.append(target)

    def value(self):
        with torch.no_grad():
            total = [
                nn.functional.cross_entropy(o.flatten(0, 1), t.flatten())
                for o, t in zip(self.outputs[-20:], self.targets[-20:], strict=True)
            ]
            return torch.stack(total).mean().exp().item()

    def trim(self):
        del self.outputs[:-20], self.targets[:-20]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    text = corpus()
    model = CharModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    run = agent.init("novels", project="prose", stage="train")
    perplexity = Perplexity()
    offsets = torch.arange(97)
    start = time.time()
    step = 0
    while time.time() - start < args.seconds:
        at = torch.randint(0, len(text) - 97, (args.batch, 1))
        chunk = text[at + offsets]
        x, y = chunk[:, :-1], chunk[:, 1:]
        logits = model(x)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        perplexity.add(logits, y)
        if args.fixed:
            perplexity.trim()
        step += 1
        if step % 5 == 0:
            run["train/loss"].append(loss.item(), step=step)
        if step % 100 == 0:
            run["train/perplexity"].append(perplexity.value(), step=step)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{step / (time.time() - start):.2f} steps/s, peak {peak:.0f} MiB")
    run.finish()


main()
