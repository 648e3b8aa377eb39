"""Limits the rate of a driver query by its cost."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from seamark.probes.nvidia.driver import NotNow, NotOffered, NotPermitted, ask

# Samples are never exactly on time.
_TOLERANCE_SECONDS = 0.5
# Limits of one query: a fifth of a GPU's CPU limit, and a share of the thread's time
# that leaves room for others.
_CPU_SHARE, _WAITED_SHARE = 0.001, 0.1
# The first calls include one-time loading, and a single one may be slow by chance.
_COSTS, _BEFORE_JUDGED = 5, 3
# At longer intervals the query is disabled, because its samples say little. A query
# that only waits may have waited for the GIL, so it is not disabled.
_RAREST_SECONDS, _RAREST_TIMES = 60.0, 4
# After this many misses in a row, another source may supply the paths.
MAX_MISSES = 3

Read = Callable[[float], dict[str, float]]


class Cost(NamedTuple):
    """Seconds of a query: CPU time and wall time."""

    cpu: float
    waited: float


def clocks() -> Cost:
    """Return the current CPU and wall clocks of this thread."""
    return Cost(time.thread_time(), time.perf_counter())


class Paced:
    """A query made at its interval, or less often if it is expensive."""

    def __init__(
        self,
        name: str,
        seconds: float,
        read: Read,
        clocks: Callable[[], Cost] = clocks,
    ) -> None:
        self.name = name
        self.seconds = seconds
        self.is_offered = True
        self.is_permitted = True
        self.is_too_dear = False
        self.has_answered = False
        # The error of the last call; "" if it succeeded.
        self.failure = ""
        self._misses = 0
        self._read = read
        self._clocks = clocks
        self._costs: deque[Cost] = deque(maxlen=_COSTS)
        self._not_before = float("-inf")

    def sample(self, library: Any, now: float) -> dict[str, float]:
        """Return metrics if the query is due; GpuLost is left to the caller."""
        if not self.is_offered or now < self._not_before - _TOLERANCE_SECONDS:
            return {}
        began = self._clocks()
        self._not_before = now + self.seconds
        try:
            readings = ask(library, lambda: self._read(now))
        except NotOffered as error:
            self.is_offered = False
            self.is_permitted = not isinstance(error, NotPermitted)
            return {}
        except NotNow as error:
            self.failure = str(error)
            self._misses += 1
            return {}
        self.failure, self._misses = "", 0
        ended = self._clocks()
        self._costs.append(Cost(ended.cpu - began.cpu, ended.waited - began.waited))
        self.has_answered = True
        cost = self.typical
        rarest = max(_RAREST_SECONDS, _RAREST_TIMES * self.seconds)
        self.is_too_dear = cost is not None and cost.cpu > _CPU_SHARE * rarest
        self.is_offered = not self.is_too_dear
        self._not_before = now + self.interval
        return readings

    @property
    def supplies(self) -> bool:
        """Whether it has succeeded, and is expected to again."""
        return self.is_offered and self.has_answered and self._misses < MAX_MISSES

    @property
    def typical(self) -> Cost | None:
        """The typical cost; None after too few calls."""
        if len(self._costs) < _BEFORE_JUDGED:
            return None
        cpu, waited = zip(*self._costs, strict=True)
        return Cost(statistics.median(cpu), statistics.median(waited))

    @property
    def interval(self) -> float:
        """The interval in seconds that keeps the query within its limits."""
        cost = self.typical
        if cost is None:
            return self.seconds
        waits = min(cost.waited / _WAITED_SHARE, _RAREST_SECONDS)
        return max(self.seconds, cost.cpu / _CPU_SHARE, waits)
