"""Train in short epochs; fixed: the loader's processes live through all of them."""

import argparse
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()


class Rows(Dataset):
    def __init__(self):
        self.rows = np.random.default_rng(0).normal(size=(768, 1024))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, number):
        return np.tanh(self.rows[number]).astype(np.float32)


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(
        Rows(),
        batch_size=64,
        shuffle=True,
        num_workers=2,
        persistent_workers=args.fixed,
    )
    run = agent.init("epochs", project="programs")
    began = time.time()
    while time.time() < began + args.seconds:
        for batch in run.loader(loader):
            loss = (model(batch) - batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run["train/loss"].append(loss.item())
    run.finish()
