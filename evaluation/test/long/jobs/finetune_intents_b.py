"""Fine-tune a pretrained encoder to recognize intents."""

import argparse
import gzip
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import agent


class Encoder(nn.Module):
    def __init__(self, vocabulary=30_000, width=384):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(
            width, 6, 2 * width, dropout=0.0, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 3)

    def forward(self, tokens):
        return self.layers(self.embedding(tokens)).mean(1)


class Intents(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(384, classes)

    def forward(self, tokens):
        return self.head(self.encoder(tokens))


def make_data(count, classes):
    generator = torch.Generator().manual_seed(9)
    tokens = torch.randint(0, 2400, (count, 24), generator=generator)
    labels = torch.randint(0, classes, (count,), generator=generator)
    topic = tokens[:, :6]
    tokens[:, :6] = topic - topic % classes + labels[:, None]
    return TensorDataset(tokens, labels)


def save(path, model, optimizer, step):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": step,
    }
    with gzip.open(path + ".tmp", "wb", compresslevel=1) as file:
        torch.save(state, file)
    os.replace(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--save-steps", type=int, default=20)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    if args.fixed:
        args.save_steps = 200

    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.save(Encoder().state_dict(), "encoder.pt")
    run = agent.init("intents", project="assistant", stage="finetune")
    run["params/lr"] = 2e-4
    with run.phase("load_model"):
        encoder = Encoder()
        encoder.load_state_dict(torch.load("encoder.pt"))
        model = Intents(encoder, 12)
    loader = DataLoader(make_data(6400, 12), batch_size=16, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    started = time.time()
    step = 0
    while time.time() - started < args.seconds:
        for tokens, labels in run.loader(loader):
            with run.phase("forward"):
                loss = nn.functional.cross_entropy(model(tokens), labels)
            with run.phase("backward"):
                loss.backward()
            with run.phase("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            step += 1
            run["train/loss"].append(loss.item(), step=step)
            if step % args.save_steps == 0:
                with run.phase("checkpoint"):
                    save(
                        f"checkpoint-{step // args.save_steps % 2}.pt.gz",
                        model,
                        optimizer,
                        step,
                    )
                print(f"step {step}: loss {loss.item():.3f}, saved", flush=True)
            if time.time() - started > args.seconds:
                break
    print(f"{step / (time.time() - started):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    main()
