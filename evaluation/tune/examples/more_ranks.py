"""Train in one process, and then in two that exchange whole gradients."""

import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import agent


def work(rank, ranks):
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"296{20 + ranks}"}
    os.environ.update(address, WORLD_SIZE=str(ranks), RANK=str(rank))
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    torch.set_num_threads(1)
    model = torch.nn.Linear(1536, 1536)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    run = agent.init(f"ranks-{ranks}", project="examples", stage="train", rank=rank)
    batches = (torch.randn(16, 1536) for _ in range(500))
    for batch in run.loader(batches, batch_size=16):
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
    for ranks in (1, 2):
        mp.spawn(work, (ranks,), nprocs=ranks)
        time.sleep(1)
