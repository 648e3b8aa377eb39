"""Dialogue model with Lightning: turns of different lengths, sorted into buckets."""

import argparse

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

import agent
from agent.frameworks.lightning import SeamarkCallback, SeamarkLogger


class Dialogues(Dataset):
    def __init__(self, count, longest, vocab):
        g = torch.Generator().manual_seed(0)
        self.lengths = torch.randint(longest // 8, longest, (count,), generator=g)
        self.text = torch.randint(1, vocab, (count, longest + 1), generator=g)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        return self.text[i, : self.lengths[i] + 1]


class Buckets:
    """Batches with about the same number of tokens."""

    def __init__(self, lengths, tokens):
        order = lengths.argsort().tolist()
        self.batches, current = [], []
        for i in order:
            current.append(i)
            if len(current) * int(lengths[i]) >= tokens:
                self.batches.append(current)
                current = []

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for i in torch.randperm(len(self.batches)).tolist():
            yield self.batches[i]


def collate(rows):
    return pad_sequence(rows, batch_first=True)


class DialogueModel(L.LightningModule):
    def __init__(self, vocab, dim, depth, longest):
        super().__init__()
        self.save_hyperparameters()
        self.embed = nn.Embedding(vocab, dim)
        self.position = nn.Embedding(longest, dim)
        layer = nn.TransformerEncoderLayer(
            dim, dim // 64, 4 * dim, dropout=0.0, batch_first=True, norm_first=True
        )
        self.decoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)

    def training_step(self, batch, _):
        x, y = batch[:, :-1], batch[:, 1:]
        length = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, x.device)
        h = self.embed(x) + self.position.weight[:length]
        h = self.decoder(h, mask=mask, is_causal=True)
        loss = F.cross_entropy(self.head(h).flatten(0, 1), y.flatten(), ignore_index=0)
        self.log("train/loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4, fused=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    vocab, dim, depth, longest, tokens = (
        (200, 64, 2, 32, 128) if args.tiny else (16000, 1536, 12, 512, 16384)
    )
    data = Dialogues(300 if args.tiny else 30000, longest, vocab)
    loader = DataLoader(
        data,
        batch_sampler=Buckets(data.lengths, tokens),
        collate_fn=collate,
        num_workers=1 if args.tiny else 4,
        persistent_workers=True,
        pin_memory=torch.cuda.is_available(),
    )
    model = DialogueModel(vocab, dim, depth, longest)

    run = agent.init("dialogues")
    trainer = L.Trainer(
        max_time={"seconds": args.seconds},
        max_epochs=-1,
        accelerator="auto",
        devices=1,
        precision="bf16-mixed",
        accumulate_grad_batches=4,
        log_every_n_steps=10,
        logger=SeamarkLogger(run),
        callbacks=[SeamarkCallback()],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
    )
    trainer.fit(model, loader)
    run.finish()


if __name__ == "__main__":
    main()
