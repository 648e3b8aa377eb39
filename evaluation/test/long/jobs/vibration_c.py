"""Scores vibration recordings of machines with a small convolutional network."""

import argparse
import os
import struct
import time

import numpy as np
import torch
from torch import nn

import agent

SAMPLE = struct.Struct("<q3f")
WINDOW = 128


class Recording:
    def __init__(self, path, fixed):
        self.file = open(path, "rb", buffering=0)
        self.length = os.path.getsize(path) // SAMPLE.size
        self.fixed = fixed

    def sample(self, index):
        self.file.seek(index * SAMPLE.size)
        _, x, y, z = SAMPLE.unpack(self.file.read(SAMPLE.size))
        return x, y, z

    def window(self, first):
        if self.fixed:
            self.file.seek(first * SAMPLE.size)
            rows = np.frombuffer(
                self.file.read(WINDOW * SAMPLE.size), dtype="<i8,<f4,<f4,<f4"
            )
            return np.stack([rows["f1"], rows["f2"], rows["f3"]])
        return np.array(
            [self.sample(first + i) for i in range(WINDOW)], dtype=np.float32
        ).T


def write_recordings(folder, count, samples):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(8)
    for number in range(count):
        rows = np.zeros(samples, dtype="<i8,<f4,<f4,<f4")
        rows["f0"] = np.arange(samples) * 100
        for axis in ("f1", "f2", "f3"):
            rows[axis] = (
                np.sin(np.arange(samples) * rng.uniform(0.01, 0.3))
                + rng.normal(size=samples) * 0.3
            )
        rows.tofile(f"{folder}/machine-{number:02}.bin")
    return [f"{folder}/machine-{number:02}.bin" for number in range(count)]


def batches(paths, size, fixed, until):
    while True:
        for path in paths:
            recording = Recording(path, fixed)
            stack = []
            for first in range(0, recording.length - WINDOW, WINDOW):
                stack.append(recording.window(first))
                if len(stack) == size:
                    yield torch.from_numpy(np.stack(stack))
                    stack = []
                    if time.monotonic() > until:
                        return
            recording.file.close()


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(3, 32, 7, padding=3),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(32, 64, 5, padding=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.body(x).sigmoid().squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    paths = write_recordings("recordings", 8, 400_000)
    run = agent.init("vibration-scores", project="machines", stage="infer")
    model = Scorer().eval()
    began, done = time.monotonic(), 0
    stream = batches(paths, args.batch, args.fixed, began + args.seconds)
    for windows in run.loader(stream, batch_size=args.batch, workers=0):
        with torch.inference_mode(), run.phase("forward"):
            scores = model(windows)
        run["scores/mean"].append(scores.mean())
        run["scores/max"].append(scores.max())
        done += len(scores)
    print(f"{done / (time.monotonic() - began):.0f} windows/s")
    run.finish()


main()
