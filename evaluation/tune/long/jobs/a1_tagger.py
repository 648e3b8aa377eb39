"""Tag words with a small transformer: buckets of equal length, accumulated gradients."""

import argparse
import math
import random
import time

import torch
from torch import nn

import agent

TAGS = 12
WORDS = 3000


def make(count):
    rng = torch.Generator().manual_seed(9)
    tag_of = torch.randint(0, TAGS, (WORDS,), generator=rng)
    sentences = []
    for _ in range(count):
        n = int(torch.randint(10, 70, (1,), generator=rng))
        words = torch.randint(0, WORDS, (n,), generator=rng)
        sentences.append((words, (tag_of[words] + tag_of[words.roll(1)]) % TAGS))
    return sentences


class Buckets:
    """Batches of similar length, padded to the longest sentence."""

    def __init__(self, sentences, tokens):
        self.batches = []
        batch, longest = [], 0
        for words, tags in sorted(sentences, key=lambda s: len(s[0])):
            longest = max(longest, len(words))
            if longest * (len(batch) + 1) > tokens:
                self.batches.append(self.pad(batch))
                batch, longest = [], len(words)
            batch.append((words, tags))
        self.batches.append(self.pad(batch))

    @staticmethod
    def pad(batch):
        words = nn.utils.rnn.pad_sequence([w for w, _ in batch], batch_first=True)
        tags = nn.utils.rnn.pad_sequence(
            [t for _, t in batch], batch_first=True, padding_value=-100
        )
        return words, tags

    def __iter__(self):
        return iter(random.sample(self.batches, len(self.batches)))

    def __len__(self):
        return len(self.batches)


class Tagger(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.place = nn.Embedding(80, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, TAGS)

    def forward(self, words):
        x = self.embed(words) + self.place(torch.arange(words.shape[1]))
        return self.head(self.encoder(x))


def train(seconds, accumulate):
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(2)
    batches = Buckets(make(6000), tokens=1500)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda u: min((u + 1) / 20, math.sqrt(20 / (u + 1)))
    )
    run = agent.init("tagger", project="tags", stage="train")
    start = time.perf_counter()
    step = 0
    while time.perf_counter() - start < seconds:
        for words, tags in run.loader(batches, workers=0):
            with run.phase("forward"):
                loss = nn.functional.cross_entropy(
                    model(words).flatten(0, 1), tags.flatten()
                )
            with run.phase("backward"):
                (loss / accumulate).backward()
            step += 1
            if step % accumulate == 0:
                with run.phase("optimizer"):
                    optimizer.step()
                    optimizer.zero_grad()
                    schedule.step()
                run["train/loss"].append(loss.item(), step=step)
                run["train/lr"].append(schedule.get_last_lr()[0], step=step)
            if time.perf_counter() - start > seconds:
                break
    print(f"{step / (time.perf_counter() - start):.2f} steps/s, loss {loss.item():.3f}")
    run.finish()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("--accumulate", type=int, default=4)
    a = parser.parse_args()
    train(a.seconds, a.accumulate)
