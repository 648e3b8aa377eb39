"""Classify pictures with a small convolution net and a PyTorch DataLoader."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--side", type=int, default=32)
parser.add_argument("--augment", type=int, default=1, help="passes over each picture")
parser.add_argument("--channels", type=int, default=16)
parser.add_argument("--epoch", type=int, default=2048, help="pictures")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--worker-threads", type=int, default=0)
parser.add_argument("--phases", action="store_true")
parser.add_argument("--no-loader", action="store_true")
parser.add_argument("--keep-workers", action="store_true")
parser.add_argument("--spawn", action="store_true")
parser.add_argument("--evaluate-every", type=int, default=0)
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()
torch.set_num_threads(args.threads)


class Pictures(Dataset):
    def __init__(self):
        self.decoded = torch.rand(256, 3, args.side, args.side)

    def __len__(self):
        return args.epoch

    def __getitem__(self, index):
        if not args.augment:
            return self.decoded[index % 256], index % 10
        random = np.random.default_rng(index)
        picture = random.random((3, args.side, args.side), dtype=np.float32)
        for _ in range(args.augment):
            picture = (picture + np.roll(picture, 1, 1) + np.flip(picture, 2)) / 3
            picture = np.clip((picture - picture.mean()) * 1.2 + 0.5, 0, 1)
        if args.worker_threads:
            torch.set_num_threads(args.worker_threads)
            torch.from_numpy(picture).repeat(4, 1, 1).float().matmul(
                torch.rand(args.side, 512)
            ).matmul(torch.rand(512, 256)).sum()
        return torch.from_numpy(picture.copy()), index % 10


def main():
    model = nn.Sequential(
        nn.Conv2d(3, args.channels, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(args.channels, 2 * args.channels, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(32 * args.channels, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    loader = DataLoader(
        Pictures(),
        batch_size=args.batch,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.keep_workers,
        multiprocessing_context="spawn" if args.spawn else None,
    )
    run = agent.init("pictures", project="vision", stage="train")
    run["params"] = vars(args)
    until, step = time.time() + args.seconds, 0
    held_out = torch.rand(512, 3, args.side, args.side)
    while time.time() < until:
        for inputs, labels in loader if args.no_loader else run.loader(loader):
            if args.phases:
                with run.phase("forward"):
                    loss = loss_of(model(inputs), labels)
                with run.phase("backward"):
                    optimizer.zero_grad()
                    loss.backward()
                with run.phase("optimizer"):
                    optimizer.step()
            else:
                optimizer.zero_grad()
                loss = loss_of(model(inputs), labels)
                loss.backward()
                optimizer.step()
            run["train/loss"].append(loss.item())
            step += 1
            if args.evaluate_every and step % args.evaluate_every == 0:
                with torch.no_grad():
                    run["val/score"].append(model(held_out).std().item())
            if time.time() > until:
                break
    run.finish()


if __name__ == "__main__":
    main()
