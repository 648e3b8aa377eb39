"""Reinforcement learning: act in an environment, then update the policy."""

import argparse
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--rollout", type=int, default=400, help="steps before an update")
parser.add_argument("--updates", type=int, default=8, help="passes in each update")
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--physics", type=int, default=20, help="substeps of a step")
parser.add_argument("--phases", action="store_true")
parser.add_argument("--keep-frames", type=int, default=0, help="KiB kept of each step")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

random = np.random.default_rng(5)
policy = random.normal(size=(4, args.hidden)) * 0.1
value = random.normal(size=(args.hidden, 2)) * 0.1
run = agent.init("pole", project="control")
run["params"] = vars(args)
replay = []


def act(state):
    features = np.tanh(state @ policy)
    scores = features @ value
    return int(random.random() < 1 / (1 + np.exp(scores[0] - scores[1]))), features


def step(state, action):
    for _ in range(args.physics):
        force = 1.0 if action else -1.0
        angle = np.sin(state[2]) * 9.8 + force * np.cos(state[2])
        state = state + 0.002 * np.array([state[1], force, state[3], angle])
    return state, abs(state[2]) > 0.4 or abs(state[0]) > 2


def collect():
    seen, rewards, state, alive = [], [], random.normal(size=4) * 0.05, 0
    for _ in range(args.rollout):
        action, features = act(state)
        state, done = step(state, action)
        alive += 1
        seen.append((features, action))
        if args.keep_frames:
            replay.append(np.ones(args.keep_frames * 128))
        if done:
            rewards.append(alive)
            state, alive = random.normal(size=4) * 0.05, 0
    return seen, float(np.mean(rewards or [alive]))


def learn(seen):
    global value
    features = np.array([f for f, _ in seen])
    actions = np.array([a for _, a in seen])
    for _ in range(args.updates):
        scores = features @ value
        p = 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))
        gradient = features.T @ np.stack([actions - p, p - actions], 1)
        value -= 1e-4 * gradient


until = time.time() + args.seconds
while time.time() < until:
    if args.phases:
        with run.phase("rollout"):
            seen, reward = collect()
        with run.phase("update"):
            learn(seen)
    else:
        seen, reward = collect()
        learn(seen)
    run["reward"].append(reward)
run.finish()
