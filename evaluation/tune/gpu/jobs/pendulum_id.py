# System identification: a recurrent cell with a leak learns a pendulum's motion
import argparse
import time

import torch
import torch.nn as nn

import agent


class LeakyCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.gate = nn.Linear(inputs + hidden, hidden)
        self.drive = nn.Linear(inputs + hidden, hidden)
        self.leak = nn.Parameter(torch.rand(hidden))
        self.norm = nn.LayerNorm(hidden)

    def forward(self, u, h):
        uh = torch.cat([u, h], dim=1)
        g = torch.sigmoid(self.gate(uh))
        d = torch.tanh(self.drive(uh))
        tau = nn.functional.softplus(self.leak) + 0.1
        dh = (-h / tau + g * d) * 0.1
        return self.norm(h + dh)


class Model(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.cells = nn.ModuleList([LeakyCell(3, hidden), LeakyCell(hidden, hidden)])
        self.out = nn.Linear(hidden, 2)
        self.hidden = hidden

    def forward(self, u):
        h = [u.new_zeros(u.shape[0], self.hidden) for _ in self.cells]
        ys = []
        for t in range(u.shape[1]):
            x = u[:, t]
            for k, cell in enumerate(self.cells):
                h[k] = cell(x, h[k])
                x = h[k]
            ys.append(self.out(x))
        return torch.stack(ys, 1)


def main(seconds, tiny):
    dev = "cuda" if torch.cuda.is_available() else "cpu"
    B, T, H = (8, 20, 16) if tiny else (256, 250, 128)
    model = Model(H).to(dev)
    opt = torch.optim.Adam(model.parameters(), 3e-4)
    # trajectories, all of them on the device
    torque = torch.randn(16 * B, T, 3, device=dev)
    angle = torch.cumsum(torque[..., :2] * 0.05, 1).sin()

    run = agent.init("pendulum-id", params={"batch": B, "horizon": T, "hidden": H})
    t0, step = time.time(), 0
    while time.time() - t0 < seconds:
        i = (step % 16) * B
        with torch.autocast(dev, dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(torque[i : i + B]), angle[i : i + B])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 5 == 0:
            run["train/loss"].append(loss.item(), step=step)
        step += 1
    run["steps"] = step


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--seconds", type=float, default=20)
    ap.add_argument("--tiny", action="store_true")
    a = ap.parse_args()
    main(a.seconds, a.tiny)
