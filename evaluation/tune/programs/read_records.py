"""Train on stored records; fixed: an array on disk instead of a pickle per record."""

import argparse
import pickle
import time
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
COUNT, WIDTH = 400, 4096


class Pickles(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, number):
        with open(f"records/{number % COUNT}.pickle", "rb") as file:
            record = pickle.load(file)
        return np.array([record[key] for key in sorted(record)], np.float32)


class Array(Dataset):
    def __init__(self):
        self.rows = np.memmap("rows", np.float32, "r", shape=(COUNT, WIDTH))

    def __len__(self):
        return 100_000

    def __getitem__(self, number):
        return np.array(self.rows[number % COUNT])


if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = np.random.default_rng(0).normal(size=(COUNT, WIDTH)).astype(np.float32)
    Path("records").mkdir()
    for number, row in enumerate(rows):
        record = {f"column_{place:05}": float(v) for place, v in enumerate(row)}
        Path(f"records/{number}.pickle").write_bytes(pickle.dumps(record))
    rows.tofile("rows")
    data = Array() if args.fixed else Pickles()
    model = torch.nn.Linear(WIDTH, 256)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    run = agent.init("records", project="programs")
    began = time.time()
    for batch in run.loader(DataLoader(data, batch_size=32, num_workers=2)):
        loss = model(batch).tanh().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run["train/loss"].append(loss.item())
        if time.time() > began + args.seconds:
            break
    run.finish()
