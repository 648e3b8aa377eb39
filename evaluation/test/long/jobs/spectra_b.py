"""Recognize machine faults in vibration recordings, from their spectrograms."""

import argparse
import time

import numpy as np
import torch
from scipy import signal
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent


def record(count, samples, path):
    random = np.random.default_rng(7)
    labels = random.integers(0, 8, count)
    moments = np.arange(samples) / 16_000
    waves = random.normal(0, 1, (count, samples)).astype(np.float32)
    for wave, label in zip(waves, labels, strict=True):
        wave += 0.25 * np.sin(2 * np.pi * (400 + 90 * label) * moments)
    np.savez(path, waves=waves, labels=labels)


def spectrogram(wave):
    wave = signal.resample_poly(wave, 3, 4)
    wave = signal.filtfilt(*signal.butter(4, [0.02, 0.6], "band"), wave)
    _, _, power = signal.spectrogram(wave, nperseg=256, noverlap=192)
    return np.log(power[:96, :96] + 1e-10).astype(np.float32)


class Recordings(Dataset):
    def __init__(self, path, run, ready):
        data = np.load(path)
        self.waves = data["waves"]
        self.labels = data["labels"]
        self.run = run
        self.ready = [spectrogram(wave) for wave in self.waves] if ready else None

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        if self.ready:
            picture = self.ready[index]
        else:
            with self.run.phase("preprocess"):
                picture = spectrogram(self.waves[index])
        return torch.from_numpy(picture)[None], int(self.labels[index])


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d((8, 1)),
        nn.Flatten(),
        nn.Linear(256, 8),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--count", type=int, default=1200)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    record(args.count, 16_000, "vibrations.npz")
    run = agent.init("vibrations", project="factory", stage="train")
    recordings = Recordings("vibrations.npz", run, ready=args.fixed)
    loader = DataLoader(recordings, batch_size=32, shuffle=True)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)
    started = time.time()
    steps = epoch = 0
    while time.time() - started < args.seconds:
        for pictures, labels in run.loader(loader):
            with run.phase("forward"):
                loss = nn.functional.cross_entropy(model(pictures), labels)
            with run.phase("backward"):
                optimizer.zero_grad()
                loss.backward()
            with run.phase("optimizer"):
                optimizer.step()
            steps += 1
            run["train/loss"].append(loss.item(), step=steps)
        epoch += 1
        print(f"epoch {epoch}: loss {loss.item():.3f}", flush=True)
    print(f"{steps / (time.time() - started):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    main()
