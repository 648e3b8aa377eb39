"""Jobs that occupy a GPU without using it."""

from __future__ import annotations

import multiprocessing
import time

import numpy as np

import agent
from evaluation.synthetic.gpu.jobs.making import token_batch, transformer, work_of
from evaluation.synthetic.gpu.models import next_tokens
from evaluation.synthetic.gpu.training import PROJECT, Setting, unseen
from seamark.frameworks.torch import describe


def cpu_stage(setting: Setting) -> None:
    """Images are resized and normalized by three processes; no GPU has work."""
    processes = setting.size(3, 1)
    until = time.monotonic() + setting.seconds
    with (
        multiprocessing.get_context("fork").Pool(processes) as pool,
        agent.init(
            setting.name, project=PROJECT, stage="preprocess", capture=False
        ) as run,
    ):
        done = 0
        while time.monotonic() < until:
            done += sum(pool.map(prepare_images, range(3 * processes)))
            run["preprocess/images"].append(done)


def prepare_images(seed: int, images: int = 8) -> int:
    """Shrink large images to a third and normalise them; return how many."""
    numbers = np.random.default_rng(seed)
    for _ in range(images):
        image = numbers.integers(0, 255, (768, 768, 3), dtype=np.uint8)
        small = image.reshape(256, 3, 256, 3, 3).mean(axis=(1, 3), dtype=np.float32)
        small -= small.mean(axis=(0, 1))
        small /= small.std(axis=(0, 1)) + 1e-6
    return images


def idle_with_memory(setting: Setting) -> None:
    """A notebook kernel that stays open after some cells have run."""
    length, vocabulary = setting.size(512, 16), setting.size(8192, 64)
    model = transformer(
        setting,
        width=1024,
        depth=setting.size(12, 1),
        length=length,
        vocabulary=vocabulary,
    )
    work = work_of(setting, model, next_tokens)
    batch = token_batch(setting, 8, length, vocabulary)
    with agent.init(
        setting.name, project=PROJECT, stage="notebook", capture=False
    ) as run:
        describe(run, model=work.model, optimizer=work.optimizer)
        for _ in range(setting.size(60, 2)):
            work.step(unseen, batch)
        time.sleep(setting.seconds)
