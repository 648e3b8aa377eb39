"""Train on two shards, one of which has much longer texts."""

import time

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import agent


class Shards(IterableDataset):
    def __iter__(self):
        length = (400, 12_000)[get_worker_info().id]
        random = np.random.default_rng(length)
        while True:
            text = random.integers(97, 123, length, np.uint8).tobytes().decode()
            counts = dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 0)
            for letter in text:
                counts[letter] += 1
            yield torch.tensor(list(counts.values()), dtype=torch.float32) / length


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Linear(26, 26)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    run = agent.init("shards", project="examples", stage="train")
    began = time.time()
    for batch in run.loader(DataLoader(Shards(), batch_size=32, num_workers=2)):
        loss = (model(batch) - batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run["train/loss"].append(loss.item())
        if time.time() > began + 22:
            break
    run.finish()
