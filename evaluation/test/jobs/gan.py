"""Train a small GAN: several critic steps for each step of the generator."""

import argparse
import time

import torch
from torch import nn

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--critic-steps", type=int, default=4)
parser.add_argument("--width", type=int, default=256)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--generator-depth", type=int, default=4)
parser.add_argument("--sample-every", type=int, default=0, help="write pictures")
parser.add_argument("--sample-count", type=int, default=64)
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()
torch.manual_seed(11)
torch.set_num_threads(1)


def net(inputs, outputs, depth):
    layers = [nn.Linear(inputs, args.width), nn.LeakyReLU(0.2)]
    for _ in range(depth):
        layers += [nn.Linear(args.width, args.width), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Linear(args.width, outputs))


generator, critic = net(32, 64, args.generator_depth), net(64, 1, 2)
of_generator = torch.optim.Adam(generator.parameters(), 1e-4, betas=(0.5, 0.9))
of_critic = torch.optim.Adam(critic.parameters(), 1e-4, betas=(0.5, 0.9))
run = agent.init("rings", project="gan")
run["params"] = vars(args)


def real():
    deadline = time.time() + args.seconds
    while time.time() < deadline:
        angle = torch.rand(args.batch, 1) * 6.283
        yield torch.cat([angle.sin(), angle.cos()], 1).repeat(1, 32)


for step, points in enumerate(run.loader(real()) if args.loader else real()):
    fake = generator(torch.randn(args.batch, 32))
    if step % (args.critic_steps + 1):
        loss = critic(fake.detach()).mean() - critic(points).mean()
        of_critic.zero_grad()
        loss.backward()
        of_critic.step()
        run["critic/loss"].append(loss.item())
    else:
        loss = -critic(fake).mean()
        of_generator.zero_grad()
        loss.backward()
        of_generator.step()
        run["generator/loss"].append(loss.item())
    if args.sample_every and step % args.sample_every == args.sample_every - 1:
        with torch.no_grad(), open("samples.txt", "w") as file:
            for sample in generator(torch.randn(args.sample_count, 32)).tolist():
                file.write(" ".join(f"{value:.7f}" for value in sample) + "\n")
run.finish()
