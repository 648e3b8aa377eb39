"""Moderation service: each customer has its own fine-tuned text encoder."""

import argparse
import queue
import random
import threading
import time

import torch
from torch import nn

import agent

CUSTOMERS = ["forum", "shop"]


class Moderator(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.embed = nn.Embedding(32_000, width)
        layer = nn.TransformerEncoderLayer(
            width,
            width // 64,
            4 * width,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(width, 6)

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens))[:, 0]).sigmoid()


class Service:
    def __init__(self, run, config, device):
        self.run = run
        self.config = config
        self.device = device
        self.inbox = queue.Queue()

    def get_model(self, customer):
        model = Moderator(*self.config)
        model.load_state_dict(torch.load(f"{customer}.pt", map_location="cpu"))
        return model.to(self.device).eval()

    def answer(self, customer, tokens):
        with self.run.phase("request"), torch.inference_mode():
            with self.run.phase(f"load_model/{customer}"):
                model = self.get_model(customer)
            with (
                self.run.phase("compute"),
                torch.autocast(self.device, dtype=torch.bfloat16),
            ):
                return model(tokens.to(self.device)).float().cpu()

    def serve(self):
        while (item := self.inbox.get()) is not None:
            customer, tokens, reply = item
            reply.put(self.answer(customer, tokens))


def client(service, end, texts, waits):
    while time.monotonic() < end:
        tokens = torch.randint(0, 32_000, (texts, random.choice([64, 128, 256])))
        reply = queue.Queue(1)
        sent = time.monotonic()
        service.inbox.put((random.choice(CUSTOMERS), tokens, reply))
        reply.get()
        waits.append(time.monotonic() - sent)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    config, texts = ((64, 1), 2) if args.tiny else ((768, 8), 64)

    model = Moderator(*config)
    for customer in CUSTOMERS:
        nn.init.normal_(model.head.weight, std=0.02)
        torch.save(model.state_dict(), f"{customer}.pt")
    del model

    device = "cuda" if torch.cuda.is_available() else "cpu"
    run = agent.init("moderation", project="moderation", stage="serve")
    service = Service(run, config, device)
    thread = threading.Thread(target=service.serve)
    thread.start()
    waits = []
    end = time.monotonic() + args.seconds - 1
    clients = [
        threading.Thread(target=client, args=(service, end, texts, waits))
        for _ in range(2)
    ]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    service.inbox.put(None)
    thread.join()
    run["requests"] = len(waits)
    run["seconds_per_request"] = sum(waits) / len(waits)
    run.finish()


if __name__ == "__main__":
    main()
