"""Compute an embedding for each part of a podcast archive."""

import argparse
import multiprocessing as mp
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch
from torch import nn

import agent

RATE = 16_000
MELS = 80


def filters():
    points = 700 * (np.exp(np.linspace(0, np.log(1 + 8000 / 700), MELS + 2)) - 1)
    bins = np.fft.rfftfreq(400, 1 / RATE)
    rise = (bins[None] - points[:-2, None]) / np.diff(points)[:-1, None]
    fall = (points[2:, None] - bins[None]) / np.diff(points)[1:, None]
    return np.maximum(0, np.minimum(rise, fall)).T.astype(np.float32)


def spectrogram(job):
    """Return the log-mel frames of a part, after removing hum and silence."""
    path, start, length = job
    audio = (
        np.load(path, mmap_mode="r")[start : start + length].astype(np.float32) / 32768
    )
    spectrum = np.fft.rfft(audio)
    hum = int(60 * length / RATE)
    spectrum[hum - 5 : hum + 6] = 0
    audio = np.fft.irfft(spectrum, length).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(audio, 400)[::160]
    power = np.abs(np.fft.rfft(frames * np.hanning(400).astype(np.float32))) ** 2
    mel = np.log(power.astype(np.float32) @ filters() + 1e-6)
    floor = np.median(mel, axis=0, keepdims=True)
    return ((mel - floor) / mel.std()).astype(np.float16)


class Encoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.stem = nn.Conv1d(MELS, width, 3, stride=2, padding=1)
        layer = nn.TransformerEncoderLayer(
            width,
            width // 64,
            4 * width,
            dropout=0.0,
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)

    def forward(self, mel):
        return self.layers(self.stem(mel.transpose(1, 2)).transpose(1, 2)).mean(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    minutes, width, depth, part = 30, 1024, 16, 10 * RATE
    if args.tiny:
        minutes, width, depth, part, args.processes = 1, 64, 1, RATE, 2

    archive = np.random.default_rng(5).integers(
        -9000, 9000, minutes * 60 * RATE, np.int16
    )
    np.save("archive.npy", archive)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Encoder(width, depth).to(device).eval()

    run = agent.init("podcast-index", project="podcasts", stage="preprocess")
    begin = time.monotonic()
    rng = np.random.default_rng(6)
    parts = []
    with mp.get_context("fork").Pool(args.processes) as pool:
        while time.monotonic() - begin < 0.85 * args.seconds:
            starts = rng.integers(0, len(archive) - part, 16 * args.processes)
            jobs = [("archive.npy", int(start), part) for start in starts]
            parts += map(torch.from_numpy, pool.map(spectrogram, jobs, chunksize=4))
            run["parts"].append(len(parts))

    size = 2 if args.tiny else 64
    embeddings = []
    with torch.inference_mode():
        for first in range(0, len(parts), size):
            batch = torch.stack(parts[first : first + size])
            with torch.autocast(device, dtype=torch.bfloat16):
                output = model(batch.to(device).float())
            embeddings.append(output.float())
            if time.monotonic() - begin > args.seconds:
                break
    table = torch.cat(embeddings).cpu().numpy()
    np.save("embeddings.npy", table)
    run["embedded"] = len(table)
    run.finish()


if __name__ == "__main__":
    main()
