"""Spoken keywords from mel frames, with a layer-normalised GRU."""

import argparse
import time

import torch
from torch import nn
from torch.nn import functional

import agent
from agent.frameworks.torch import describe


class NormGRUCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.from_input = nn.Linear(inputs, 3 * hidden, bias=False)
        self.from_state = nn.Linear(hidden, 3 * hidden, bias=False)
        self.norm_input = nn.LayerNorm(3 * hidden)
        self.norm_state = nn.LayerNorm(3 * hidden)

    def forward(self, x, state):
        a = self.norm_input(self.from_input(x)).chunk(3, dim=-1)
        b = self.norm_state(self.from_state(state)).chunk(3, dim=-1)
        reset = torch.sigmoid(a[0] + b[0])
        update = torch.sigmoid(a[1] + b[1])
        candidate = torch.tanh(a[2] + reset * b[2])
        return update * state + (1 - update) * candidate


class Keywords(nn.Module):
    def __init__(self, mels, hidden, layers, words):
        super().__init__()
        sizes = [mels] + [hidden] * (layers - 1)
        self.cells = nn.ModuleList(NormGRUCell(size, hidden) for size in sizes)
        self.head = nn.Linear(hidden, words)

    def forward(self, frames):
        states = [frames.new_zeros(len(frames), cell.hidden) for cell in self.cells]
        for x in frames.unbind(1):
            below = x
            for i, cell in enumerate(self.cells):
                states[i] = cell(below, states[i])
                below = states[i]
        return self.head(states[-1])


def batches(frames, words, size, until):
    while time.perf_counter() < until:
        chosen = torch.randint(len(frames), (size,), device=frames.device)
        yield frames[chosen], words[chosen]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--batch", type=int, default=96)
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    clips, length, hidden = (200, 12, 16) if args.tiny else (30_000, 160, 256)
    frames = torch.randn(clips, length, 64, device=device)
    words = torch.randint(35, (clips,), device=device)
    model = Keywords(64, hidden, 2, 35).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    run = agent.init("keywords", project="speech", stage="train")
    until = time.perf_counter() + args.seconds - 0.5
    describe(run, model=model, optimizer=optimizer)
    source = batches(frames, words, args.batch, until)
    for step, (x, y) in enumerate(run.loader(source, batch_size=args.batch, workers=0)):
        with torch.autocast(device, dtype=torch.bfloat16), run.phase("forward"):
            loss = functional.cross_entropy(model(x), y)
        with run.phase("backward"):
            loss.backward()
        with run.phase("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        if step % 20 == 0:
            run["train/loss"].append(loss.item(), step=step)
    run.finish()


if __name__ == "__main__":
    main()
