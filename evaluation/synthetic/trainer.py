"""A small real trainer: a linear model in NumPy on batches of a real loader.

record.py runs it as `python -m evaluation.synthetic.trainer NAME --seed 1`. $TMPDIR
must be on a disk: reads from memory would not show.
"""

from __future__ import annotations

import os

# One core for the arithmetic, so that the others are free for loader workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import multiprocessing
import tempfile
import time
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from threading import BrokenBarrierError

import numpy as np
from numpy.typing import NDArray

import agent
from evaluation.synthetic.faults import find_case
from evaluation.synthetic.job import Job
from evaluation.synthetic.loader import FEATURES, Batch, Loader
from evaluation.synthetic.work import compute, write_checkpoint, write_files

PROJECT = "corpus"
RANKS_WAIT_SECONDS = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="instead of the case's own")
    parser.add_argument("--group", type=Path, help="a control group to enter")
    parser.add_argument("--data", type=Path, help="a folder that has the files")
    options = parser.parse_args()
    if options.group:
        (options.group / "cgroup.procs").write_text(str(os.getpid()))
    if options.data:
        os.environ["SEAMARK_DATASET"] = str(options.data)
    job = find_case(options.name).job_of(options.seed)
    if options.seconds:
        job = replace(job, seconds=options.seconds)

    if job.kind == "serve":
        serve(options.name, job, options.seed)
    elif job.ranks > 1:
        train_on_ranks(options.name, job, options.seed)
    else:
        train(options.name, job, options.seed)


def train_on_ranks(name: str, job: Job, seed: int) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(job.ranks)
    ranks = [
        context.Process(target=train, args=(name, job, seed, rank, barrier))
        for rank in range(job.ranks)
    ]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()


def train(
    name: str, job: Job, seed: int, rank: int = 0, barrier: Barrier | None = None
) -> None:
    with tempfile.TemporaryDirectory(prefix="seamark-corpus-") as folder:
        paths = data_files(job, Path(folder) / "data")
        if job.gap:
            preprocess(name, job)
        with agent.init(
            name, project=PROJECT, stage="train", rank=rank, capture=False
        ) as run:
            _Training(run, job, seed, barrier, Path(folder)).run_all(paths)


def data_files(job: Job, folder: Path) -> list[str]:
    """Return the loader's files: existing ones, or new ones in the folder."""
    if job.remote:
        there = os.environ["SEAMARK_DATASET"]
        return [f"{there}/{number}.bin" for number in range(job.files_there)]
    if not job.files:
        return []
    os.environ["SEAMARK_DATASET"] = str(folder)
    return write_files(folder, job.files_there, job.file_bytes)


def preprocess(name: str, job: Job) -> None:
    """A first stage, followed by an idle period."""
    with agent.init(name, project=PROJECT, stage="preprocess", capture=False):
        until = time.monotonic() + 15.0
        while time.monotonic() < until:
            compute(0.1)
    time.sleep(job.gap)


class _Training:
    def __init__(
        self, run: agent.Run, job: Job, seed: int, barrier: Barrier | None, folder: Path
    ) -> None:
        self.run, self.job, self.folder = run, job, folder
        self.barrier = barrier
        self.random = Random(seed + run.rank)
        self.seed = seed
        self.factor = job.slow_rank_factor if run.rank == job.slow_rank else 1.0
        self.weights = np.zeros(FEATURES)
        self.kept: list[NDArray[np.uint8]] = []
        self.steps = 0

    def run_all(self, paths: list[str]) -> None:
        job = self.job
        if job.start:
            with self.run.phase(job.start_phase):
                time.sleep(job.start)
        if job.allocates_bytes:
            self.kept.append(np.ones(job.allocates_bytes, np.uint8))
        loader = Loader(job, paths, self.seed)
        self.began = time.monotonic()
        try:
            while self.share_done < 1.0:
                self.run_epoch(loader)
                if job.evaluate:
                    with self.run.phase("evaluate"):
                        time.sleep(job.evaluate)
        except BrokenBarrierError:
            return  # another rank is done
        finally:
            loader.close()

    @property
    def share_done(self) -> float:
        return (time.monotonic() - self.began) / self.job.seconds

    def run_epoch(self, loader: Loader) -> None:
        for batch in self.run.loader(loader):
            self.step(batch)
            self.steps += 1
            if self.share_done >= 1.0:
                if self.barrier is not None:
                    self.barrier.abort()
                return

    def step(self, batch: Batch) -> None:
        job, run = self.job, self.run
        inputs, targets = batch
        device = job.device * self.factor * max(0.2, self.spread())
        device *= 1.0 + job.growth * self.share_done
        with run.phase("forward"):
            time.sleep(0.35 * device)
            with np.errstate(all="ignore"):  # it may diverge
                errors = inputs @ self.weights - targets
                loss = float(np.mean(errors**2))
        with run.phase("backward"):
            time.sleep(0.6 * device)
            with np.errstate(all="ignore"):
                gradient = 2 * inputs.T @ errors / len(errors)
            compute(job.step_cpu)
        if self.barrier is not None:
            with run.phase("all_reduce"):
                self.barrier.wait(RANKS_WAIT_SECONDS)
        with run.phase("optimizer"):
            time.sleep(0.05 * device)
            with np.errstate(all="ignore"):
                self.weights -= job.learning_rate * gradient
        run["train/loss"].append(loss)
        self.beside(self.steps)

    def spread(self) -> float:
        return self.random.gauss(1.0, self.job.device_spread)

    def beside(self, step: int) -> None:
        """Work of a step besides training."""
        job, run = self.job, self.run
        if job.log:
            with run.phase("log"):
                time.sleep(job.log)
        if job.stall_every and step % job.stall_every == job.stall_every - 1:
            time.sleep(job.stall)
        every = job.checkpoint_every
        if every and step % every == every - 1:
            with run.phase("checkpoint"):
                write_checkpoint(self.folder / "checkpoints", job.checkpoint_bytes)
                time.sleep(job.checkpoint)
        if job.leak_bytes:
            self.kept.append(np.ones(job.leak_bytes, np.uint8))


def serve(name: str, job: Job, seed: int) -> None:
    """A service that answers one request after the other."""
    random = Random(seed)
    with agent.init(name, project=PROJECT, stage="serve", capture=False) as run:
        if not job.loads_in_first_request:
            load_model(run, job)
        until = time.monotonic() + job.seconds
        requests = 0
        while time.monotonic() < until:
            time.sleep(random.expovariate(1 / 0.01))
            if job.loads_per_request:
                load_model(run, job)
            factor = job.first_request_factor if requests == 0 else 1.0
            with run.phase("request"):
                if job.loads_in_first_request and requests == 0:
                    load_model(run, job)
                compute(job.step_cpu * factor)
                time.sleep(job.device * factor * random.uniform(0.9, 1.1))
            requests += 1


def load_model(run: agent.Run, job: Job) -> None:
    with run.phase("load_model"):
        np.ones(4_000_000)
        time.sleep(job.load_model)


if __name__ == "__main__":
    main()
