"""What trials ask of a loader: PyTorch's, or anything that can be iterated over."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from seamark.recording.loader import Loader
from seamark.trials import random_numbers

# Of an iterable that says neither, batches that may be prepared already.
_USUALLY_READY = 2
_USUAL_PREFETCH = 2


def unwrapped(loader: Iterable[object]) -> Iterable[object]:
    """Return what `run.loader` was given: its loop is no step of the training here."""
    while isinstance(loader, Loader):
        loader = loader._batches  # noqa: SLF001 - nobody else takes a loader apart
    return loader


def is_one_pass(loader: Iterable[object]) -> bool:
    """Whether it is an iterator, as generators and files are: what is taken is gone."""
    return isinstance(loader, Iterator) and iter(loader) is loader


def worker_count(loader: object) -> int:
    """Return how many worker processes prepare batches; 0 where nobody says so."""
    count = getattr(loader, "num_workers", 0)
    return count if isinstance(count, int) and count > 0 else 0


def batches_ready(loader: object) -> int:
    """Return how many batches may be prepared while the first one is waited for."""
    prefetch = getattr(loader, "prefetch_factor", None)
    ahead = prefetch if isinstance(prefetch, int) else _USUAL_PREFETCH
    return max(_USUALLY_READY, worker_count(loader) * ahead + 1)


@contextlib.contextmanager
def iterating(loader: Iterable[object]) -> Iterator[Iterator[object]]:
    """Iterate, and end the workers that this started."""
    # Accelerate's loaders have PyTorch's within.
    keeper = getattr(loader, "base_dataloader", loader)
    was_used = getattr(keeper, "_iterator", None) is not None
    with random_numbers.kept_of(loader):
        batches = iter(loader)
        try:
            yield batches
        finally:
            # An iterator is the script's own, which goes on with it.
            if batches is not loader:
                _end_iteration(keeper, batches, was_used=was_used)


def _end_iteration(keeper: Any, batches: Iterator[object], *, was_used: bool) -> None:
    if getattr(keeper, "persistent_workers", False):
        kept = getattr(keeper, "__dict__", {}).get("_iterator")
        # A loader whose workers live on keeps its iterator, and needs it again.
        if was_used or kept is None:
            return
        # They were started for the trial, and have drawn random numbers since.
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
    """End a loader that was made for the trial alone."""
    has_close = hasattr(loader, "close")
    _close(loader if has_close else getattr(loader, "_iterator", None))


class Few(NamedTuple):
    """What yields the same few batches each time it is iterated over."""

    batches: Iterable[object]
    most: int
    ahead: int = 0  # so many more come first, while workers start
    fewest: int = 1  # that say how long one takes


def few_batches(loader: Iterable[object], batches: int) -> Few:
    """Return the same few batches of a loader, for several passes.

    Of a PyTorch DataLoader over a data set with indices they come from another one,
    since it may shuffle. Others are iterated over from their beginning.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(loader, torch.utils.data.DataLoader):
        data = torch.utils.data
        if not isinstance(loader.dataset, data.IterableDataset):
            return Few(_FewOfTorch(data, loader, batches), batches)
    workers = worker_count(loader)
    if not workers:
        return Few(loader, batches)
    # Workers deliver nearly at once: in part of a round, one batch takes no time, and
    # another all of it.
    rounds = -(-batches // workers)
    return Few(loader, rounds * workers, batches_ready(loader), fewest=workers)


class _FewOfTorch:
    """A DataLoader like another one, for few batches, and with workers that have begun.

    Each pass has workers of its own: a data set may keep what it has prepared.
    """

    def __init__(self, data: Any, loader: Any, batches: int) -> None:
        """`data` is the module `torch.utils.data`."""
        self._data, self._loader = data, loader
        # One more, which each worker loads before the time begins.
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
        """Return one that yields what is in the list when a pass begins."""
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
    """Return what a DataLoader's own sampler may yield, once for each batch."""
    dataset, size = loader.dataset, loader.batch_size
    usual = (data.SequentialSampler, data.RandomSampler)
    if size is None or type(loader.sampler) not in usual:
        # Which indices there are, and which belong together, their sampler says.
        order = loader.batch_sampler
        with random_numbers.kept_of(loader):
            return [*islice(loader.sampler if order is None else order, batches)]
    # From everywhere: what was read just now is at the beginning, often.
    count = min(batches * size, len(dataset))
    every = max(1, len(dataset) // max(1, count))
    chosen = range(0, every * count, every)
    return [[*chosen[first : first + size]] for first in range(0, count, size)]


def worker_counts(cores: int) -> list[int]:
    """Return 0, 2, 4, 8, … and the number of cores: the numbers worth trying."""
    doubled = (2**power for power in range(1, max(1, cores).bit_length() + 1))
    return sorted({0, cores, *(count for count in doubled if count < cores)})


def effective_cores() -> int:
    """Return how many cores this process may use, a container's quota included."""
    with contextlib.suppress(Exception):
        # Imported here: it reads the control groups, which nothing else needs now.
        from seamark.probes.cgroup import CgroupProbe  # noqa: PLC0415

        found = CgroupProbe().facts().get("facts/effective_cores")
        if isinstance(found, float) and found > 0:
            return max(1, round(found))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
