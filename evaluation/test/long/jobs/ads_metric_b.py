"""Online training of an ad click model, with the AUC as the headline metric."""

import argparse
import time

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=75)
parser.add_argument("--batch", type=int, default=512)
parser.add_argument("--fixed", action="store_true")
args = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(4)
random = np.random.default_rng(4)
hidden = random.normal(size=(8, 3_000)).astype(np.float32)


def stream():
    while True:
        ids = random.integers(0, 3_000, (args.batch, 8))
        chance = hidden[np.arange(8), ids].sum(1) / 2
        yield ids, (chance + random.logistic(size=args.batch) > 0).astype(np.float32)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(3_000, 16) for _ in range(8))
        self.net = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, ids):
        parts = [table(ids[:, n]) for n, table in enumerate(self.tables)]
        return self.net(torch.cat(parts, 1)).squeeze(1)


class Auc:
    """AUC of the predictions."""

    def __init__(self, window=None):
        self.window = window
        self.scores = []
        self.targets = []

    def update(self, scores, targets):
        self.scores.append(scores)
        self.targets.append(targets)
        if self.window:
            self.scores = self.scores[-self.window :]
            self.targets = self.targets[-self.window :]

    def compute(self):
        return roc_auc_score(np.concatenate(self.targets), np.concatenate(self.scores))


run = agent.init("ads-online", project="ads")
model = Model()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
auc = Auc(window=20 if args.fixed else None)
started = time.time()
for step, (ids, clicks) in enumerate(stream(), 1):
    logits = model(torch.from_numpy(ids))
    loss = nn.functional.binary_cross_entropy_with_logits(
        logits, torch.from_numpy(clicks)
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    auc.update(torch.sigmoid(logits).detach().numpy(), clicks)
    run.log({"loss": loss.item(), "auc": auc.compute()}, step=step)
    if step % 200 == 0:
        print(f"{step}: loss {loss.item():.4f}", flush=True)
    if time.time() - started > args.seconds:
        break
print(f"{step / (time.time() - started):.2f} steps/s")
run.finish()
