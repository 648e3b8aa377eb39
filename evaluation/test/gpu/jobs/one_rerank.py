"""Rerank search results: a request is a query with its candidate passages."""

import argparse
import asyncio
import random
import time

import torch
import torch.nn.functional as F
from torch import nn

import agent


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.heads = width // 64
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        n, length, width = x.shape
        qkv = self.qkv(self.norms[0](x)).view(n, length, 3, self.heads, 64)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        x = x + self.out(mixed.reshape(n, length, width))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Reranker(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.embed = nn.Embedding(50_000, width)
        self.layers = nn.Sequential(*[Layer(width) for _ in range(depth)])
        self.score = nn.Linear(width, 1)

    def forward(self, tokens):
        return self.score(self.layers(self.embed(tokens)).mean(1))[:, 0]


class Server:
    def __init__(self, run, model, device, limit):
        self.run, self.model, self.device, self.limit = run, model, device, limit
        self.waiting = asyncio.Queue()
        self.served = 0

    def compute(self, requests):
        with self.run.phase("compute"), torch.inference_mode():
            tokens = torch.cat(requests)
            if self.device == "cuda":
                tokens = tokens.pin_memory()
            scores = self.model(tokens.to(self.device, non_blocking=True)).float().cpu()
        return scores.split([len(each) for each in requests])

    async def work(self):
        while True:
            items = [await self.waiting.get()]
            while len(items) < self.limit and not self.waiting.empty():
                items.append(self.waiting.get_nowait())
            answers = await asyncio.to_thread(
                self.compute, [tokens for tokens, _ in items]
            )
            for (_, future), answer in zip(items, answers, strict=True):
                future.set_result(answer)
            self.served += len(items)

    async def rank(self, tokens):
        with self.run.phase("request"):
            future = asyncio.get_running_loop().create_future()
            self.waiting.put_nowait((tokens, future))
            return (await future).argsort(descending=True)


async def client(server, requests, end):
    while time.monotonic() < end:
        await server.rank(random.choice(requests))


async def report(run, server, end):
    while time.monotonic() < end - 1:
        before = server.served
        await asyncio.sleep(1)
        run["requests_per_second"].append(server.served - before)


async def main(args):
    width, depth, passages, length, clients = 1024, 24, 32, 256, 32
    if args.tiny:
        width, depth, passages, length, clients = 64, 1, 2, 8, 6
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.device(device):
        model = Reranker(width, depth).to(torch.bfloat16).eval()
    requests = [torch.randint(0, 50_000, (passages, length)) for _ in range(200)]
    with torch.inference_mode():
        for count in range(1, 9):
            model(torch.cat(requests[:count]).to(device)).cpu()

    run = agent.init("rerank", project="search", stage="serve")
    server = Server(run, model, device, limit=8)
    end = time.monotonic() + args.seconds
    workers = [asyncio.create_task(server.work()) for _ in range(2)]
    await asyncio.gather(
        report(run, server, end),
        *[client(server, requests, end) for _ in range(clients)],
    )
    for worker in workers:
        worker.cancel()
    run["served"] = server.served
    run.finish()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tiny", action="store_true")
    asyncio.run(main(parser.parse_args()))
