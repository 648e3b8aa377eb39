"""Train with checkpoints; fixed: a thread writes them while training continues."""

import argparse
import copy
import os
import threading
import time

import torch

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--seconds", type=float, default=18)
args = parser.parse_args()
torch.set_num_threads(1)
layers = [(torch.nn.Linear(320, 320), torch.nn.ReLU()) for _ in range(40)]
model = torch.nn.Sequential(*(each for layer in layers for each in layer))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
writer = threading.Thread(target=lambda: None)
writer.start()


def batches():
    began = time.time()
    while time.time() < began + args.seconds:
        yield torch.randn(48, 320)


def write(weights):
    with open("weights.pt", "wb") as file:
        torch.save(weights, file)
        os.fsync(file.fileno())


run = agent.init("weights", project="programs")
for number, batch in enumerate(run.loader(batches(), batch_size=48)):
    loss = (model(batch) - batch).square().mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    run["train/loss"].append(loss.item())
    if number % 10 == 9:
        with run.phase("checkpoint"):
            if args.fixed:
                writer.join()
                weights = copy.deepcopy(model.state_dict())
                writer = threading.Thread(target=write, args=(weights,))
                writer.start()
            else:
                write(model.state_dict())
writer.join()
run.finish()
