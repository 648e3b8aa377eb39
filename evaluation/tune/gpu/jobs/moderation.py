"""Moderation service: asyncio handlers, one model, requests collected to batches."""

import argparse
import asyncio
import random
import time

import torch
from torch import nn

import agent

cli = argparse.ArgumentParser()
cli.add_argument("--seconds", type=float, default=20)
cli.add_argument("--tiny", action="store_true")
cli = cli.parse_args()

GPU = torch.cuda.is_available()
LENGTH = 32 if cli.tiny else 512
LIMIT = 8 if cli.tiny else 64


torch.backends.mha.set_fastpath_enabled(False)


class Moderator(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.embed = nn.Embedding(10000, dim)
        layer = nn.TransformerEncoderLayer(
            dim, dim // 64, 4 * dim, 0.0, batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.labels = nn.Linear(dim, 6)

    def forward(self, tokens):
        return self.labels(self.body(self.embed(tokens)).mean(1)).sigmoid()


class Batcher:
    def __init__(self, model, run):
        self.model, self.run = model, run
        self.waiting = asyncio.Queue()

    async def submit(self, tokens):
        future = asyncio.get_running_loop().create_future()
        await self.waiting.put((tokens, future))
        return await future

    def compute(self, rows):
        with self.run.phase("compute"), torch.inference_mode():
            batch = torch.stack(rows)
            if GPU:
                batch = batch.pin_memory().cuda(non_blocking=True)
            return self.model(batch).float().cpu()

    async def work(self):
        while True:
            requests = [await self.waiting.get()]
            while len(requests) < LIMIT and not self.waiting.empty():
                requests.append(self.waiting.get_nowait())
            rows = [tokens for tokens, _ in requests]
            scores = await asyncio.to_thread(self.compute, rows)
            for (_, future), row in zip(requests, scores.tolist(), strict=True):
                future.set_result(row)


async def user(batcher, run, texts, end):
    answered = 0
    while time.time() < end:
        with run.phase("request"):
            tokens = random.choice(texts)
            with run.phase("queue"):
                await batcher.submit(tokens)
        answered += 1
    return answered


async def main():
    device = "cuda" if GPU else "cpu"
    with torch.device(device):
        model = Moderator(*((64, 1) if cli.tiny else (1536, 16)))
    model = model.to(torch.bfloat16).eval()
    texts = list(torch.randint(10000, (500, LENGTH)))
    with torch.inference_mode():  # warm up
        for _ in range(3):
            model(torch.stack(texts[:LIMIT]).to(device))

    run = agent.init("moderation", stage="serve")
    end = time.time() + cli.seconds
    batcher = Batcher(model, run)
    workers = [asyncio.create_task(batcher.work()) for _ in range(2)]
    users = [user(batcher, run, texts, end) for _ in range(3 * LIMIT)]
    answered = await asyncio.gather(*users)
    for worker in workers:
        worker.cancel()
    run["requests/answered"] = sum(answered)
    run.finish()


asyncio.run(main())
