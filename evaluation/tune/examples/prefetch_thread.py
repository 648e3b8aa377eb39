"""Train on records that a thread of the training process parses in Python."""

import json
import queue
import random
import threading
import time

import numpy as np

import agent

lines = [
    json.dumps({"values": [random.random() for _ in range(400)]}) for _ in range(2000)
]
waiting = queue.Queue(maxsize=4)
began = time.time()


def parse():
    while time.time() < began + 22:
        batch = [json.loads(random.choice(lines))["values"] for _ in range(48)]
        waiting.put([[value * value + 1.0 for value in row] for row in batch])
    waiting.put(None)


run = agent.init("parsed", project="examples", stage="train")
threading.Thread(target=parse, daemon=True).start()
weights = np.zeros((400, 8))
for batch in run.loader(iter(waiting.get, None), batch_size=48):
    table = np.array(batch)
    error = table @ weights - 1.0
    weights -= 1e-6 * table.T @ error
    run["train/loss"].append(float(np.mean(error**2)))
run.finish()
