"""A service of several processes on one GPU."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier, Event
from random import Random

import torch
from torch import nn

import agent
from evaluation.synthetic.gpu.jobs.making import token_batch, transformer
from evaluation.synthetic.gpu.training import PROJECT, Setting
from seamark.frameworks.torch import describe


def copies_of_a_model(setting: Setting) -> None:
    """Four processes serve, as four workers of a web server; this one is the first."""
    context = multiprocessing.get_context("spawn")
    processes = setting.size(4, 2)
    ready, over = context.Barrier(processes), context.Event()
    others = [
        context.Process(target=serve_beside, args=(setting, ready, over))
        for _ in range(processes - 1)
    ]
    for other in others:
        other.start()
    try:
        answer, model = service(setting)
        ready.wait(60)
        with agent.init(
            setting.name, project=PROJECT, stage="serve", capture=False
        ) as run:
            describe(run, model=model)
            for pause in pauses(setting, 0):
                time.sleep(pause)
                with run.phase("request"):
                    answer()
    finally:
        over.set()
        for other in others:
            other.join(5)
            other.kill()


def serve_beside(setting: Setting, ready: Barrier, over: Event) -> None:
    """Serve the same requests in the other processes, without logging."""
    answer, _ = service(setting)
    ready.wait(60)
    # More than there is time for: it goes on until the first one ends it.
    for pause in 3 * pauses(setting, multiprocessing.current_process().pid or 1):
        if over.is_set():
            return
        time.sleep(pause)
        answer()


def pauses(setting: Setting, seed: int) -> list[float]:
    """Return the times between requests, about as many as the loop takes."""
    random = Random(seed)
    return [random.expovariate(1 / 0.02) for _ in range(int(setting.seconds / 0.03))]


def service(setting: Setting) -> tuple[Callable[[], None], nn.Module]:
    """Return the request handler, with a model of about a gigabyte."""
    length, vocabulary = setting.size(512, 8), setting.size(16_384, 64)
    model = transformer(
        setting,
        width=1536,
        depth=setting.size(16, 1),
        length=length,
        vocabulary=vocabulary,
    )
    model = model.to(setting.device, torch.bfloat16).eval()
    tokens, _ = token_batch(setting, setting.size(8, 1), length, vocabulary)

    def answer() -> None:
        with torch.inference_mode():
            model(tokens).argmax(-1).cpu()

    for _ in range(3):
        answer()
    return answer, model
