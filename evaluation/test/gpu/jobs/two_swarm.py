"""PPO: many drones learn to reach a moving target in wind, all simulated as tensors."""

import argparse
import time

import torch
from torch import nn

import agent


class Swarm:
    def __init__(self, count, device):
        self.position = torch.randn(count, 3, device=device)
        self.velocity = torch.zeros(count, 3, device=device)
        self.target = torch.randn(count, 3, device=device)
        self.wind = 0.1 * torch.randn(count, 3, device=device)

    def observe(self):
        return torch.cat(
            [self.target - self.position, self.velocity, self.position, self.wind], -1
        )

    def step(self, action):
        force = action.clamp(-1, 1) + self.wind - 0.2 * self.velocity
        self.velocity += 0.1 * force
        self.position += 0.1 * self.velocity
        self.target += 0.02 * torch.randn_like(self.target)
        distance = (self.target - self.position).norm(dim=-1)
        lost = (distance > 5)[:, None]
        fresh = self.target + torch.randn_like(self.target)
        self.position = torch.where(lost, fresh, self.position)
        self.velocity = self.velocity * ~lost
        return -0.1 * distance.clamp(max=5) - 0.005 * action.square().sum(-1)


class Policy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(12, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
        )
        self.mean = nn.Linear(width, 3)
        self.value = nn.Linear(width, 1)
        self.spread = nn.Parameter(torch.full((3,), -0.5))

    def forward(self, seen):
        hidden = self.body(seen)
        mean, value = self.mean(hidden).float(), self.value(hidden).float()
        return torch.distributions.Normal(
            mean, self.spread.exp().expand_as(mean), validate_args=False
        ), value.squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--drones", type=int, default=65_536)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    width, horizon, chunk = 1024, 32, 131_072
    if args.tiny:
        args.drones, width, horizon, chunk = 64, 32, 8, 256

    swarm = Swarm(args.drones, device)
    policy = Policy(width).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4, fused=True)
    half = torch.autocast(device, dtype=torch.bfloat16)
    run = agent.init("swarm", project="drones")
    end = time.monotonic() + args.seconds - 1

    while time.monotonic() < end:
        seen, acts, logps, values, rewards = [], [], [], [], []
        with torch.no_grad():
            for _ in range(horizon):
                now = swarm.observe()
                with half:
                    normal, value = policy(now)
                act = normal.sample()
                rewards.append(swarm.step(act))
                seen.append(now)
                acts.append(act)
                logps.append(normal.log_prob(act).sum(-1))
                values.append(value)
            with half:
                values.append(policy(swarm.observe())[1])
            advantage, gains = 0, []
            for t in reversed(range(horizon)):
                delta = rewards[t] + 0.95 * values[t + 1] - values[t]
                advantage = delta + 0.95 * 0.95 * advantage
                gains.append(advantage)
            gain = torch.cat(gains[::-1])
            goal = gain + torch.cat(values[:-1])
            gain = (gain - gain.mean()) / (gain.std() + 1e-6)
        seen, acts, logps = torch.cat(seen), torch.cat(acts), torch.cat(logps)

        for _ in range(3):
            for chosen in torch.randperm(len(seen), device=device).split(chunk):
                with half:
                    normal, value = policy(seen[chosen])
                logp = normal.log_prob(acts[chosen]).sum(-1)
                ratio = (logp - logps[chosen]).exp()
                gained = gain[chosen]
                actor = torch.min(ratio * gained, ratio.clamp(0.8, 1.2) * gained)
                critic = (value - goal[chosen]).square()
                loss = (0.5 * critic - actor).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
                optimizer.step()
        run["reward"].append(torch.stack(rewards).mean().item())
    run.finish()


if __name__ == "__main__":
    main()
