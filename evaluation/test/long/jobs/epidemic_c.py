import argparse
import resource
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=700)
parser.add_argument("--seconds", type=float, default=75)
parser.add_argument("--fixed", action="store_true")
opt = parser.parse_args()


class World:
    """A town on a grid: each cell has shares of susceptible, infected and recovered people."""

    def __init__(self, size, seed):
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros((3, size, size))
        self.state[0] = 1
        self.history = []
        self.seed_outbreak()

    def seed_outbreak(self):
        size = self.state.shape[1]
        for x, y in self.rng.integers(0, size, (12, 2)):
            self.state[1, x, y] += 0.1

    def neighbors(self, field):
        total = np.roll(field, 1, 0) + np.roll(field, -1, 0)
        return total + np.roll(field, 1, 1) + np.roll(field, -1, 1)

    def advance(self):
        s, i, r = self.state
        contact = i + 0.25 * self.neighbors(i)
        noise = self.rng.uniform(0.8, 1.2, s.shape)
        new = np.minimum(s, 0.35 * s * contact * noise)
        healed = 0.1 * i
        lost = 0.01 * r
        self.state = np.stack([s - new + lost, i + new - healed, r + healed - lost])

    def remember(self):
        if opt.fixed:
            self.history.append(self.state.mean(axis=(1, 2)))
        else:
            self.history.append(self.state.astype(np.float32))


run = agent.init("town", project="epidemics", params=vars(opt))
world = World(opt.size, seed=4)
started = time.monotonic()
days = 0
while time.monotonic() - started < opt.seconds:
    for _ in range(12):
        world.advance()
    world.remember()
    days += 12
    run.log(
        {"infected": world.state[1].mean(), "immune": world.state[2].mean()}, step=days
    )
    if days % 480 == 0:
        world.seed_outbreak()

curve = [float(np.mean(entry[1])) for entry in world.history]
run["peak"] = max(curve)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{days / (time.monotonic() - started):.2f} days/s, {peak:.0f} MiB")
run.finish()
