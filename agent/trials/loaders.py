"""Inspects and iterates over loaders: PyTorch's, or any iterable."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from seamark.recording.loader import Loader
from seamark.trials import random_numbers

# Batches that may be prepared ahead by an iterable of unknown type.
_USUALLY_READY = 2
_USUAL_PREFETCH = 2


def unwrapped(loader: Iterable[object]) -> Iterable[object]:
    """Return the loader wrapped by `run.loader`, so that its steps are not logged."""
    while isinstance(loader, Loader):
        loader = loader._batches  # noqa: SLF001 - the only place that unwraps a loader
    return loader


def is_one_pass(loader: Iterable[object]) -> bool:
    """Return whether it is an iterator, such as a generator: taken batches are lost."""
    return isinstance(loader, Iterator) and iter(loader) is loader


def worker_count(loader: object) -> int:
    """Return the number of worker processes; 0 if unknown."""
    count = getattr(loader, "num_workers", 0)
    return count if isinstance(count, int) and count > 0 else 0


def batches_ready(loader: object) -> int:
    """Return how many batches may be prepared while waiting for the first."""
    prefetch = getattr(loader, "prefetch_factor", None)
    ahead = prefetch if isinstance(prefetch, int) else _USUAL_PREFETCH
    return max(_USUALLY_READY, worker_count(loader) * ahead + 1)


@contextlib.contextmanager
def iterating(loader: Iterable[object]) -> Iterator[Iterator[object]]:
    """Iterate over a loader, and end the workers started for it."""
    # Accelerate's loaders wrap PyTorch's.
    keeper = getattr(loader, "base_dataloader", loader)
    was_used = getattr(keeper, "_iterator", None) is not None
    with random_numbers.kept_of(loader):
        batches = iter(loader)
        try:
            yield batches
        finally:
            # An iterator belongs to the script, which continues to use it.
            if batches is not loader:
                _end_iteration(keeper, batches, was_used=was_used)


def _end_iteration(keeper: Any, batches: Iterator[object], *, was_used: bool) -> None:
    if getattr(keeper, "persistent_workers", False):
        kept = getattr(keeper, "__dict__", {}).get("_iterator")
        # A loader with persistent workers keeps its iterator and needs it again.
        if was_used or kept is None:
            return
        # They were started for the benchmark, and have drawn random numbers since.
        keeper._iterator = None  # noqa: SLF001 - as PyTorch has it before the first pass
        _close(kept)
    _close(batches)


def _close(iterator: object) -> None:
    close = getattr(iterator, "close", None) or getattr(
        iterator, "_shutdown_workers", None
    )
    if callable(close):
        with contextlib.suppress(Exception):
            close()


def end_workers(loader: object) -> None:
    """End a loader that was created for the benchmark."""
    has_close = hasattr(loader, "close")
    _close(loader if has_close else getattr(loader, "_iterator", None))


class Few(NamedTuple):
    """An iterable that yields the same few batches in each iteration."""

    batches: Iterable[object]
    most: int
    ahead: int = 0  # batches to skip first, while workers start
    fewest: int = 1  # minimum number of batches for a valid time


def few_batches(loader: Iterable[object], batches: int) -> Few:
    """Return the same few batches of a loader, for several passes.

    For a PyTorch DataLoader over an indexed data set, they come from another
    DataLoader, because it may shuffle. Other loaders are iterated from the start.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(loader, torch.utils.data.DataLoader):
        data = torch.utils.data
        if not isinstance(loader.dataset, data.IterableDataset):
            return Few(_FewOfTorch(data, loader, batches), batches)
    workers = worker_count(loader)
    if not workers:
        return Few(loader, batches)
    # Workers deliver almost simultaneously: in part of a round, one batch takes no
    # time, and another takes all of it.
    rounds = -(-batches // workers)
    return Few(loader, rounds * workers, batches_ready(loader), fewest=workers)


class _FewOfTorch:
    """A copy of a DataLoader for few batches, with started workers.

    Each pass has its own workers, because a data set may cache prepared data.
    """

    def __init__(self, data: Any, loader: Any, batches: int) -> None:
        """`data` is the module `torch.utils.data`."""
        self._data, self._loader = data, loader
        # One more, which each worker loads before the timing starts.
        chosen = _choose(data, loader, batches + (loader.num_workers > 0))
        self._few = chosen[:batches]
        self._first = (chosen[batches:] or chosen[-1:]) * loader.num_workers

    def __iter__(self) -> Iterator[object]:
        chosen = [*self._first]
        loader = self._like(chosen)
        try:
            for _ in loader:
                pass
        except BaseException:
            end_workers(loader)
            raise
        chosen[:] = self._few
        return iter(loader)

    def _like(self, chosen: list[Any]) -> Iterable[object]:
        """Return a copy that yields the batches in the list at the start of a pass."""
        loader = self._loader
        workers: dict[str, Any] = {}
        if loader.num_workers:
            workers = {
                "prefetch_factor": loader.prefetch_factor,
                "worker_init_fn": loader.worker_init_fn,
                "multiprocessing_context": loader.multiprocessing_context,
                "persistent_workers": True,
            }
        order: dict[str, Any] = {"batch_sampler": chosen}
        if loader.batch_sampler is None:
            # Each index is that of a batch.
            order = {"sampler": chosen, "batch_size": None}
        like: Iterable[object] = self._data.DataLoader(
            loader.dataset,
            collate_fn=loader.collate_fn,
            num_workers=loader.num_workers,
            **order,
            **workers,
        )
        return like


def _choose(data: Any, loader: Any, batches: int) -> list[Any]:
    """Return the indices of some batches, as the DataLoader's sampler may yield them."""
    dataset, size = loader.dataset, loader.batch_size
    standard = (data.SequentialSampler, data.RandomSampler)
    if size is None or type(loader.sampler) not in standard:
        # A custom sampler decides which indices exist and belong together.
        order = loader.batch_sampler
        with random_numbers.kept_of(loader):
            return [*islice(loader.sampler if order is None else order, batches)]
    # Spread over the data set, because its beginning is often in the page cache.
    count = min(batches * size, len(dataset))
    every = max(1, len(dataset) // max(1, count))
    chosen = range(0, every * count, every)
    return [[*chosen[first : first + size]] for first in range(0, count, size)]


def worker_counts(cores: int) -> list[int]:
    """Return the worker counts to try: 0, 2, 4, 8, … and the number of cores."""
    doubled = (2**power for power in range(1, max(1, cores).bit_length() + 1))
    return sorted({0, cores, *(count for count in doubled if count < cores)})


def effective_cores() -> int:
    """Return the number of cores available to this process, including container quotas."""
    with contextlib.suppress(Exception):
        # Imported here: reading control groups is needed only for this.
        from seamark.probes.machine.cgroup import CgroupProbe  # noqa: PLC0415

        found = CgroupProbe().facts().get("facts/effective_cores")
        if isinstance(found, float) and found > 0:
            return max(1, round(found))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
