"""Fine-tune from weights that were never saved."""

import time

import torch

import agent

run = agent.init("fine-tune", project="examples", stage="train")
time.sleep(6)
model = torch.nn.Linear(16, 2)
model.load_state_dict(torch.load("weights/base-model.pt"))
run.finish()
