# PPO for a planar lander; the simulation is a few lines of torch on the device
import argparse
import time

import torch
import torch.nn as nn
from torch.distributions import Normal

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--envs", type=int, default=131072)
parser.add_argument("--tiny", action="store_true")
args = parser.parse_args()
if args.tiny:
    args.envs = 64

dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HORIZON, EPOCHS, WIDTH = 16, 3, 32 if args.tiny else 1024
GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.2


class Landers:
    """State: x, y, vx, vy, angle, spin. Actions: main engine, side engine."""

    def __init__(self, n):
        self.n = n
        self.s = self.start()
        self.age = torch.zeros(n, device=dev)

    def start(self):
        s = torch.randn(self.n, 6, device=dev) * 0.1
        s[:, 1] += 2.0
        return s

    def step(self, a):
        main = a[:, 0].clamp(0, 1) * 3.0
        side = a[:, 1].clamp(-1, 1)
        x, y, vx, vy, th, w = self.s.unbind(1)
        w = w + 0.05 * side
        th = th + 0.05 * w
        vx = vx - 0.05 * main * th.sin()
        vy = vy + 0.05 * (main * th.cos() - 1.6)
        self.s = torch.stack([x + 0.05 * vx, y + 0.05 * vy, vx, vy, th, w], 1)
        self.age += 1
        speed = vx.abs() + vy.abs()
        reward = -0.01 * (x.abs() + speed + th.abs()) - 0.01 * main
        done = (self.s[:, 1] < 0) | (self.age > 200) | (th.abs() > 2)
        reward = reward + done * (1.0 - speed - x.abs()).clamp(-1, 1)
        self.s = torch.where(done[:, None], self.start(), self.s)
        self.age = torch.where(done, 0.0, self.age)
        return reward, done.float()


def mlp(out):
    return nn.Sequential(
        nn.Linear(6, WIDTH),
        nn.SiLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.SiLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.SiLU(),
        nn.Linear(WIDTH, out),
    )


policy, critic = mlp(2).to(dev), mlp(1).to(dev)
log_std = nn.Parameter(torch.full((2,), -0.5, device=dev))
weights = [*policy.parameters(), *critic.parameters(), log_std]
opt = torch.optim.Adam(weights, lr=3e-4, fused=dev.type == "cuda")


def look(s):
    with torch.autocast(dev.type, torch.bfloat16):
        mean, value = policy(s), critic(s)
    return Normal(
        mean.float(), log_std.exp(), validate_args=False
    ), value.float().squeeze(-1)


@torch.no_grad()
def collect(env):
    rows = []
    for _ in range(HORIZON):
        s = env.s
        dist, value = look(s)
        a = dist.sample()
        reward, done = env.step(a)
        rows.append((s, a, dist.log_prob(a).sum(-1), value, reward, done))
    s, a, logp, value, reward, done = map(torch.stack, zip(*rows, strict=True))
    _, following = look(env.s)
    advantage, gain = torch.zeros_like(reward), torch.zeros_like(following)
    for t in reversed(range(HORIZON)):
        delta = reward[t] + GAMMA * following * (1 - done[t]) - value[t]
        gain = delta + GAMMA * LAMBDA * (1 - done[t]) * gain
        advantage[t], following = gain, value[t]
    target = advantage + value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    return s, a, logp, advantage, target, reward.mean()


def improve(s, a, logp, advantage, target):
    for _ in range(EPOCHS):
        for t in torch.randperm(HORIZON).tolist():
            dist, value = look(s[t])
            ratio = (dist.log_prob(a[t]).sum(-1) - logp[t]).exp()
            gain = torch.min(
                ratio * advantage[t], ratio.clamp(1 - CLIP, 1 + CLIP) * advantage[t]
            )
            loss = 0.5 * (value - target[t]).square().mean() - gain.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss


env = Landers(args.envs)
run = agent.init("landers", params={"envs": args.envs, "horizon": HORIZON})
end = time.time() + args.seconds
iteration = 0
while time.time() < end:
    *batch, reward = collect(env)
    loss = improve(*batch)
    run.log({"reward": reward.item(), "ppo/loss": loss.item()}, step=iteration)
    iteration += 1
run.finish()
