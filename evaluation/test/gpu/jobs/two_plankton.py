"""Classifies plankton images with a ViT; two batches per update."""

import argparse
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

import agent
from agent.frameworks.torch import describe


class Plankton(Dataset):
    """Decoded images in memory; an item is a whole batch."""

    def __init__(self, count, side):
        self.images = torch.randint(256, (count, 1, side, side), dtype=torch.uint8)
        self.species = torch.randint(120, (count,))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, rows):
        rows = torch.as_tensor(rows)
        return self.images[rows], self.species[rows]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class ViT(nn.Module):
    def __init__(self, side, patch, width, layers, heads):
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, stride=patch)
        self.places = nn.Parameter(torch.zeros(1, (side // patch) ** 2, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.head = nn.Linear(width, 120)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.places
        return self.head(self.blocks(x).mean(1))


def prepare(images, device):
    images = images.to(device, non_blocking=True).float().div_(255)
    flip = torch.rand(len(images), 1, 1, 1, device=device) < 0.5
    return torch.where(flip, images.flip(-1), images)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    side, shape = (32, (32, 2, 2)) if args.tiny else (128, (512, 12, 8))
    if args.tiny:
        args.batch = 8

    data = Plankton(200 if args.tiny else 20_000, side)
    loader = DataLoader(
        data,
        sampler=BatchSampler(RandomSampler(data), args.batch, drop_last=True),
        batch_size=None,
        num_workers=2 if args.tiny else 3,
        pin_memory=device == "cuda",
        persistent_workers=True,
    )
    model = ViT(side, 8, *shape).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)

    run = agent.init("plankton", project="sea", stage="train")
    end = time.monotonic() + args.seconds - 1
    describe(run, model=model, optimizer=optimizer)
    step = 0
    while time.monotonic() < end:
        for images, species in run.loader(loader, batch_size=args.batch):
            with run.phase("copy"):
                images = prepare(images, device)
                species = species.to(device, non_blocking=True)
            with torch.autocast(device, dtype=torch.bfloat16), run.phase("forward"):
                loss = functional.cross_entropy(model(images), species)
            with run.phase("backward"):
                (loss / 2).backward()
            step += 1
            if step % 2 == 0:
                with run.phase("optimizer"):
                    optimizer.step()
                    optimizer.zero_grad()
            if time.monotonic() > end:
                break
    run["images"] = step * args.batch
    run.finish()


if __name__ == "__main__":
    main()
