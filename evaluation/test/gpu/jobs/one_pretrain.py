"""Pretrain a vision transformer by predicting masked patches (SimMIM)."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent


def make_images(path, count, size):
    rng = np.random.default_rng(7)
    images = np.lib.format.open_memmap(path, "w+", np.uint8, (count, size, size, 3))
    place = np.linspace(0, 1, size)[:, None]
    for first in range(0, count, 256):
        part = images[first : first + 256]
        waves = rng.uniform(1, 15, (2, len(part), 1, 3)) * place + rng.uniform(
            0, 6, (2, len(part), 1, 3)
        )
        rows, columns = (63 + 62 * np.sin(waves)).astype(np.uint8)
        np.add(rows[:, :, None], columns[:, None], out=part)
    images.flush()


class Chunks(Dataset):
    """Random neighbors of a shuffled file; an item is a whole batch."""

    def __init__(self, path, batch, items):
        self.path, self.batch, self.items = path, batch, items
        self.images = None

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        if self.images is None:
            self.images = np.load(self.path, mmap_mode="r")
        first = int(torch.randint(0, len(self.images) - self.batch + 1, ()))
        return torch.from_numpy(np.array(self.images[first : first + self.batch]))


class MaskedViT(nn.Module):
    def __init__(self, size, width, depth, patch=16):
        super().__init__()
        self.patch = patch
        self.embed = nn.Linear(3 * patch * patch, width)
        self.position = nn.Parameter(torch.randn((size // patch) ** 2, width) * 0.02)
        self.mask = nn.Parameter(torch.zeros(width))
        layer = nn.TransformerEncoderLayer(
            width,
            width // 64,
            4 * width,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(width, 3 * patch * patch)

    def forward(self, images):
        n, height, width, _ = images.shape
        p = self.patch
        patches = images.view(n, height // p, p, width // p, p, 3).transpose(2, 3)
        patches = patches.reshape(n, -1, 3 * p * p)
        hidden = torch.rand(patches.shape[:2], device=images.device) < 0.6
        x = torch.where(
            hidden[..., None], self.mask.to(patches.dtype), self.embed(patches)
        )
        output = self.head(self.layers(x + self.position))
        error = (output.float() - patches).square().mean(-1)
        return (error * hidden).sum() / hidden.sum()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--batch", type=int, default=384)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    count, size, width, depth = 2048, 224, 768, 12
    if args.tiny:
        count, size, width, depth, args.batch, args.workers = 64, 32, 64, 2, 8, 2

    device = "cuda" if torch.cuda.is_available() else "cpu"
    make_images("images.npy", count, size)
    loader = DataLoader(
        Chunks("images.npy", args.batch, 1_000_000),
        batch_size=None,
        num_workers=args.workers,
        pin_memory=device == "cuda",
        prefetch_factor=3,
    )
    model = MaskedViT(size, width, depth).to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=1e-4, weight_decay=0.05, fused=device == "cuda"
    )

    run = agent.init(
        "simmim", project="vit", params={"batch": args.batch, "width": width}
    )
    end = time.monotonic() + args.seconds
    total = torch.zeros((), device=device)
    for step, images in enumerate(loader, 1):
        images = images.to(device, non_blocking=True).float().div_(127.5).sub_(1)
        if step % 2:
            images = images.flip(2)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(images)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        total += loss.detach()
        if step % 10 == 0:
            run["train/loss"].append(total.item() / 10, step=step)
            total.zero_()
            if time.monotonic() > end:
                break
    run.finish()
