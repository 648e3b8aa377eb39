"""A decoder over MIDI tokens, trained with Lightning."""

import argparse
import datetime
import shutil
import time

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import agent
from agent.frameworks.lightning import SeamarkCallback, SeamarkLogger


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class Melody(pl.LightningModule):
    def __init__(self, vocabulary, width, layers, heads, length):
        super().__init__()
        self.save_hyperparameters()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.blocks(self.tokens(tokens) + self.places(places))
        return self.head(self.norm(x))

    def training_step(self, batch, _):
        (tokens,) = batch
        logits = self(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        self.log("train/loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-4, fused=True)


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--seconds", type=float, default=20)
    cli.add_argument("--tiny", action="store_true")
    args = cli.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    length = 32 if args.tiny else 512
    size = (64, 2, 2) if args.tiny else (896, 14, 14)

    pieces = torch.randint(4096, (100 if args.tiny else 20_000, length + 1))
    with torch.device(device):
        model = Melody(4096, *size, length)
    loader = DataLoader(
        TensorDataset(pieces),
        batch_size=4 if args.tiny else 16,
        shuffle=True,
        num_workers=2,
        pin_memory=device == "cuda",
        persistent_workers=True,
        drop_last=True,
    )

    run = agent.init("melody", project="music", stage="train")
    begin = time.monotonic()
    saver = ModelCheckpoint(
        dirpath="melody-checkpoints",
        every_n_train_steps=4 if args.tiny else 40,
        save_top_k=1,
    )
    trainer = pl.Trainer(
        accelerator="auto",
        devices=1,
        precision="bf16-mixed",
        max_epochs=-1,
        max_time=datetime.timedelta(
            seconds=args.seconds - 1.5 - (time.monotonic() - begin)
        ),
        log_every_n_steps=10,
        enable_progress_bar=False,
        enable_model_summary=False,
        logger=SeamarkLogger(run),
        callbacks=[saver, SeamarkCallback()],
    )
    trainer.fit(model, loader)
    run.finish()
    shutil.rmtree("melody-checkpoints", ignore_errors=True)


if __name__ == "__main__":
    main()
