"""Distill a wide teacher into a small student, with a decaying learning rate."""

import argparse
import itertools
import time

import torch
from torch import nn

import agent


def mlp(*widths):
    layers = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--steps-per-epoch", type=int, default=150)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(6)
    run = agent.init("distill", project="compression", params=vars(args))

    teacher = mlp(64, 1024, 1024, 32)
    for layer in teacher:
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=1.6 / layer.in_features**0.5)
    teacher.requires_grad_(False)
    student = mlp(64, 384, 384, 384, 32)
    optimizer = torch.optim.AdamW(student.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    check = torch.randn(2048, 64)
    check_target = teacher(check)

    started = time.time()
    step = epoch = 0
    while time.time() - started < args.seconds:
        for _ in range(args.steps_per_epoch):
            inputs = torch.randn(256, 64)
            loss = nn.functional.mse_loss(student(inputs), teacher(inputs))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if not args.fixed:
                scheduler.step()
            step += 1
            run["train/loss"].append(loss.item(), step=step)
        if args.fixed:
            scheduler.step()
        epoch += 1
        with torch.no_grad():
            val = nn.functional.mse_loss(student(check), check_target).item()
        run["val/loss"].append(val, step=step)
        print(f"epoch {epoch}: val {val:.4f}", flush=True)
    print(f"{step / (time.time() - started):.2f} steps/s, val {val:.4f}")
    run.finish()


if __name__ == "__main__":
    main()
