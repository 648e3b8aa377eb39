"""Recognize bird species in recordings of four stations."""

import argparse
import glob
import math
import os
import time
import wave

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.signal import resample_poly
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import agent

p = argparse.ArgumentParser()
p.add_argument("--seconds", type=float, default=20)
p.add_argument("--tiny", action="store_true")
p.add_argument("--batch", type=int, default=32)
args = p.parse_args()

RATE = 16000
LENGTH = 1 if args.tiny else 4  # seconds of a clip
BATCH = 4 if args.tiny else args.batch
STATIONS = {  # rate and channels of the recorder
    "harbor": (16000, 1),
    "meadow": (16000, 1),
    "quarry": (96000, 2),
    "forest": (16000, 1),
}


def make_recordings(root):
    rng = np.random.default_rng(0)
    for station, (rate, channels) in STATIONS.items():
        os.makedirs(f"{root}/{station}", exist_ok=True)
        for i in range(12):
            samples = rng.integers(
                -3000, 3000, rate * LENGTH * channels, dtype=np.int16
            )
            with wave.open(f"{root}/{station}/{i:03d}.wav", "wb") as f:
                f.setnchannels(channels)
                f.setsampwidth(2)
                f.setframerate(rate)
                f.writeframes(samples.tobytes())


class Stations(IterableDataset):
    def __init__(self, root):
        self.folders = sorted(glob.glob(f"{root}/*/"))

    def __iter__(self):
        info = get_worker_info()
        folders = self.folders[info.id :: info.num_workers]
        rng = np.random.default_rng(info.id)
        while True:
            for folder in folders:
                for path in rng.permutation(glob.glob(folder + "*.wav")):
                    yield self.clip(path), int(rng.integers(200))

    def clip(self, path):
        with wave.open(path) as f:
            rate, channels = f.getframerate(), f.getnchannels()
            raw = f.readframes(f.getnframes())
        x = np.frombuffer(raw, np.int16).reshape(-1, channels).astype(np.float32)
        if rate != RATE:
            x = resample_poly(x, RATE, rate, axis=0)
        return torch.from_numpy(x.mean(axis=1) / 32768).float()


class Classifier(nn.Module):
    def __init__(self, width, layers, classes=200):
        super().__init__()
        self.register_buffer("window", torch.hann_window(400))
        self.project = nn.Linear(201, width)
        block = nn.TransformerEncoderLayer(
            width, width // 64, 4 * width, dropout=0.0, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(block, layers)
        self.head = nn.Linear(width, classes)

    def forward(self, audio):
        with torch.autocast(audio.device.type, enabled=False):
            spectrum = torch.stft(
                audio, 400, 160, window=self.window, return_complex=True
            )
            mel = torch.log(spectrum.abs() + 1e-5).transpose(1, 2)
        return self.head(self.encoder(self.project(mel)).mean(1))


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    make_recordings("recordings")
    model = Classifier(*((64, 1) if args.tiny else (768, 10))).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
    loader = DataLoader(
        Stations("recordings"),
        batch_size=BATCH,
        num_workers=len(STATIONS),
        pin_memory=device == "cuda",
        prefetch_factor=4,
        drop_last=True,
    )

    run = agent.init("bird-calls")
    end = time.time() + args.seconds
    for step, (audio, species) in enumerate(run.loader(loader)):
        audio = audio.to(device, non_blocking=True)
        species = species.to(device, non_blocking=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = F.cross_entropy(model(audio), species)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 10 == 0:
            value = loss.item()
            run.log({"train/loss": value, "train/perplexity": math.exp(value)}, step)
        if time.time() > end:
            break
    run.finish()
