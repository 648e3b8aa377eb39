"""Train a wide model in two processes that average their gradients in each step."""

import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import agent


def work(rank):
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29611"}
    os.environ.update(address, WORLD_SIZE="2", RANK=str(rank))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    model = torch.nn.Linear(2048, 2048)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    run = agent.init("wide", project="examples", stage="train", rank=rank)
    until = torch.tensor(time.time() + 20, dtype=torch.float64)
    dist.broadcast(until, 0)

    def batches():
        while True:
            is_late = torch.tensor(float(time.time() > until))
            dist.all_reduce(is_late)
            if is_late:
                return
            yield torch.randn(32, 2048)

    for batch in run.loader(batches(), batch_size=32):
        with run.phase("forward"):
            loss = (model(batch) - batch).square().mean()
        with run.phase("backward"):
            optimizer.zero_grad()
            loss.backward()
        with run.phase("all_reduce"):
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        with run.phase("optimizer"):
            optimizer.step()
        run["train/loss"].append(loss.item())
    run.finish()


if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
