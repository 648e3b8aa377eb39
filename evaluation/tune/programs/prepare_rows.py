"""Train on prepared rows; fixed: each batch is prepared at once, not row by row."""

import argparse
import math
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
WIDTH = 512


class Rows(Dataset):
    def __init__(self):
        self.rows = np.random.default_rng(0).gamma(2.0, size=(2000, WIDTH))

    def __len__(self):
        return 200_000

    def __getitem__(self, number):
        row = self.rows[number % len(self.rows)]
        return row if args.fixed else prepare(row.tolist())


def prepare(row):
    logs = [math.log1p(value) for value in row]
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((value - mean) ** 2 for value in logs) / len(logs))
    return [(value - mean) / spread for value in logs]


def batch_of(rows):
    if not args.fixed:
        return torch.tensor(rows, dtype=torch.float32)
    logs = np.log1p(np.stack(rows))
    scaled = (logs - logs.mean(1, keepdims=True)) / logs.std(1, keepdims=True)
    return torch.from_numpy(scaled.astype(np.float32))


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(Rows(), batch_size=128, num_workers=2, collate_fn=batch_of)
    run = agent.init("rows", project="programs")
    began = time.time()
    for batch in run.loader(loader):
        loss = model(batch).tanh().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run["train/loss"].append(loss.item())
        if time.time() > began + args.seconds:
            break
    run.finish()
