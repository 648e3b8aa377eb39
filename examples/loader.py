"""Mini-batches of augmented images, made here or by loader worker processes."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator
from multiprocessing.pool import AsyncResult

import numpy as np
from images import Images, augment
from numpy.typing import NDArray

# Batches that each worker may be ahead of training.
PREFETCH = 2

Batch = tuple[NDArray[np.uint8], NDArray[np.int64]]

# Set once in each loader worker, so that images are not sent with every batch.
_worker_images: Images


class Loader:
    """Iterates once over all images in random order.

    With `num_workers` 0 the training process itself reads and augments.
    """

    def __init__(
        self, images: Images, *, batch_size: int, num_workers: int, seed: int = 0
    ) -> None:
        self.images = images
        self.batch_size = batch_size
        self.num_workers = num_workers
        self._random = np.random.default_rng(seed)
        self._pool = (
            multiprocessing.get_context("spawn").Pool(
                num_workers, initializer=_start_worker, initargs=(images,)
            )
            if num_workers
            else None
        )

    def __len__(self) -> int:
        return len(self.images) // self.batch_size

    def __iter__(self) -> Iterator[Batch]:
        order = self._random.permutation(len(self.images))
        batches = [
            (order[start : start + self.batch_size], int(self._random.integers(2**32)))
            for start in range(0, len(self) * self.batch_size, self.batch_size)
        ]
        if self._pool is None:
            for indices, seed in batches:
                yield make_batch(self.images, indices, seed)
            return

        waiting: deque[AsyncResult[Batch]] = deque()
        for batch in batches:
            waiting.append(self._pool.apply_async(_make_in_worker, batch))
            if len(waiting) > self.num_workers * PREFETCH:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool.join()


def make_batch(images: Images, indices: NDArray[np.int64], seed: int) -> Batch:
    random = np.random.default_rng(seed)
    pixels = [augment(images.read(int(index)), random) for index in indices]
    return np.stack(pixels), images.labels[indices]


def _start_worker(images: Images) -> None:
    global _worker_images  # noqa: PLW0603 - a pool's workers have no other place
    _worker_images = images


def _make_in_worker(indices: NDArray[np.int64], seed: int) -> Batch:
    return make_batch(_worker_images, indices, seed)
