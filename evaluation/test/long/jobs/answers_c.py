"""A question-matching service: requests of many callers share one forward pass."""

import argparse
import queue
import threading
import time
from concurrent.futures import Future

import torch
from torch import nn

import agent


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(50_000, 512, mode="mean")
        self.body = nn.Sequential(
            nn.Linear(512, 3072),
            nn.GELU(),
            nn.Linear(3072, 3072),
            nn.GELU(),
            nn.Linear(3072, 512),
        )

    def forward(self, tokens):
        return nn.functional.normalize(self.body(self.embed(tokens)), dim=1)


class Service:
    def __init__(self, run, most):
        self.run, self.most = run, most
        self.waiting = queue.Queue()
        with run.phase("load_model"):
            torch.manual_seed(0)
            self.model = Matcher().eval()
            self.answers = nn.functional.normalize(torch.randn(20_000, 512), dim=1)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def ask(self, tokens):
        with self.run.phase("request"):
            future = Future()
            self.waiting.put((tokens, future))
            with self.run.phase("queue"):
                return future.result()

    def take(self):
        batch = [self.waiting.get()]
        until = time.monotonic() + 0.004
        while len(batch) < self.most:
            try:
                batch.append(self.waiting.get(timeout=max(0, until - time.monotonic())))
            except queue.Empty:
                break
        return batch

    @torch.inference_mode()
    def work(self):
        while True:
            batch = self.take()
            with self.run.phase("compute"):
                vectors = self.model(torch.stack([tokens for tokens, _ in batch]))
                best = (vectors @ self.answers.T).topk(3, dim=1)
            for (_, future), scores, numbers in zip(
                batch, best.values.tolist(), best.indices.tolist(), strict=True
            ):
                future.set_result((scores, numbers))
            self.run["batch/size"].append(len(batch))


def caller(service, seed, until, counts):
    generator = torch.Generator().manual_seed(seed)
    while time.monotonic() < until:
        service.ask(torch.randint(0, 50_000, (24,), generator=generator))
        counts[seed] += 1


parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=70)
parser.add_argument("--callers", type=int, default=32)
args = parser.parse_args()
torch.set_num_threads(2)
run = agent.init("answers", project="helpdesk", stage="serve")
service = Service(run, 32)
service.ask(torch.zeros(24, dtype=torch.long))
counts = [0] * args.callers
began = time.monotonic()
callers = [
    threading.Thread(target=caller, args=(service, i, began + args.seconds, counts))
    for i in range(args.callers)
]
for thread in callers:
    thread.start()
for thread in callers:
    thread.join()
print(f"{sum(counts) / (time.monotonic() - began):.1f} requests/s")
run.finish()
