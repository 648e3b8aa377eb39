"""One question to the driver: how often it is asked, what it costs, whether it is offered."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from seamark.probes.nvidia.driver import NotNow, NotOffered, NotPermitted, ask

# Ticks are never exactly on time.
_TOLERANCE_SECONDS = 0.5
# What one question may take: a fifth of what a GPU may take of a core, and as much of
# the thread's time as lets others be asked.
_CPU_SHARE, _WAITED_SHARE = 0.001, 0.1
# The first ones load what later ones find loaded, and one may be slow by chance.
_COSTS, _BEFORE_JUDGED = 5, 3
# Rarer than this, a reading says little: then it is not asked for at all. But who only
# waits may have waited for the script, which held the interpreter.
_RAREST_SECONDS, _RAREST_TIMES = 60.0, 4
# What has not come so many times in a row is left to whatever else supplies it.
MAX_MISSES = 3

Read = Callable[[float], dict[str, float]]


class Cost(NamedTuple):
    """Seconds that a question took: of a core, and of the clock."""

    cpu: float
    waited: float


def clocks() -> Cost:
    """Return what both clocks say of this thread now."""
    return Cost(time.thread_time(), time.perf_counter())


class Paced:
    """A reader that is asked as often as it should be, unless it costs too much."""

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
        # Why the last answer did not come; empty if it did.
        self.failure = ""
        self._misses = 0
        self._read = read
        self._clocks = clocks
        self._costs: deque[Cost] = deque(maxlen=_COSTS)
        self._not_before = float("-inf")

    def sample(self, library: Any, now: float) -> dict[str, float]:
        """Return readings if it is time; a GPU that is lost is the caller's matter."""
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
        """Whether it has answered, and may be expected to answer again."""
        return self.is_offered and self.has_answered and self._misses < MAX_MISSES

    @property
    def typical(self) -> Cost | None:
        """What it takes; None until it was asked often enough to say."""
        if len(self._costs) < _BEFORE_JUDGED:
            return None
        cpu, waited = zip(*self._costs, strict=True)
        return Cost(statistics.median(cpu), statistics.median(waited))

    @property
    def interval(self) -> float:
        """Seconds between two questions, so that they keep to what they may take."""
        cost = self.typical
        if cost is None:
            return self.seconds
        waits = min(cost.waited / _WAITED_SHARE, _RAREST_SECONDS)
        return max(self.seconds, cost.cpu / _CPU_SHARE, waits)
