"""Scoring service: each customer has a fine-tuned model of its own."""

import argparse
import functools
import queue
import random
import threading
import time
from pathlib import Path

import torch
from torch import nn

import agent

arguments = argparse.ArgumentParser()
arguments.add_argument("--seconds", type=float, default=20)
arguments.add_argument("--tiny", action="store_true")
arguments = arguments.parse_args()

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
CUSTOMERS = ["acme", "borealis", "cobalt", "dune", "ember"]
FOLDER = Path("models")
WIDTH, DEPTH = (64, 2) if arguments.tiny else (1024, 4)


def build():
    layer = nn.TransformerEncoderLayer(
        WIDTH, WIDTH // 32, 4 * WIDTH, batch_first=True, norm_first=True
    )
    return nn.Sequential(
        nn.Embedding(8000, WIDTH),
        nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False),
        nn.Linear(WIDTH, 1),
    )


def publish():
    FOLDER.mkdir(exist_ok=True)
    model = build()
    for customer in CUSTOMERS:
        with torch.no_grad():
            model[2].bias.uniform_()
        torch.save(model.state_dict(), FOLDER / f"{customer}.pt")


@functools.lru_cache(maxsize=1)
def model_for(customer):
    with run.phase("load_model"):
        model = build()
        model.load_state_dict(torch.load(FOLDER / f"{customer}.pt", map_location="cpu"))
        return model.to(DEVICE).eval()


def answer(customer, tokens):
    model = model_for(customer)
    with run.phase("compute"), torch.autocast(DEVICE.type, torch.bfloat16):
        return model(tokens.to(DEVICE)).float().mean(dim=(1, 2)).tolist()


def client(inbox, seed, end):
    rng = random.Random(seed)
    while time.time() < end:
        reply = queue.Queue()
        tokens = torch.randint(8000, (rng.randint(1, 8), 128))
        inbox.put((rng.choice(CUSTOMERS), tokens, reply))
        reply.get()


def serve(end):
    inbox = queue.Queue()
    clients = [
        threading.Thread(target=client, args=(inbox, seed, end)) for seed in range(6)
    ]
    for thread in clients:
        thread.start()
    answered = 0
    while any(thread.is_alive() for thread in clients):
        try:
            customer, tokens, reply = inbox.get(timeout=0.1)
        except queue.Empty:
            continue
        with run.phase("request"), torch.inference_mode():
            reply.put(answer(customer, tokens))
        answered += 1
    run["requests"] = answered


publish()
run = agent.init("tenants", stage="serve")
serve(time.time() + arguments.seconds)
run.finish()
