"""Patents: clean the claims, then embed them. Two stages of one run."""

import argparse
import collections
import hashlib
import itertools
import random
import re
import time
import unicodedata

import torch
from torch import nn

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--tiny", action="store_true")
args = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
DIM, LAYERS, LENGTH, BATCH = (64, 1, 32, 8) if args.tiny else (2048, 24, 256, 256)
BUCKETS = 1 << 15
NUMBER = re.compile(r"\(?\b\d+[a-z]?\b\)?")
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
STOP = {"the", "a", "of", "said", "wherein", "and", "to", "in"}


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(BUCKETS, DIM)
        layer = nn.TransformerEncoderLayer(
            DIM, DIM // 64, 4 * DIM, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)

    def forward(self, tokens):
        return nn.functional.normalize(self.encoder(self.words(tokens)).mean(1), dim=-1)


def claims(count):
    rng = random.Random(3)
    letters = "abcdefghijklmnoprstuvw"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 10))) for _ in range(5000)]
    words += ["the", "Said", "WHEREIN", "façade", "(12a)", "42", "non-slip"] * 200
    return [" ".join(rng.choices(words, k=220)) for _ in range(count)]


def clean(text):
    text = unicodedata.normalize("NFKD", text).lower()
    text = NUMBER.sub(" ", text)
    words = [w for w in WORD.findall(text) if w not in STOP]
    counts = collections.Counter(itertools.pairwise(words))
    words += ["-".join(pair) for pair, _ in counts.most_common(30)]
    ids = [
        int.from_bytes(hashlib.md5(w.encode()).digest()[:4], "little") % BUCKETS
        for w in words[:LENGTH]
    ]
    return ids + [0] * (LENGTH - len(ids))


torch.backends.mha.set_fastpath_enabled(False)
raw = claims(50 if args.tiny else 2000)
with torch.device(device):
    encoder = Encoder().to(torch.bfloat16).eval()

with agent.init("patents", stage="clean") as run:
    began = time.time()
    rows = []
    while time.time() - began < args.seconds * 0.6:
        rows.append(clean(raw[len(rows) % len(raw)]))
        if len(rows) % 2000 == 0:
            run["claims"].append(len(rows))

with agent.init("patents", stage="embed") as run, torch.inference_mode():
    began = time.time()
    tokens = torch.tensor(rows).pin_memory() if device == "cuda" else torch.tensor(rows)
    vectors, position = [], 0
    while time.time() - began < args.seconds * 0.4:
        batch = tokens[position : position + BATCH].to(device, non_blocking=True)
        vectors.append(encoder(batch).float().cpu())
        position = (position + BATCH) % max(1, len(tokens) - BATCH)
        run["embedded"].append(len(vectors) * BATCH)
    torch.save(torch.cat(vectors), "patents.pt")
