"""Predict churn from customer features; reports the AUC so far."""

import argparse
import time

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

import agent

ap = argparse.ArgumentParser()
ap.add_argument("--seconds", type=float, default=75)
ap.add_argument("--fixed", action="store_true")
opt = ap.parse_args()

rng = np.random.default_rng(21)
customers = rng.normal(size=(60_000, 40)).astype(np.float32)
weights = rng.normal(size=40)
churned = (customers @ weights + rng.normal(0, 4, len(customers)) > 0).astype(
    np.float32
)

torch.manual_seed(2)
torch.set_num_threads(1)
features, labels = torch.from_numpy(customers), torch.from_numpy(churned)
net = nn.Sequential(
    nn.Linear(40, 256),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(256, 256),
    nn.ReLU(),
    nn.Linear(256, 1),
)
adam = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)
run = agent.init("churn", project="customers")
run["params"] = vars(opt)

scores, truth = [], []
start = time.monotonic()
step = 0
while time.monotonic() - start < opt.seconds:
    rows = torch.randint(0, len(features), (1024,))
    logits = net(features[rows]).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, labels[rows])
    adam.zero_grad()
    loss.backward()
    adam.step()

    scores.append(logits.detach().sigmoid().numpy())
    truth.append(labels[rows].numpy())
    if opt.fixed:
        scores, truth = scores[-20:], truth[-20:]
    auc = roc_auc_score(np.concatenate(truth), np.concatenate(scores))
    step += 1
    run.log({"train/loss": loss.item(), "train/auc": auc}, step=step)
print(f"{step / (time.monotonic() - start):.2f} steps/s")
