"""A worker that answers questions from a queue, alone or in small batches."""

import argparse
import queue
import random
import threading
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=20.0, help="questions a second")
parser.add_argument("--largest-batch", type=int, default=8)
parser.add_argument("--hidden", type=int, default=1200)
parser.add_argument("--layers", type=int, default=4)
parser.add_argument("--from-disk", action="store_true", help="read the model each time")
parser.add_argument("--compile", type=float, default=0.0, help="in the first answer")
parser.add_argument("--unnamed", action="store_true", help="no phases")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

weights = np.random.default_rng(1).normal(size=(args.layers, args.hidden, args.hidden))
np.save("weights.npy", weights.astype(np.float32))
questions = queue.Queue()
run = agent.init("answers", project="support", stage="serve")
run["params"] = vars(args)
stop = time.time() + args.seconds


class Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def phase(name):
    return Nothing() if args.unnamed else run.phase(name)


def ask():
    while time.time() < stop:
        time.sleep(random.expovariate(args.rate))
        questions.put(time.time())
    questions.put(None)


def load():
    with phase("load_model"):
        return np.load("weights.npy")


threading.Thread(target=ask, daemon=True).start()
model = None if args.from_disk else load()
answered = 0
while (first := questions.get()) is not None:
    batch = [first]
    while len(batch) < args.largest_batch and not questions.empty():
        if (following := questions.get()) is None:
            questions.put(None)
            break
        batch.append(following)
    with phase("request"):
        layers = load() if args.from_disk else model
        if args.compile and not answered:
            ready = time.time() + args.compile
            while time.time() < ready:
                np.linalg.qr(layers[0][:300, :300])
        with phase("compute"):
            x = np.ones((len(batch), args.hidden), np.float32)
            for layer in layers:
                x = np.tanh(x @ layer)
    answered += len(batch)
    run["latency"].append(time.time() - batch[0])
run["answered"] = answered
run.finish()
