"""Classify the sentiment of reviews."""

import argparse
import html
import random
import re
import time
import unicodedata
import zlib
from collections import Counter
from itertools import pairwise

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent

BUCKETS = 4096
TOKEN = re.compile(r"[a-z]+|\d+|[^\sa-z\d]")
SYLLABLES = [
    "ba",
    "cor",
    "del",
    "fin",
    "gro",
    "hal",
    "im",
    "jo",
    "kal",
    "lo",
    "mu",
    "nar",
    "ost",
    "pre",
    "qui",
]


def make_reviews(count, seed=2):
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(6000)]
    good, bad = words[:300], words[300:600]
    reviews = []
    for i in range(count):
        label = i % 2
        text = []
        for _ in range(rng.randint(150, 220)):
            word = rng.choice(words if rng.random() < 0.9 else (good if label else bad))
            word += rng.choice(["", "", "ing", "ed", "s", "&eacute;", "<br />"])
            text.append(word.capitalize() if rng.random() < 0.1 else word)
        reviews.append((" ".join(text), label))
    return reviews


def learn_merges(words, count=200):
    """Return the rank of each pair of symbols (byte-pair encoding)."""
    splits = {tuple(word): n for word, n in Counter(words).most_common(400)}
    ranks = {}
    for rank in range(count):
        pairs = Counter()
        for symbols, n in splits.items():
            for pair in pairwise(symbols):
                pairs[pair] += n
        if not pairs:
            break
        best = pairs.most_common(1)[0][0]
        ranks[best] = rank
        splits = {tuple(merge(list(symbols), best)): n for symbols, n in splits.items()}
    return ranks


def merge(symbols, pair):
    i = 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) == pair:
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
        i += 1
    return symbols


def words_of(text):
    text = html.unescape(text.replace("<br />", " "))
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if not unicodedata.combining(c)).lower()
    return TOKEN.findall(text)


def encode(word, ranks):
    symbols = list(word)
    while len(symbols) > 1:
        pair = min(pairwise(symbols), key=lambda p: ranks.get(p, len(ranks)))
        if pair not in ranks:
            break
        symbols = merge(symbols, pair)
    return symbols


class Reviews(Dataset):
    def __init__(self, reviews, ranks):
        self.reviews = reviews
        self.ranks = ranks

    def __len__(self):
        return len(self.reviews)

    def __getitem__(self, index):
        text, label = self.reviews[index]
        tokens = [
            symbol for word in words_of(text) for symbol in encode(word, self.ranks)
        ]
        ids = [zlib.crc32(token.encode()) % (BUCKETS - 1) + 1 for token in tokens[:400]]
        ids += [0] * (400 - len(ids))
        return torch.tensor(ids), label


class Stored(Dataset):
    def __init__(self, dataset):
        self.examples = [dataset[i] for i in range(len(dataset))]

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, index):
        return self.examples[index]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(BUCKETS, 48)
        self.conv = nn.Conv1d(48, 64, 5, padding=2)
        self.head = nn.Linear(64, 2)

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        return self.head(torch.relu(self.conv(x)).amax(-1))


def train(args):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = agent.init("reviews", project="sentiment", stage="train")
    reviews = make_reviews(args.reviews)
    ranks = learn_merges(word for text, _ in reviews[:200] for word in words_of(text))
    dataset = Reviews(reviews, ranks)
    if args.fixed:
        dataset = Stored(dataset)
    loader = DataLoader(
        dataset, 32, shuffle=True, num_workers=2, persistent_workers=True
    )
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    step, began = 0, time.perf_counter()
    deadline = began + args.seconds
    while time.perf_counter() < deadline:
        correct = seen = 0
        for ids, labels in run.loader(loader):
            with run.phase("forward"):
                logits = model(ids)
                loss = nn.functional.cross_entropy(logits, labels)
            with run.phase("backward"):
                loss.backward()
            with run.phase("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            correct += (logits.argmax(1) == labels).sum().item()
            seen += len(labels)
            step += 1
            if step % 5 == 0:
                run["train/loss"].append(loss.item(), step=step)
            if time.perf_counter() > deadline:
                break
        run["train/accuracy"].append(correct / seen, step=step)
    print(f"{step / (time.perf_counter() - began):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--reviews", type=int, default=1200)
    parser.add_argument("--fixed", action="store_true")
    train(parser.parse_args())
