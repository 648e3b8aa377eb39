"""Train on compressed pictures; fixed: two processes decode them."""

import argparse
import time
import zlib

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()


class Pictures(Dataset):
    def __init__(self):
        random = np.random.default_rng(0)
        smooth = random.integers(0, 40, (200, 96, 96, 3)).cumsum(axis=1)
        self.files = [zlib.compress(one.astype(np.uint8).tobytes()) for one in smooth]

    def __len__(self):
        return 100_000

    def __getitem__(self, number):
        content = zlib.decompress(self.files[number % len(self.files)])
        picture = np.frombuffer(content, np.uint8).reshape(96, 96, 3) / 255.0
        if number % 2:
            picture = picture[:, ::-1]
        picture = (picture - picture.mean((0, 1))) / picture.std((0, 1))
        return torch.from_numpy(picture.astype(np.float32)).permute(2, 0, 1), number % 7


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 12, 5, stride=3),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.LazyLinear(7),
    )
    model(torch.zeros(1, 3, 96, 96))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(Pictures(), batch_size=32, num_workers=2 if args.fixed else 0)
    run = agent.init("pictures", project="programs")
    began = time.time()
    for pictures, labels in run.loader(loader):
        loss = torch.nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run["train/loss"].append(loss.item())
        if time.time() > began + args.seconds:
            break
    run.finish()
