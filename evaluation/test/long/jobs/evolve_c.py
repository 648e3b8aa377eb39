"""Evolution strategy on a pendulum; a pool of processes plays the candidates."""

import argparse
import math
import multiprocessing
import os
import time

import numpy as np
import torch
from torch import nn

import agent

EPISODES, LENGTH = 512, 8


def policy():
    return nn.Sequential(
        nn.Linear(3, 128),
        nn.Tanh(),
        nn.Linear(128, 128),
        nn.Tanh(),
        nn.Linear(128, 1),
        nn.Tanh(),
    )


def begin(threads):
    torch.set_num_threads(threads)


@torch.no_grad()
def play(job):
    weights, seed = job
    net = policy()
    nn.utils.vector_to_parameters(torch.from_numpy(weights), net.parameters())
    generator = torch.Generator().manual_seed(seed)
    angle = (torch.rand(EPISODES, generator=generator) * 2 - 1) * math.pi
    speed = torch.rand(EPISODES, generator=generator) * 2 - 1
    reward = torch.zeros(EPISODES)
    for _ in range(LENGTH):
        seen = torch.stack([angle.cos(), angle.sin(), speed / 8], 1)
        push = 2 * net(seen).squeeze(1)
        turned = (angle + math.pi) % (2 * math.pi) - math.pi
        reward -= turned**2 + 0.1 * speed**2 + 0.001 * push**2
        speed = (speed + 0.05 * (15 * angle.sin() + 3 * push)).clamp(-8, 8)
        angle = angle + 0.05 * speed
    return float(reward.mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--population", type=int, default=8)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    if args.fixed:
        args.processes, args.threads = 2, 1

    run = agent.init("pendulum-es", project="control", params=vars(args))
    rng = np.random.default_rng(6)
    center = nn.utils.parameters_to_vector(policy().parameters()).detach().numpy()
    context = multiprocessing.get_context("fork")
    with context.Pool(
        args.processes, initializer=begin, initargs=(args.threads,)
    ) as pool:
        pool.map(play, [(center, 0)] * args.processes)
        began, generation = time.monotonic(), 0
        while time.monotonic() - began < args.seconds:
            half = rng.normal(size=(args.population // 2, len(center))).astype(
                np.float32
            )
            noise = np.concatenate([half, -half])
            with run.phase("rollout"):
                rewards = pool.map(
                    play, [(center + 0.1 * n, generation) for n in noise], chunksize=1
                )
            with run.phase("optimizer"):
                ranks = np.argsort(np.argsort(rewards)) / (len(rewards) - 1) - 0.5
                center = center + 0.2 * (ranks.astype(np.float32) @ noise) / len(noise)
            run.log({"reward/mean": np.mean(rewards), "reward/best": max(rewards)})
            generation += 1
        print(f"{generation / (time.monotonic() - began):.2f} generations/s")
    run.finish()


if __name__ == "__main__":
    main()
