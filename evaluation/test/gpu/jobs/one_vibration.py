"""Train a bearing-fault classifier on windows of a vibration recording.

The logger writes one block per sensor and tick: 16 bytes of header, then 64 samples.
"""

import argparse
import os
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent

SENSORS = 24
SAMPLES = 64
BLOCK = np.dtype(
    [("time", "<i8"), ("gain", "<f4"), ("state", "<i4"), ("data", "<i2", SAMPLES)]
)
HEADER = np.dtype([("time", "<i8"), ("gain", "<f4"), ("state", "<i4")])


def write_recording(path, ticks):
    rng = np.random.default_rng(3)
    blocks = np.zeros((ticks, SENSORS), BLOCK)
    blocks["time"] = np.arange(ticks)[:, None]
    state = np.repeat(rng.integers(0, 8, ticks // 100 + 1), 100)[:ticks, None]
    blocks["state"] = state
    blocks["gain"] = rng.uniform(0.5, 2, (1, SENSORS)) * (1 + state / 8)
    blocks["data"] = rng.integers(-2000, 2000, blocks["data"].shape, dtype=np.int16)
    blocks.tofile(path)


class Windows(Dataset):
    def __init__(self, path, ticks, length):
        self.path = path
        self.ticks = ticks
        self.length = length
        self.file = None

    def __len__(self):
        return self.ticks - self.length

    def __getitem__(self, start):
        if self.file is None:
            self.file = os.open(self.path, os.O_RDONLY)
        heads, bodies = [], []
        for sensor in range(SENSORS):
            for tick in range(start, start + self.length):
                position = (tick * SENSORS + sensor) * (HEADER.itemsize + 2 * SAMPLES)
                heads.append(os.pread(self.file, HEADER.itemsize, position))
                bodies.append(
                    os.pread(self.file, 2 * SAMPLES, position + HEADER.itemsize)
                )
        head = np.frombuffer(b"".join(heads), HEADER).reshape(SENSORS, self.length)
        signal = np.frombuffer(b"".join(bodies), "<i2").reshape(
            SENSORS, self.length, SAMPLES
        )
        signal = signal * (head["gain"] / 2000)[:, :, None]
        return signal.reshape(SENSORS, -1).astype(np.float32), int(head["state"][0, -1])


class Block(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(inside, outside, 9, stride=2, padding=4),
            nn.BatchNorm1d(outside),
            nn.ReLU(),
            nn.Conv1d(outside, outside, 9, padding=4),
            nn.BatchNorm1d(outside),
        )
        self.skip = nn.Conv1d(inside, outside, 1, stride=2)

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    ticks, length = 60_000, 32
    if args.tiny:
        ticks, length, args.batch, args.workers = 1000, 8, 16, 2

    write_recording("recording.bin", ticks)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Sequential(
        Block(SENSORS, 64),
        Block(64, 128),
        Block(128, 256),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(256, 8),
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loader = DataLoader(
        Windows("recording.bin", ticks, length),
        batch_size=args.batch,
        shuffle=True,
        num_workers=args.workers,
        pin_memory=device == "cuda",
        persistent_workers=True,
        drop_last=True,
    )

    run = agent.init("vibration", project="bearings", stage="train")
    end = time.monotonic() + args.seconds
    done = False
    step = 0
    right = torch.zeros((), device=device)
    while not done:
        for signal, state in run.loader(loader):
            signal = signal.to(device, non_blocking=True)
            state = state.to(device, non_blocking=True)
            with torch.autocast(device, dtype=torch.bfloat16):
                output = model(signal)
                loss = nn.functional.cross_entropy(output, state)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += (output.detach().argmax(1) == state).float().mean()
            step += 1
            if step % 20 == 0:
                run["train/accuracy"].append(right.item() / 20, step=step)
                right.zero_()
            if time.monotonic() > end:
                done = True
                break
    run.finish()


if __name__ == "__main__":
    main()
