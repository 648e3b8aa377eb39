"""Train a recurrent network; fixed: batches of 64 sequences instead of 4."""

import argparse
import time

import torch

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
torch.set_num_threads(1)
batch_size = 64 if args.fixed else 4
cell = torch.nn.GRUCell(24, 48)
head = torch.nn.Linear(48, 1)
parameters = [*cell.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)


def batches():
    began = time.time()
    while time.time() < began + args.seconds:
        yield torch.randn(batch_size, 40, 24)


run = agent.init("sequences", project="programs")
for batch in run.loader(batches(), batch_size=batch_size):
    with run.phase("forward"):
        state = torch.zeros(batch_size, 48)
        for position in range(batch.shape[1]):
            state = cell(batch[:, position], state)
        loss = (head(state) - batch.mean((1, 2), keepdim=True)[:, 0]).square().mean()
    with run.phase("backward"):
        optimizer.zero_grad()
        loss.backward()
    with run.phase("optimizer"):
        optimizer.step()
    run["train/loss"].append(loss.item())
run.finish()
