"""Train an item-to-item recommender with two processes on one GPU."""

import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn

import agent


class TwoTower(nn.Module):
    def __init__(self, items, dim, hidden):
        super().__init__()
        self.items = nn.Embedding(items, dim)
        self.basket = nn.Sequential(
            nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim)
        )

    def forward(self, basket, candidates):
        user = self.basket(self.items(basket).mean(1))
        return user @ self.items(candidates).T


def train(rank, world, seconds, tiny):
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(world)
    os.environ["LOCAL_RANK"] = str(rank)
    torch.set_num_threads(4)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    dist.init_process_group("gloo", rank=rank, world_size=world)

    items, dim, hidden, batch = (
        (500, 16, 32, 16) if tiny else (200_000, 512, 4096, 8192)
    )
    torch.manual_seed(0)
    model = TwoTower(items, dim, hidden).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    torch.manual_seed(rank)
    baskets = torch.randint(items, (16 * batch, 20), device=device)

    def batches():
        while True:
            yield baskets[torch.randint(len(baskets), (batch,), device=device)]

    run = agent.init("two-ranks", stage="train")
    end = time.time() + seconds
    for step, basket in enumerate(run.loader(batches(), batch_size=batch, workers=0)):
        with torch.autocast(device.type, torch.bfloat16), run.phase("forward"):
            scores = model(basket[:, 1:], basket[:, 0])
            loss = F.cross_entropy(scores.float(), torch.arange(batch, device=device))
        with run.phase("backward"):
            loss.backward()
        with run.phase("communicate"):
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
                parameter.grad /= world
        with run.phase("optimizer"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if rank == 0 and step % 5 == 0:
            run["train/loss"].append(loss.item(), step=step)

        more = torch.tensor(float(time.time() < end))
        dist.broadcast(more, src=0)
        if not more:
            break
    run.finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ.setdefault("MASTER_PORT", "29517")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    mp.spawn(train, args=(2, options.seconds, options.tiny), nprocs=2)
