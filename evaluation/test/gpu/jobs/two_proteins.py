"""Masked language modeling on protein sequences with a RoBERTa encoder."""

import argparse
import time

import torch
from torch.utils.data import Dataset
from transformers import (
    RobertaConfig,
    RobertaForMaskedLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

import agent
from agent.frameworks.transformers import SeamarkCallback

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--tiny", action="store_true")
args = parser.parse_args()

PAD, MASK, VOCAB = 1, 4, 33
LENGTH = 32 if args.tiny else 256
BATCH = 4 if args.tiny else 32


class Proteins(Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(7)
        # amino acids are not equally frequent
        weights = torch.rand(20, generator=generator) + 0.2
        draws = torch.multinomial(
            weights, count * LENGTH, replacement=True, generator=generator
        )
        self.residues = (draws + 5).view(count, LENGTH)

    def __len__(self):
        return len(self.residues)

    def __getitem__(self, index):
        labels = self.residues[index]
        masked = torch.rand(LENGTH) < 0.15
        return {
            "input_ids": labels.masked_fill(masked, MASK),
            "attention_mask": torch.ones_like(labels),
            "labels": labels.masked_fill(~masked, -100),
        }


class Clock(TrainerCallback):
    def __init__(self, end):
        self.end = end

    def on_step_end(self, args, state, control, **kwargs):
        if time.monotonic() > self.end:
            control.should_training_stop = True
        return control


proteins = Proteins(64 if args.tiny else 20_000)
config = RobertaConfig(
    vocab_size=VOCAB,
    hidden_size=32 if args.tiny else 768,
    intermediate_size=64 if args.tiny else 3072,
    num_hidden_layers=2 if args.tiny else 12,
    num_attention_heads=2 if args.tiny else 12,
    max_position_embeddings=LENGTH + 2,
    pad_token_id=PAD,
)
model = RobertaForMaskedLM(config)

run = agent.init("proteins", project="biology", stage="train")
end = time.monotonic() + args.seconds - 1
trainer = Trainer(
    model=model,
    args=TrainingArguments(
        "proteins-out",
        per_device_train_batch_size=BATCH,
        max_steps=1_000_000,
        learning_rate=1e-4,
        warmup_steps=50,
        logging_steps=10,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_num_workers=2 if args.tiny else 4,
        dataloader_persistent_workers=True,
    ),
    train_dataset=proteins,
    callbacks=[SeamarkCallback(run), Clock(end)],
)
trainer.train()
run.finish()
