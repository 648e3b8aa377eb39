"""Times calls and iterations for a limited time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Maximum duration of a benchmark, whatever is requested.
MAX_SECONDS = 60.0
# Calls that include one-time costs: compilation, caches, allocators.
WARM_UP_CALLS = 3
WARM_UP_SHARE = 0.3
BLOCKS = 5
MAX_CALLS = 1_000
FEWEST_BATCHES = 3

# Returned by `next` after the last batch.
_END = object()


class Deadline:
    """A deadline in `seconds` from now, at most a minute."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(0.0, min(seconds, MAX_SECONDS))
        self._began = time.perf_counter()

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self.seconds - self.passed)


@dataclass(frozen=True)
class Pace:
    """The median seconds of a call or batch, and the number of them."""

    seconds: float
    count: int


@dataclass(frozen=True)
class Passage:
    """The throughput of an iterable without any work between the batches."""

    first_seconds: float
    pace: Pace | None  # None: too few batches
    count: int
    seconds: float  # total, from the first request to the last batch


def time_calls(
    call: Callable[[], object], wait: Callable[[object], None], deadline: Deadline
) -> Pace:
    """Time repeated calls; `wait` returns when the work of a call is done.

    The calls are timed in blocks, because a device may work asynchronously.
    """
    typical = _warm_up(call, wait, deadline)
    calls = int(deadline.left / BLOCKS / max(typical, 1e-6))
    calls = max(1, min(calls, MAX_CALLS // BLOCKS))
    blocks: list[float] = []
    count = 0
    while not blocks or (len(blocks) < BLOCKS and deadline.left > 0):
        began = time.perf_counter()
        done = 0
        # The block ends at the deadline: calls may be slower than the first ones.
        while done < calls and (done == 0 or deadline.left > 0):
            last = call()
            done += 1
        wait(last)
        blocks.append((time.perf_counter() - began) / done)
        count += done
    return Pace(statistics.median(blocks), count)


def _warm_up(
    call: Callable[[], object], wait: Callable[[object], None], deadline: Deadline
) -> float:
    """Return the seconds of the last warm-up call."""
    seconds = 0.0
    for _ in range(WARM_UP_CALLS):
        began = time.perf_counter()
        wait(call())
        seconds = time.perf_counter() - began
        if deadline.passed > WARM_UP_SHARE * deadline.seconds:
            break
    return seconds


def time_passage(
    batches: Iterator[object],
    deadline: Deadline,
    *,
    ready: int,
    most: int | None = None,
) -> Passage:
    """Take batches until the deadline, or `most` of them.

    `ready` is the number of batches prepared while waiting for the first: they arrive
    faster than they are made, and are not counted.
    """
    began = time.perf_counter()
    arrivals: list[float] = []
    while most is None or len(arrivals) < most:
        batch = next(batches, _END)
        if batch is _END:
            break
        # Released before the next one is made: batches may fill the memory.
        del batch
        arrivals.append(time.perf_counter())
        if deadline.left <= 0:
            break
    if not arrivals:
        return Passage(0.0, None, 0, 0.0)
    return Passage(
        first_seconds=arrivals[0] - began,
        pace=_pace(arrivals, ready),
        count=len(arrivals),
        seconds=arrivals[-1] - began,
    )


def pass_over(batches: Iterator[object], count: int, deadline: Deadline) -> None:
    """Take up to `count` batches without timing them, until the deadline or the end."""
    while count > 0 and deadline.left > 0 and next(batches, _END) is not _END:
        count -= 1


def _pace(arrivals: list[float], ready: int) -> Pace | None:
    behind = arrivals[min(max(ready, 1), len(arrivals)) - 1 :]
    if len(behind) <= FEWEST_BATCHES:
        return None
    return Pace((behind[-1] - behind[0]) / (len(behind) - 1), len(behind) - 1)
