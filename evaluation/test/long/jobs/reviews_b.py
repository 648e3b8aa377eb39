"""Fine-tune a sentence classifier: length buckets, warm-up, evaluation, checkpoints."""

import argparse
import math
import random
import time

import torch
from torch import nn

import agent

VOCABULARY = 1500


def reviews(count, seed):
    generator = torch.Generator().manual_seed(seed)
    tone = torch.randn(VOCABULARY, generator=torch.Generator().manual_seed(0))
    for length in torch.randint(8, 96, (count,), generator=generator).tolist():
        words = torch.randint(1, VOCABULARY, (length,), generator=generator)
        yield words, int(tone[words].mean() * length**0.5 > 0)


def buckets(examples, size):
    """Batches of similar length, in random order."""
    examples = sorted(examples, key=lambda example: len(example[0]) + random.random())
    groups = [examples[n : n + size] for n in range(0, len(examples), size)]
    random.shuffle(groups)
    for group in groups:
        words = nn.utils.rnn.pad_sequence([w for w, _ in group], batch_first=True)
        yield words, torch.tensor([label for _, label in group])


class Classifier(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width, padding_idx=0)
        layer = nn.TransformerEncoderLayer(
            width, 4, 2 * width, dropout=0.1, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 2)

    def forward(self, words):
        padding = words == 0
        states = self.layers(self.embedding(words), src_key_padding_mask=padding)
        states = states.masked_fill(padding.unsqueeze(2), 0)
        return self.head(states.sum(1) / (~padding).sum(1, keepdim=True) ** 0.5)


@torch.no_grad()
def accuracy(model, examples):
    model.eval()
    right = 0
    for words, labels in buckets(examples, 64):
        right += (model(words).argmax(1) == labels).sum().item()
    model.train()
    return right / len(examples)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("--warmup", type=int, default=150)
    args = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(2)
    run = agent.init("reviews", project="shop", params={"warmup": args.warmup})
    training = list(reviews(8000, 1))
    validation = list(reviews(128, 2))
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda n: min(1.0, (n + 1) / args.warmup) / math.sqrt(1 + n / 4000),
    )
    started = time.time()
    step = 0
    best = 0.0
    while time.time() - started < args.seconds:
        for words, labels in buckets(training, 32):
            loss = nn.functional.cross_entropy(model(words), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            step += 1
            run.log({"loss": loss.item(), "lr": scheduler.get_last_lr()[0]}, step=step)
            if step % 200 == 0:
                score = accuracy(model, validation)
                run.log({"accuracy": score}, step=step)
                print(f"{step}: loss {loss.item():.3f}, {score:.3f}", flush=True)
                if score > best:
                    best = score
                    torch.save(model.state_dict(), "best.pt")
            if time.time() - started > args.seconds:
                break
    print(f"{step / (time.time() - started):.2f} steps/s")
    run.finish()


if __name__ == "__main__":
    main()
