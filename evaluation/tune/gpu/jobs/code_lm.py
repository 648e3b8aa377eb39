"""Train a code model and report the accuracy over all tokens of the epoch."""

import argparse
import time

import torch
from torch import nn

import agent


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


class CodeModel(nn.Module):
    def __init__(self, vocab, dim, depth, context):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.position = nn.Parameter(torch.zeros(1, context, dim))
        layer = nn.TransformerEncoderLayer(
            dim, max(1, dim // 128), 4 * dim, 0.0, batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)
        mask = nn.Transformer.generate_square_subsequent_mask(context)
        self.register_buffer("mask", mask)

    def forward(self, tokens):
        x = self.embed(tokens) + self.position
        return self.head(self.body(x, mask=self.mask, is_causal=True))


def train_epoch(model, optimizer, corpus, batch, seconds, run, device):
    scores, targets = [], []
    end = time.time() + seconds
    step = 0
    while time.time() < end:
        rows = torch.randint(len(corpus), (batch,), device=device)
        tokens = corpus[rows]
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(tokens[:, :-1]).float()
        target = tokens[:, 1:]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

        scores.append(logits.detach())
        targets.append(target)
        if step % 10 == 0:
            run.log({"train/loss": loss.item()}, step=step)
        step += 1
    return scores, targets


def report(run, scores, targets):
    scores, targets = torch.cat(scores), torch.cat(targets)
    probabilities = scores.softmax(-1)
    hits = probabilities.argmax(-1) == targets
    confidence = probabilities.gather(-1, targets[..., None]).mean()
    run["epoch/accuracy"] = hits.float().mean().item()
    run["epoch/confidence"] = confidence.item()


def main():
    args = parse()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vocab, dim, depth, context, batch = (
        (100, 64, 1, 32, 4) if args.tiny else (12288, 2048, 8, 512, 16)
    )
    torch.manual_seed(0)
    with torch.device(device):
        model = CodeModel(vocab, dim, depth, context)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=device == "cuda")
    corpus = torch.randint(vocab, (4096, context + 1), device=device)

    run = agent.init("code-lm")
    scores, targets = train_epoch(
        model, optimizer, corpus, batch, args.seconds, run, device
    )
    report(run, scores, targets)
    run.finish()


if __name__ == "__main__":
    main()
