"""Train each night; on the third the features are computed with a slower formula."""

import time

import numpy as np

import agent

random = np.random.default_rng(0)
table = random.normal(size=(4, 4096, 256))
weights = np.zeros(256)
for night in (1, 2, 3):
    run = agent.init(f"nightly-{night}", project="examples", stage="train")
    run["params"] = {"lr": 1e-3}
    for number in run.loader(range(1200), batch_size=4096):
        batch = table[number % len(table)]
        if night == 3:
            features = np.power(np.abs(batch), 0.5) * batch
        else:
            features = np.sqrt(np.abs(batch)) * batch
        error = features @ weights - batch[:, 0]
        weights -= 1e-3 * features.T @ error / len(error)
        run["train/loss"].append(float(np.mean(error**2)))
    run.finish()
    time.sleep(1)
