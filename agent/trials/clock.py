"""Times calls and iterations for a limited time; nothing here knows what it times."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# A trial is over after a minute, whatever was asked for.
MAX_SECONDS = 60.0
# Calls that pay for what happens once: compilation, caches, allocators.
WARM_UP_CALLS = 3
WARM_UP_SHARE = 0.3
BLOCKS = 5
MAX_CALLS = 1_000
FEWEST_BATCHES = 3

# Returned by `next` behind the last batch.
_END = object()


class Deadline:
    """So many seconds from now, and never more than a minute."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(0.0, min(seconds, MAX_SECONDS))
        self._began = time.perf_counter()

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float:
        """Seconds until the end, 0 behind it."""
        return max(0.0, self.seconds - self.passed)


@dataclass(frozen=True)
class Pace:
    """How long one of many calls or batches took, in the middle of them."""

    seconds: float
    count: int


@dataclass(frozen=True)
class Passage:
    """How an iterable kept up with somebody who does nothing but ask."""

    first_seconds: float
    pace: Pace | None  # None: too few batches, or too slow ones
    count: int
    seconds: float  # all together, from the first question to the last answer


def time_calls(
    call: Callable[[], object], wait: Callable[[object], None], deadline: Deadline
) -> Pace:
    """Call again and again; `wait` returns when what a call began is done.

    The calls are timed in blocks, since a device may work behind them.
    """
    typical = _warm_up(call, wait, deadline)
    calls = int(deadline.left / BLOCKS / max(typical, 1e-6))
    calls = max(1, min(calls, MAX_CALLS // BLOCKS))
    blocks: list[float] = []
    count = 0
    while not blocks or (len(blocks) < BLOCKS and deadline.left > 0):
        began = time.perf_counter()
        done = 0
        # At the deadline the block ends: calls may be slower than the first ones.
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
    """Return how long the last of the first calls took."""
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

    `ready` is how many are prepared while the first ones are waited for: they come
    faster than they are made, and do not count.
    """
    began = time.perf_counter()
    arrivals: list[float] = []
    while most is None or len(arrivals) < most:
        batch = next(batches, _END)
        if batch is _END:
            break
        # Not held while the next one is made: batches may fill the memory.
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
    """Take so many batches that are not timed, and fewer at the deadline or the end."""
    while count > 0 and deadline.left > 0 and next(batches, _END) is not _END:
        count -= 1


def _pace(arrivals: list[float], ready: int) -> Pace | None:
    behind = arrivals[min(max(ready, 1), len(arrivals)) - 1 :]
    if len(behind) <= FEWEST_BATCHES:
        return None
    return Pace((behind[-1] - behind[0]) / (len(behind) - 1), len(behind) - 1)
