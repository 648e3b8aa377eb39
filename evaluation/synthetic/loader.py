"""The loader of the corpus: real worker processes or threads, ahead of need, in order."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from multiprocessing.pool import Pool, ThreadPool
from random import Random

import numpy as np
from numpy.typing import NDArray

from evaluation.synthetic.job import Job
from evaluation.synthetic.work import compute, compute_in_python, read_file

FEATURES = 64

Batch = tuple[NDArray[np.float64], NDArray[np.float64]]


class Loader:
    """Iterating over it is one epoch."""

    def __init__(self, job: Job, paths: list[str], seed: int) -> None:
        self.num_workers = 0 if job.loads_in_threads else job.workers
        self.batch_size = job.batch_size
        self.persistent_workers = not job.restarts_workers
        self.prefetch_factor = job.prefetch
        self._job = job
        self._paths = paths
        self._seed = seed
        self._epoch = 0
        self._pool: Pool | None = None
        if job.workers and not job.restarts_workers:
            self._pool = self._new_pool()

    def __len__(self) -> int:
        return self._job.epoch_steps

    def __iter__(self) -> Iterator[Batch]:
        epoch = self._epoch
        self._epoch += 1
        numbers = range(epoch * len(self), (epoch + 1) * len(self))
        if not self._job.workers:
            for number in numbers:
                yield make_batch(self._job, self._paths, self._seed, number)
            return
        pool = self._pool or self._new_pool()
        waiting: deque[multiprocessing.pool.AsyncResult[Batch]] = deque()
        try:
            for number in numbers:
                waiting.append(pool.apply_async(_make_in_worker, (number,)))
                if len(waiting) > self._job.workers * self._job.prefetch:
                    yield waiting.popleft().get()
            while waiting:
                yield waiting.popleft().get()
        finally:
            if pool is not self._pool:
                pool.terminate()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.terminate()

    def _new_pool(self) -> Pool:
        given = (self._job, self._paths, self._seed)
        if self._job.loads_in_threads:
            return ThreadPool(self._job.workers, _start_worker, given)
        how = "spawn" if self._job.restarts_workers else "fork"
        context = multiprocessing.get_context(how)
        return context.Pool(self._job.workers, _start_worker, given)


def make_batch(job: Job, paths: list[str], seed: int, number: int) -> Batch:
    random = Random(seed * 1_000_003 + number)
    factor = max(0.2, random.gauss(1.0, job.prepare_spread))
    if job.slow_every and number % job.slow_every == 0:
        factor *= job.slow_factor
    is_cold = job.cold == "always" or (
        job.cold == "first epoch" and number < job.epoch_steps
    )
    for _ in range(job.files):
        read_file(random.choice(paths), is_cold=is_cold)
    if job.prepare_sleep:
        time.sleep(job.prepare_sleep * factor)
    with _helpers(job, factor):
        if job.loads_in_threads:
            compute_in_python(job.prepare_cpu * factor)
        else:
            compute(job.prepare_cpu * factor)
    numbers = np.random.default_rng(seed * 1_000_003 + number)
    inputs = numbers.standard_normal((job.batch_size, FEATURES))
    return inputs, inputs @ np.linspace(-1.0, 1.0, FEATURES)


class _helpers(AbstractContextManager[None]):  # noqa: N801 - reads as a statement
    """The other threads that a library starts for one batch, as many do."""

    def __init__(self, job: Job, factor: float) -> None:
        self._threads = [
            threading.Thread(target=compute, args=(job.prepare_cpu * factor,))
            for _ in range(job.prepare_threads - 1)
        ]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            thread.join()


_given: tuple[Job, list[str], int]


def _start_worker(job: Job, paths: list[str], seed: int) -> None:
    global _given  # noqa: PLW0603 - a pool's workers have no other place
    _given = job, paths, seed


def _make_in_worker(number: int) -> Batch:
    return make_batch(*_given, number)
