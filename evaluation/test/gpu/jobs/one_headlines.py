import argparse
import time
from collections import Counter
from datetime import timedelta

import numpy as np
import torch
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, Dataset

import agent
from agent.frameworks.lightning import SeamarkCallback, SeamarkLogger


def make_corpus(path, lines, words):
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"w{n:x}" for n in range(20_000)])
    topics = rng.integers(0, 50, lines)
    numbers = (rng.random((lines, words)) ** 3 * 20_000).astype(np.int64)
    numbers[:, ::24] = numbers[:, ::24] // 50 * 50 + topics[:, None]
    drawn = vocabulary[numbers]
    with open(path, "w") as file:
        for topic, row in zip(topics, drawn.tolist(), strict=True):
            file.write(f"{topic}\t{' '.join(row)}\n")


class Headlines(Dataset):
    def __init__(self, path, length):
        self.path = path
        self.length = length
        self.rows = None
        with open(path, "rb") as file:
            self.count = sum(1 for _ in file)

    def load(self):
        with open(self.path) as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        counts = Counter()
        for _, text in lines:
            counts.update(text.split(" "))
        ids = {word: n + 1 for n, (word, _) in enumerate(counts.most_common(16_383))}
        self.rows = []
        for topic, text in lines:
            row = np.zeros(self.length, np.int64)
            found = [ids.get(word, 0) for word in text.split(" ")][: self.length]
            row[: len(found)] = found
            self.rows.append((row, int(topic)))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.rows is None:
            self.load()
        return self.rows[index]


class Classifier(LightningModule):
    def __init__(self, width, depth, length):
        super().__init__()
        self.embed = nn.Embedding(16_384, width)
        self.position = nn.Parameter(torch.zeros(length, width))
        layer = nn.TransformerEncoderLayer(
            width,
            width // 64,
            4 * width,
            dropout=0.0,
            batch_first=True,
            norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(width, 50)

    def training_step(self, batch, batch_idx):
        rows, topics = batch
        hidden = self.encoder(self.embed(rows) + self.position)
        loss = nn.functional.cross_entropy(self.head(hidden.mean(1)), topics)
        self.log("train/loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    lines, length, width, depth, batch, workers = 40_000, 96, 512, 6, 1024, 8
    if args.tiny:
        lines, length, width, depth, batch, workers = 1000, 16, 64, 1, 128, 2

    make_corpus("headlines.tsv", lines, length)
    torch.set_float32_matmul_precision("high")
    run = agent.init("headlines", project="news", stage="train")
    start = time.monotonic()
    data = Headlines("headlines.tsv", length)
    loader = DataLoader(
        data, batch, shuffle=True, num_workers=workers, pin_memory=True, drop_last=True
    )
    model = Classifier(width, depth, length)
    left = args.seconds - (time.monotonic() - start)
    trainer = Trainer(
        max_epochs=-1,
        max_time=timedelta(seconds=left),
        accelerator="auto",
        devices=1,
        precision="bf16-mixed",
        logger=SeamarkLogger(run),
        callbacks=[SeamarkCallback()],
        log_every_n_steps=10,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, loader)
    run.finish()
