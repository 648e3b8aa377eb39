"""Fine-tune a small transformer with warm-up, evaluations and checkpoints."""

import argparse
import time

import torch
from torch import nn

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=96)
parser.add_argument("--depth", type=int, default=2)
parser.add_argument("--tokens", type=int, default=48)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--eval-steps", type=int, default=0)
parser.add_argument("--eval-batches", type=int, default=4)
parser.add_argument("--save-steps", type=int, default=0)
parser.add_argument("--vocabulary", type=int, default=800)
parser.add_argument("--peak", type=float, default=3e-4)
parser.add_argument("--sgd", action="store_true")
parser.add_argument("--phases", action="store_true")
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()
torch.manual_seed(7)
torch.set_num_threads(1)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(args.vocabulary, args.width)
        layer = nn.TransformerEncoderLayer(
            args.width, 4, 4 * args.width, dropout=0.0, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, args.depth)
        self.head = nn.Linear(args.width, args.vocabulary)

    def forward(self, tokens):
        return self.head(self.encoder(self.embed(tokens)))


def draw():
    tokens = torch.randint(args.vocabulary, (args.batch, args.tokens))
    return tokens, (tokens * 7 + 3) % args.vocabulary


def stream():
    end = time.time() + args.seconds
    while time.time() < end:
        yield draw()


def loss_of(model, tokens, labels):
    return nn.functional.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())


def evaluate(model, run):
    model.eval()
    with torch.no_grad():
        losses = [loss_of(model, *draw()).item() for _ in range(args.eval_batches)]
    run["eval/loss"].append(sum(losses) / len(losses))
    model.train()


model = Tagger()
optimizer = (
    torch.optim.SGD(model.parameters(), args.peak)
    if args.sgd
    else torch.optim.AdamW(model.parameters(), args.peak)
)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1, (n + 1) / 50))
run = agent.init("tagger", project="finetuning", stage="train")
run["params"] = vars(args)
for step, (tokens, labels) in enumerate(
    run.loader(stream()) if args.loader else stream()
):
    loss = loss_of(model, tokens, labels) / args.accumulate
    loss.backward()
    if step % args.accumulate == args.accumulate - 1:
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    run["train/loss"].append(loss.item() * args.accumulate)
    run["train/learning_rate"].append(schedule.get_last_lr()[0])
    if args.eval_steps and step % args.eval_steps == args.eval_steps - 1:
        if args.phases:
            with run.phase("evaluate"):
                evaluate(model, run)
        else:
            evaluate(model, run)
    if args.save_steps and step % args.save_steps == args.save_steps - 1:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        if args.phases:
            with run.phase("checkpoint"):
                torch.save(state, "checkpoint.pt")
        else:
            torch.save(state, f"checkpoint-{step}.pt")
run.finish()
