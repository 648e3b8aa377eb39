"""Actor-critic on 64 cart-poles at once, in NumPy and PyTorch."""

import argparse
import time

import numpy as np
import torch
from torch import nn

import agent


class CartPoles:
    def __init__(self, count, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.fresh(count)
        self.age = np.zeros(count, dtype=int)

    def fresh(self, count):
        return self.rng.uniform(-0.05, 0.05, (count, 4))

    def step(self, action):
        x, v, a, w = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        sin, cos = np.sin(a), np.cos(a)
        push = (force + 0.05 * w**2 * sin) / 1.1
        turn = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        slide = push - 0.05 * turn * cos / 1.1
        self.state = np.stack(
            [x + 0.02 * v, v + 0.02 * slide, a + 0.02 * w, w + 0.02 * turn], 1
        )
        self.age += 1
        fell = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.21)
        done = fell | (self.age >= 500)
        ages = self.age[done].copy()
        self.state[done] = self.fresh(int(done.sum()))
        self.age[done] = 0
        return self.state.astype(np.float32), fell, done, ages


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(4, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh()
        )
        self.actor, self.critic = nn.Linear(128, 2), nn.Linear(128, 1)

    def forward(self, x):
        h = self.body(x)
        return torch.distributions.Categorical(logits=self.actor(h)), self.critic(
            h
        ).squeeze(-1)


@torch.no_grad()
def evaluate(model):
    poles = CartPoles(16, seed=99)
    seen, lasted = poles.state.astype(np.float32), []
    for _ in range(60):
        choice = model(torch.from_numpy(seen))[0].probs.argmax(1).numpy()
        seen, _, _, ages = poles.step(choice)
        lasted.extend(ages)
    return 1 - len(lasted) / 16 if lasted else 1.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=85)
    parser.add_argument("--rollout", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = agent.init("cartpole-a2c", project="control")
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=50)
    poles = CartPoles(64, seed=1)
    seen = torch.from_numpy(poles.state.astype(np.float32))
    began, update, lengths = time.monotonic(), 0, [20.0]
    while time.monotonic() - began < args.seconds:
        states, actions, falls, dones = [], [], [], []
        for _ in range(args.rollout):
            with torch.no_grad():
                action = model(seen)[0].sample()
            after, fell, done, ages = poles.step(action.numpy())
            states.append(seen)
            actions.append(action)
            falls.append(torch.from_numpy(fell))
            dones.append(torch.from_numpy(done))
            lengths = [*lengths, *ages.tolist()][-100:]
            seen = torch.from_numpy(after)
        with torch.no_grad():
            value = model(seen)[1]
        returns = []
        for fell, done in zip(reversed(falls), reversed(dones), strict=True):
            value = 1 + 0.99 * torch.where(done, torch.zeros(()), value)
            value = torch.where(fell, torch.zeros(()), value)
            returns.append(value)
        states, actions, returns = (
            torch.cat(states),
            torch.cat(actions),
            torch.cat(returns[::-1]),
        )
        for rows in torch.randperm(len(states)).chunk(4):
            policy, values = model(states[rows])
            advantage = returns[rows] - values.detach()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
            critic = nn.functional.smooth_l1_loss(values, returns[rows])
            loss = (
                -(policy.log_prob(actions[rows]) * advantage).mean()
                + 0.1 * critic
                - 0.01 * policy.entropy().mean()
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        warm_up.step()
        run.log(
            {
                "train/critic_loss": critic.item(),
                "train/length": float(np.mean(lengths)),
            }
        )
        if update % 50 == 49:
            run.log({"evaluate/upright": evaluate(model)})
        update += 1
    print(
        f"{update / (time.monotonic() - began):.2f} updates/s, length {np.mean(lengths):.0f}"
    )
    run.finish()


main()
