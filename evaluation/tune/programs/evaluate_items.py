"""Evaluate after each epoch; fixed: in batches instead of item by item."""

import argparse
import time

import torch

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
torch.set_num_threads(1)
model = torch.nn.Sequential(
    torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
table, labels = torch.randn(6000, 256), torch.randint(10, (6000,))
held, truth = torch.randn(4000, 256), torch.randint(10, (4000,))
run = agent.init("evaluated", project="programs")
began = time.time()
while time.time() < began + args.seconds:
    order = torch.randperm(len(table)).split(60)
    for chosen in run.loader(order, batch_size=60):
        loss = torch.nn.functional.cross_entropy(model(table[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run["train/loss"].append(loss.item())
    with run.phase("evaluate"), torch.no_grad():
        if args.fixed:
            right = sum(
                int((model(some).argmax(1) == true).sum())
                for some, true in zip(held.split(500), truth.split(500), strict=True)
            )
        else:
            right = sum(
                int(model(one).argmax() == true)
                for one, true in zip(held, truth, strict=True)
            )
    run["val/accuracy"].append(right / len(held))
run.finish()
