"""Wraps any iterable of batches, so that its loop is timed step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from agent.steps import StepClock, Steps, find_framework

Batch = TypeVar("Batch")

_LOADER_OPTIONS = {
    "pin_memory": bool,
    "persistent_workers": bool,
    "prefetch_factor": int,
}


class Loader(Generic[Batch]):
    """Yields the batches of an iterable and measures how long each was waited for."""

    def __init__(
        self,
        steps: Steps,
        batches: Iterable[Batch],
        *,
        batch_size: int | None,
        workers: int | None,
    ) -> None:
        self._steps = steps
        self._batches = batches
        self._batch_size = _first_count(batch_size, find_batch_size(batches))
        self._workers = _first_count(workers, getattr(batches, "num_workers", None))

    def __len__(self) -> int:
        # Any iterable may be given; progress bars ask and accept the TypeError.
        return len(self._batches)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Batch]:
        if not self._steps.begin():
            yield from self._batches
            return
        try:
            self._steps.state_facts(self._facts())
            self._steps.look_at_data(self._batches)
            yield from self._timed()
        finally:
            self._steps.end()

    def _timed(self) -> Iterator[Batch]:
        batches = iter(self._batches)
        clock = StepClock(self._steps)
        while True:
            clock.ask()
            batch = next(batches, _END)
            clock.arrive()
            if isinstance(batch, _End):
                return
            clock.examples = count_examples(batch, self._batch_size)
            yield batch
            # Not held while the next one is made: batches may fill the memory.
            del batch

    def _facts(self) -> dict[str, object]:
        facts = loader_facts(self._batches)
        if self._batch_size is not None:
            facts["batch_size"] = self._batch_size
        if self._workers is not None:
            facts["loader_workers"] = self._workers
        return facts


class _End:
    """What `next` returns behind the last batch."""


_END = _End()


def count_examples(batch: object, batch_size: int | None) -> int | None:
    """Return how many examples a batch holds, where that can be seen cheaply."""
    try:
        candidates = list(_counts(batch))
    except Exception:  # noqa: BLE001 - foreign code
        # The batch's own code ran: it may raise whatever it likes.
        return None
    if batch_size in candidates:
        return batch_size
    # The last batch may be smaller, none is larger.
    fitting = (c for c in candidates if batch_size is None or c <= batch_size)
    return next(fitting, None)


def _counts(batch: object) -> Iterator[int]:
    """What may be the number of examples, the likeliest first."""
    members = batch
    if isinstance(batch, Mapping):
        members = list(batch.values())
    elif (rows := _length(batch)) is not None and not isinstance(batch, (tuple, list)):
        yield rows
        return
    if not isinstance(members, (tuple, list)) or not members:
        return
    # Inputs and targets side by side, or else a list of examples.
    first = _length(members[0])
    if first is not None:
        yield first
    if members is batch:
        yield len(members)


def _length(value: object) -> int | None:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    # One example, whatever its length.
    if isinstance(value, (str, bytes, Mapping)):
        return None
    try:
        return len(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def find_batch_size(loader: object) -> int | None:
    """Return how many examples a full batch has, where the loader says so."""
    return _first_count(
        getattr(loader, "batch_size", None),
        getattr(getattr(loader, "batch_sampler", None), "batch_size", None),
    )


def loader_facts(loader: object) -> dict[str, object]:
    """Return all that a loader says of itself."""
    facts: dict[str, object] = {"framework": find_framework()}
    try:
        batch_size = find_batch_size(loader)
        workers = _first_count(getattr(loader, "num_workers", None))
    except Exception:  # noqa: BLE001 - foreign code
        return facts
    if batch_size is not None:
        facts["batch_size"] = batch_size
    if workers is not None:
        facts["loader_workers"] = workers
    return facts | loader_options(loader)


def loader_options(loader: object) -> dict[str, object]:
    """Return how a PyTorch DataLoader was set up; nothing of any other iterable."""
    found: dict[str, object] = {}
    for name, kind in _LOADER_OPTIONS.items():
        try:
            value = getattr(loader, name, None)
        except Exception:  # noqa: BLE001 - foreign code
            # The loader's own code ran: it may raise whatever it likes.
            continue
        if type(value) is kind:
            found[f"loader_{name}"] = value
    return found


def _first_count(*candidates: object) -> int | None:
    for candidate in candidates:
        if isinstance(candidate, int) and candidate >= 0:
            return int(candidate)
    return None
