"""Wraps any iterable of batches to time its loop step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

from seamark.recording.steps import StepClock, Steps, find_framework

Batch = TypeVar("Batch")

# How many members of a nested batch are inspected, and to which depth.
_MEMBERS = 3
_DEEPEST = 3
_CONTAINERS = (tuple, list, Mapping)
_LOADER_OPTIONS = {
    "pin_memory": bool,
    "persistent_workers": bool,
    "prefetch_factor": int,
}


class Loader(Generic[Batch]):
    """Yields the batches of an iterable and measures the wait for each."""

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
        # The loader is asked only for missing values, because that runs foreign code.
        self._batch_size = _first_count(batch_size)
        if self._batch_size is None:
            self._batch_size = find_batch_size(batches)
        self._workers = _first_count(workers)
        if self._workers is None:
            self._workers = find_workers(batches)

    def __len__(self) -> int:
        # Any iterable is accepted; progress bars handle the TypeError.
        return len(self._batches)  # type: ignore[arg-type]

    # Any: an attribute of any loader.
    def __getattr__(self, name: str) -> Any:
        """Return the loader's attribute, so that `sampler.set_epoch(epoch)` still
        works.
        """
        # While it is copied or pickled, `_batches` does not exist yet.
        if name.startswith("__") or "_batches" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._batches, name)

    def __iter__(self) -> Iterator[Batch]:
        if not self._steps.begin():
            # `yield from` would close an iterator that the script may continue to use.
            for batch in self._batches:
                self._steps.pass_within()
                yield batch
                del batch
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
            # Released before the next one is made: batches may fill the memory.
            del batch

    def _facts(self) -> dict[str, object]:
        facts = loader_facts(self._batches)
        if self._batch_size is not None:
            facts["batch_size"] = self._batch_size
        if self._workers is not None:
            facts["loader_workers"] = self._workers
        return facts


class _End:
    """Returned by `next` after the last batch."""


_END = _End()


def count_examples(batch: object, batch_size: int | None) -> int | None:
    """Return the number of examples in a batch if it is cheap to determine, else None."""
    try:
        if batch_size is not None and _length(_first(batch)) == batch_size:
            # The common case; the full inspection takes longer.
            return batch_size
        candidates = _counts(batch)
    except Exception:  # noqa: BLE001 - foreign code
        # The batch's own code ran and may raise anything.
        return None
    if batch_size in candidates:
        return batch_size
    likeliest = candidates[0] if candidates else None
    if likeliest is None or batch_size is None or likeliest <= batch_size:
        return likeliest
    # The last batch may be smaller; none is larger.
    return None


def _first(batch: object) -> object:
    """Return the first leaf of a nested batch."""
    for _ in range(_DEEPEST):
        if isinstance(batch, Mapping):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, (tuple, list)) and batch:
            batch = batch[0]
        else:
            break
    return batch


def _counts(batch: object, depth: int = 0) -> list[int]:
    """Return possible numbers of examples, the most likely first."""
    rows: list[int] = []
    if isinstance(batch, Mapping):
        members = list(islice(batch.values(), _MEMBERS))
    elif isinstance(batch, (tuple, list)):
        members = list(batch[:_MEMBERS])
        if _are_alike(members):
            rows = [len(batch)]
            if len(batch) > len(members) and isinstance(members[0], _CONTAINERS):
                # Inputs and targets in a pair are not that many.
                return rows
    else:
        length = _length(batch)
        return [] if length is None else [length]
    if depth == _DEEPEST:
        return rows
    found = [_counts(member, depth + 1) for member in members]
    if depth == 0:
        found = [counts for counts in found if counts]
    # A length shared by all members is the most likely.
    common = [
        counts[0]
        for counts in found
        if counts and all(counts[0] in others for others in found)
    ]
    if depth > 0:
        # Without a common length it is one example, or a list of examples.
        return [*common, *rows]
    return [*common, *(count for counts in found for count in counts), *rows]


def _are_alike(members: list[object]) -> bool:
    """Return whether all have one type and, as arrays, the same number of dimensions."""
    kinds = {(type(m), len(getattr(m, "shape", None) or ())) for m in members}
    return len(kinds) == 1


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
    """Return the loader's batch size, if it has one."""
    return _first_count(
        _attribute(loader, "batch_size"),
        _attribute(_attribute(loader, "batch_sampler"), "batch_size"),
    )


def find_workers(loader: object) -> int | None:
    """Return the loader's number of worker processes, if it has one."""
    return _first_count(_attribute(loader, "num_workers"))


def loader_facts(loader: object) -> dict[str, object]:
    """Return the framework, batch size, workers and options of a loader."""
    facts: dict[str, object] = {"framework": find_framework()}
    batch_size, workers = find_batch_size(loader), find_workers(loader)
    if batch_size is not None:
        facts["batch_size"] = batch_size
    if workers is not None:
        facts["loader_workers"] = workers
    return facts | loader_options(loader)


def loader_options(loader: object) -> dict[str, object]:
    """Return the options of a PyTorch DataLoader; empty for other iterables."""
    found: dict[str, object] = {}
    for name, kind in _LOADER_OPTIONS.items():
        value = _attribute(loader, name)
        if type(value) is kind:
            found[f"loader_{name}"] = value
    return found


def _attribute(loader: object, name: str) -> object:
    """Return an attribute of a loader; None if it is missing or raises."""
    try:
        return getattr(loader, name, None)
    except Exception:  # noqa: BLE001 - foreign code
        # The loader's own code ran and may raise anything.
        return None


def _first_count(*candidates: object) -> int | None:
    for candidate in candidates:
        if isinstance(candidate, int) and candidate >= 0:
            return int(candidate)
    return None
