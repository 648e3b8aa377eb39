"""Route support tickets to departments: BERT from scratch with the Trainer."""

import argparse
import time

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

import agent
from agent.frameworks.transformers import SeamarkCallback

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--tiny", action="store_true")


class Tickets(torch.utils.data.Dataset):
    def __init__(self, count, length, vocabulary):
        g = torch.Generator().manual_seed(1)
        self.tokens = torch.randint(5, vocabulary, (count, length), generator=g)
        self.department = self.tokens[:, :8].sum(1) % 24

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return {"input_ids": self.tokens[i], "labels": self.department[i]}


class Budget(TrainerCallback):
    def __init__(self, seconds):
        self.end = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        if time.time() > self.end:
            control.should_training_stop = True
        return control


def main():
    options = parser.parse_args()
    tiny = options.tiny
    config = BertConfig(
        vocab_size=1000 if tiny else 16000,
        hidden_size=64 if tiny else 768,
        num_hidden_layers=2 if tiny else 12,
        num_attention_heads=2 if tiny else 12,
        intermediate_size=128 if tiny else 3072,
        num_labels=24,
    )
    model = BertForSequenceClassification(config)
    data = Tickets(200 if tiny else 40000, 32 if tiny else 256, config.vocab_size)
    arguments = TrainingArguments(
        output_dir="tickets",
        per_device_train_batch_size=8 if tiny else 64,
        learning_rate=1e-4,
        warmup_steps=50,
        max_steps=100_000,
        logging_steps=10,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_num_workers=2,
    )
    run = agent.init("tickets", tags=["bert"])
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=data,
        callbacks=[SeamarkCallback(run), Budget(options.seconds)],
    )
    trainer.train()
    run.finish()


if __name__ == "__main__":
    main()
