"""Times the steps of a training loop: data wait, phases, and the whole step."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Generic, TypeVar

from agent.recorder import Recorder

Batch = TypeVar("Batch")

# In this order: a framework brings the ones behind it along.
_FRAMEWORKS = (("torch", "pytorch"), ("tensorflow", "tensorflow"), ("jax", "jax"))


class Steps:
    """Collects the parts of the current step and logs them when it ends."""

    def __init__(self, recorder: Recorder, namespace: str) -> None:
        self._recorder = recorder
        self._namespace = namespace
        self._steps = 0
        self._loop_thread: int | None = None
        self._phases: dict[str, float] = {}
        self._phase_counts: dict[str, int] = {}
        self._open = _OpenPhases()

    def begin(self) -> bool:
        """Start timing a loop; False within another one, whose step it is part of."""
        if self._loop_thread is not None:
            return False
        self._loop_thread = threading.get_ident()
        self._phases.clear()
        return True

    def end(self) -> None:
        """Stop timing."""
        self._loop_thread = None

    def record(
        self, *, seconds: float, wait_seconds: float, examples: int | None
    ) -> None:
        """Log the step that has just ended."""
        measured = {"seconds": seconds, "data_wait_seconds": wait_seconds}
        if examples is not None:
            measured["examples"] = float(examples)
        for name, spent in self._phases.items():
            measured[f"phase/{name}_seconds"] = spent
        self._phases.clear()
        self._put(measured, float(self._steps))
        self._steps += 1

    def state_facts(self, facts: Mapping[str, object]) -> None:
        """Log what is known about the loop before it starts."""
        for name, value in facts.items():
            self._recorder.set_value(f"{self._namespace}/facts/{name}", value)

    def opened(self, phase: Phase) -> None:
        """A phase begins, perhaps within another."""
        self._open.phases.append(phase)

    def closed(self, phase: Phase, seconds: float) -> None:
        """A phase has ended; its time counts for no phase around it."""
        if phase in self._open.phases:
            self._open.phases.remove(phase)
        if self._open.phases:
            self._open.phases[-1].seconds_of_others += seconds
        own = max(0.0, seconds - phase.seconds_of_others)
        if self._loop_thread == threading.get_ident():
            self._phases[phase.name] = self._phases.get(phase.name, 0.0) + own
        elif self._loop_thread is None:
            # Without a loop each phase is counted by itself.
            count = self._phase_counts.get(phase.name, 0)
            self._phase_counts[phase.name] = count + 1
            self._put({f"phase/{phase.name}_seconds": own}, float(count))

    def _put(self, measured: Mapping[str, float], step: float) -> None:
        named = {
            f"{self._namespace}/step/{name}": value for name, value in measured.items()
        }
        self._recorder.log_measured(named, step)


class _OpenPhases(threading.local):
    """The phases a thread is in: what others do meanwhile is no part of them."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []


class Phase:
    """A timed part of a step, as a context manager."""

    def __init__(self, steps: Steps, name: str) -> None:
        self.name = name
        self.seconds_of_others = 0.0
        self._steps = steps
        self._began = 0.0

    def __enter__(self) -> None:
        self.seconds_of_others = 0.0
        self._steps.opened(self)
        self._began = time.perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._steps.closed(self, time.perf_counter() - self._began)


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
        self._batch_size = _first_count(
            batch_size,
            getattr(batches, "batch_size", None),
            getattr(getattr(batches, "batch_sampler", None), "batch_size", None),
        )
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
            yield from self._timed()
        finally:
            self._steps.end()

    def _timed(self) -> Iterator[Batch]:
        batches = iter(self._batches)
        arrived: float | None = None
        examples: int | None = None
        while True:
            asked = time.perf_counter()
            batch = next(batches, _END)
            now = time.perf_counter()
            if arrived is not None:
                self._steps.record(
                    seconds=now - arrived, wait_seconds=now - asked, examples=examples
                )
            if isinstance(batch, _End):
                return
            arrived = now
            examples = count_examples(batch, self._batch_size)
            yield batch
            # Not held while the next one is made: batches may fill the memory.
            del batch

    def _facts(self) -> dict[str, object]:
        facts: dict[str, object] = {"framework": find_framework()}
        if self._batch_size is not None:
            facts["batch_size"] = self._batch_size
        if self._workers is not None:
            facts["loader_workers"] = self._workers
        return facts


class _End:
    """What `next` returns behind the last batch."""


_END = _End()


def find_framework() -> str:
    """Return which framework this process has loaded; it is never imported for it."""
    for module, name in _FRAMEWORKS:
        if module in sys.modules:
            return name
    return "plain"


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


def _first_count(*candidates: object) -> int | None:
    for candidate in candidates:
        if isinstance(candidate, int) and candidate >= 0:
            return int(candidate)
    return None
