"""Star ratings from reviews of any length; batches have about the same tokens."""

import argparse
import random
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--tiny", action="store_true")
parser.add_argument("--tokens", type=int, default=32_768)
args = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"
width, depth, heads, longest = 768, 12, 12, 512
if args.tiny:
    width, depth, heads, longest, args.tokens = 32, 2, 2, 64, 512


torch.backends.cuda.enable_cudnn_sdp(False)  # lengths differ in each batch


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        b, t, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Stars(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30_000, width, padding_idx=0)
        self.places = nn.Embedding(longest, width)
        self.layers = nn.ModuleList(Layer() for _ in range(depth))
        self.head = nn.Linear(width, 5)

    def forward(self, ids):
        real = ids != 0
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x, real[:, None, None, :])
        x = (x * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        return self.head(x)


def make(count):
    lengths = torch.randn(count).mul(0.8).exp().mul(longest / 5).long()
    lengths = lengths.clamp(8, longest).tolist()
    flat = torch.randint(1, 30_000, (sum(lengths),)).split(lengths)
    return [(text, random.randrange(5)) for text in flat]


def buckets(reviews):
    order = sorted(range(len(reviews)), key=lambda i: len(reviews[i][0]))
    result, current = [], []
    for i in order:
        if (len(current) + 1) * len(reviews[i][0]) > args.tokens:
            result.append(current)
            current = []
        current.append(i)
    random.shuffle(result)
    return result


def collate(items):
    texts, stars = zip(*items, strict=True)
    ids = pad_sequence(texts, batch_first=True)
    return F.pad(ids, (0, -ids.shape[1] % 8)), torch.tensor(stars)


def load(reviews, workers):
    return DataLoader(
        reviews,
        batch_sampler=buckets(reviews),
        collate_fn=collate,
        num_workers=workers,
        pin_memory=device == "cuda",
        persistent_workers=workers > 0,
    )


train, held_out = (make(n) for n in ((400, 40) if args.tiny else (100_000, 1200)))
model = Stars().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
train_loader = load(train, 2 if args.tiny else 6)
held_out = [(x.to(device), y.to(device)) for x, y in load(held_out, 0)]

run = agent.init("reviews", project="stars", stage="train")
end = time.monotonic() + args.seconds - 1
step = 0
while time.monotonic() < end:
    for ids, stars in train_loader:
        ids = ids.to(device, non_blocking=True)
        stars = stars.to(device, non_blocking=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = F.cross_entropy(model(ids), stars)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % 20 == 0:
            run.log({"loss": loss.item()}, step=step)
        if step % 100 == 0:
            model.eval()
            with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16):
                right = sum((model(x).argmax(-1) == y).sum() for x, y in held_out)
            model.train()
            total = sum(len(y) for _, y in held_out)
            run.log({"accuracy": right.item() / total}, step=step)
        if time.monotonic() > end:
            break
run.finish()
