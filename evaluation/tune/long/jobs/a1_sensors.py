"""Predict wear from the columns of a machine's sensors."""

import argparse
import os
import time

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

import agent

COLUMNS = 48
ROWS = 200_000


def write_columns(folder):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(11)
    target = np.zeros(ROWS, np.float32)
    for c in range(COLUMNS):
        values = rng.standard_normal(ROWS, dtype=np.float32)
        target += np.tanh(values) * rng.normal()
        values.tofile(f"{folder}/{c:03d}.f32")
    target.tofile(f"{folder}/target.f32")


class ColumnStore(Dataset):
    """Rows of a folder with one file per column."""

    def __init__(self, folder):
        self.paths = [f"{folder}/{c:03d}.f32" for c in range(COLUMNS)]
        self.paths.append(f"{folder}/target.f32")
        self.files = None

    def __len__(self):
        return ROWS

    def __getitems__(self, rows):
        if self.files is None:
            self.files = [open(path, "rb") for path in self.paths]
        table = np.empty((len(rows), COLUMNS + 1), np.float32)
        for i, row in enumerate(rows):
            for c, file in enumerate(self.files):
                file.seek(row * 4)
                table[i, c] = np.frombuffer(file.read(4), np.float32)[0]
        return torch.from_numpy(table)


class ColumnTable(ColumnStore):
    """The same rows, from arrays."""

    def __getitems__(self, rows):
        if self.files is None:
            self.files = np.stack(
                [np.fromfile(path, np.float32) for path in self.paths], axis=1
            )
        return torch.from_numpy(self.files[rows])


p = argparse.ArgumentParser()
p.add_argument("--seconds", type=float, default=70)
p.add_argument("--batch", type=int, default=128)
p.add_argument("--fixed", action="store_true")
args = p.parse_args()

torch.manual_seed(5)
torch.set_num_threads(1)
write_columns("columns")
dataset = ColumnTable("columns") if args.fixed else ColumnStore("columns")
sampler = RandomSampler(dataset, replacement=True, num_samples=10_000_000)
loader = DataLoader(
    dataset, args.batch, sampler=sampler, num_workers=2, collate_fn=lambda table: table
)
model = nn.Sequential(
    nn.Linear(COLUMNS, 1024),
    nn.GELU(),
    nn.Linear(1024, 1024),
    nn.GELU(),
    nn.Linear(1024, 1),
)
opt = torch.optim.Adam(model.parameters(), lr=3e-4)

run = agent.init("wear", project="plant", stage="train")
began = time.time()
n = 0
for table in run.loader(loader, batch_size=args.batch, workers=2):
    with run.phase("forward"):
        x, y = table[:, :-1], table[:, -1:]
        loss = nn.functional.mse_loss(model(x), y)
    with run.phase("backward"):
        opt.zero_grad(set_to_none=True)
        loss.backward()
    with run.phase("optimizer"):
        opt.step()
    n += 1
    if n % 10 == 0:
        run.log({"train/mse": loss.item()}, step=n)
    if time.time() - began > args.seconds:
        break
print(f"{n / (time.time() - began):.2f} steps/s")
run.finish()
