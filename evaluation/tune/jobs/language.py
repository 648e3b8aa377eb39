"""Train a recurrent language model on sentences of very different lengths."""

import argparse
import time

import torch
from torch import nn

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--hidden", type=int, default=128)
parser.add_argument("--spread", type=float, default=0.8, help="of the log length")
parser.add_argument("--longest", type=int, default=200)
parser.add_argument("--lr", type=float, default=0.001)
parser.add_argument("--sgd", action="store_true")
parser.add_argument("--clip", type=float, default=1.0)
parser.add_argument("--frozen", action="store_true", help="forget to pass parameters")
parser.add_argument("--buckets", type=int, default=0)
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()
torch.manual_seed(3)
torch.set_num_threads(1)

VOCABULARY = 400


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, args.hidden)
        self.rnn = nn.GRU(args.hidden, args.hidden, batch_first=True)
        self.out = nn.Linear(args.hidden, VOCABULARY)

    def forward(self, tokens):
        return self.out(self.rnn(self.embedding(tokens))[0])


def sentences():
    lengths = torch.distributions.LogNormal(3.2, args.spread)
    until = time.time() + args.seconds
    while time.time() < until:
        length = int(lengths.sample().clamp(4, args.longest))
        if args.buckets:
            length = (1 + length * args.buckets // args.longest) * (
                args.longest // args.buckets
            )
        starts = torch.randint(VOCABULARY, (args.batch, 1))
        yield (starts + torch.arange(length + 1)) % VOCABULARY


model = Model()
trained = [nn.Parameter(torch.zeros(1))] if args.frozen else model.parameters()
optimizer = (
    torch.optim.SGD(trained, lr=args.lr)
    if args.sgd
    else torch.optim.Adam(trained, lr=args.lr)
)
run = agent.init("sentences", project="language")
run["params"] = vars(args)
fixed = (torch.arange(40) + torch.arange(args.batch)[:, None]) % VOCABULARY
for tokens in run.loader(sentences()) if args.loader else sentences():
    if args.frozen:
        tokens = fixed
    optimizer.zero_grad()
    scores = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(
        scores.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1)
    )
    loss.backward()
    if args.clip:
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
    optimizer.step()
    run["train/loss"].append(loss.item())
    run["train/learning_rate"].append(args.lr)
run.finish()
