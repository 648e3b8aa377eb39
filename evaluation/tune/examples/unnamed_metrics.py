"""Train with phases, and compute metrics in Python loops outside of them."""

import time

import torch

import agent

torch.set_num_threads(1)
model = torch.nn.Sequential(
    torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
counts = [[0] * 10 for _ in range(10)]


def batches():
    began = time.time()
    while time.time() < began + 20:
        yield torch.randn(256, 256), torch.randint(10, (256,))


run = agent.init("metrics", project="examples", stage="train")
for inputs, labels in run.loader(batches(), batch_size=256):
    with run.phase("forward"):
        outputs = model(inputs)
        loss = torch.nn.functional.cross_entropy(outputs, labels)
    with run.phase("backward"):
        optimizer.zero_grad()
        loss.backward()
    with run.phase("optimizer"):
        optimizer.step()
    for output, label in zip(outputs, labels, strict=True):
        counts[int(label)][int(output.argmax())] += 1
    right = sum(counts[label][label] for label in range(10))
    run["train/loss"].append(loss.item())
    run["train/accuracy"].append(right / sum(map(sum, counts)))
run.finish()
