"""The share of the step time spent waiting for data, for several rules.

The default limits are here because these rules must agree on when a run waits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import (
    average,
    average_or_none,
    highest_average,
)
from tracker.diagnosis.engine.finding import Evidence, Gain, Severity, Side
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import duration
from tracker.diagnosis.signals import Array, Samples

NOTABLE_SHARE = 0.10
# The release limit of an open finding.
RELEASE_SHARE = 0.07

# Share of time without a core; less is normal on a shared machine.
CORE_WAIT_SHARE = 0.10

# Waiting hidden by the GPU below this share of the step time is not mentioned.
HIDDEN_SHARE = 0.01

# The first batch of an epoch always waits; in epochs of at least 50 steps it is among the
# longest 2 % of waits.
LONGEST_WAITS = 0.02


@dataclass(frozen=True, slots=True)
class CoreUse:
    """The time that training and loading processes use a core or wait for one.

    `worker_cpu` and `worker_wait` are means over the workers, None without workers.
    """

    main_cpu: Samples | None
    main_wait: Samples | None
    worker_cpu: Samples | None
    worker_wait: Samples | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Means over the steps of a window.

    `exposed_share` is the waiting during which no GPU works: queued GPU work continues
    while the trainer waits, and that waiting costs nothing.
    """

    step_seconds: float
    seconds: float
    share: float
    exposed_share: float
    usual_share: float  # without the longest waits
    notable_share: float = NOTABLE_SHARE
    release_share: float = RELEASE_SHARE

    @property
    def exposed_seconds(self) -> float:
        return self.step_seconds * self.exposed_share

    @property
    def hidden_seconds(self) -> float:
        return max(0.0, self.seconds - self.exposed_seconds)

    @property
    def is_hidden(self) -> bool:
        """Return whether the GPU hides a notable part of the wait."""
        return self.share - self.exposed_share >= HIDDEN_SHARE

    @property
    def beside(self) -> str:
        return " with an idle GPU" if self.is_hidden else ""

    @property
    def hidden_words(self) -> str:
        if not self.is_hidden:
            return ""
        return f", and {duration(self.hidden_seconds)} more while the GPU works"

    @property
    def compute_seconds(self) -> float:
        """Return the step time without waiting."""
        return self.step_seconds * (1.0 - self.exposed_share)

    @property
    def own_work(self) -> Floor:
        return Floor(self.compute_seconds, "the training step's own work")

    def is_notable(self, *, already_open: bool) -> bool:
        is_long = self.exposed_share >= self._limit(already_open=already_open)
        return is_long and self.usual_share >= self.release_share

    def blocked_share(self, use: CoreUse) -> float:
        """Return the share of time in which training can have waited for its workers.

        A process that uses a core meanwhile receives the batch: it copies it, or decodes
        the message. Without workers it loads the batch itself, and all waits count.
        """
        main_cpu = average_or_none(use.main_cpu)
        if main_cpu is None or average_or_none(use.worker_cpu) is None:
            return self.exposed_share
        others = 1.0 - main_cpu - (average_or_none(use.main_wait) or 0.0)
        return min(self.exposed_share, max(0.0, others))

    def keeps_up(self, use: CoreUse, *, already_open: bool) -> bool:
        """Return whether workers deliver in time, and the rest is the cost of receiving."""
        is_for_cores = (average_or_none(use.main_wait) or 0.0) >= CORE_WAIT_SHARE
        limit = self._limit(already_open=already_open)
        return not is_for_cores and self.blocked_share(use) < limit

    def is_for_a_core(self, use: CoreUse) -> bool:
        """Return whether the wait is mostly explained by time without a free core."""
        without_core = min(1.0, highest_average(use.main_wait, use.worker_wait) or 0.0)
        if without_core < CORE_WAIT_SHARE:
            return False
        left = self.exposed_share * (1.0 - without_core)
        return min(left, self._left_by_workers(use)) < self.notable_share

    def _limit(self, *, already_open: bool) -> float:
        return self.release_share if already_open else self.notable_share

    def _left_by_workers(self, use: CoreUse) -> float:
        """Return the share of time blocked that is left if workers never wait for a core."""
        blocked = self.blocked_share(use)
        cpu = average_or_none(use.worker_cpu)
        if cpu is None or not blocked > 0:
            return blocked
        without_core = average_or_none(use.worker_wait) or 0.0
        # Workers load at least while training waits; the rest of the time they may be idle.
        loading = max(cpu + without_core, blocked)
        return blocked * (1.0 - without_core / loading)

    def severity(self, critical_share: float) -> Severity:
        is_critical = self.exposed_share >= critical_share
        return Severity.CRITICAL if is_critical else Severity.WARNING

    def evidence(self, limit: float | None = None) -> Evidence:
        return Evidence(
            "data_wait_seconds",
            f"waiting for data{self.beside}, share of step time",
            self.exposed_share,
            "share",
            limit,
            Side.ABOVE,
            None if limit is None else self.release_share,
        )

    def gain_without(self, *floors: Floor) -> Gain:
        """Return the gain without waiting; `floors` are further minimum step times."""
        return expected_gain(self.step_seconds, (self.own_work, *floors))


def measure_waiting(
    step_seconds: Array,
    data_wait_seconds: Array,
    busiest_gpu_percent: Samples | None = None,
    exposed_wait_seconds: Array | None = None,
    *,
    notable_share: float = NOTABLE_SHARE,
    release_share: float = RELEASE_SHARE,
) -> Waiting | None:
    """Return None if the total time is 0.

    A trace shows how much of the waiting the GPU hides; without one, the exposed part is
    at most the time in which the busiest GPU was idle.
    """
    total = float(step_seconds.sum())
    if not total > 0:
        return None

    waits = np.minimum(data_wait_seconds, step_seconds)
    share = float(waits.sum()) / total
    return Waiting(
        step_seconds=total / len(step_seconds),
        seconds=float(waits.sum()) / len(step_seconds),
        share=share,
        exposed_share=min(
            share, _exposed_share(total, busiest_gpu_percent, exposed_wait_seconds)
        ),
        usual_share=_usual_share(step_seconds, waits),
        notable_share=notable_share,
        release_share=release_share,
    )


def measure_notable_waiting(
    step_seconds: Array,
    data_wait_seconds: Array,
    busiest_gpu_percent: Samples | None = None,
    exposed_wait_seconds: Array | None = None,
    *,
    notable_share: float = NOTABLE_SHARE,
    already_open: bool,
) -> Waiting | None:
    """Return None if the total time is 0 or the waiting is below the limit."""
    waiting = measure_waiting(
        step_seconds,
        data_wait_seconds,
        busiest_gpu_percent,
        exposed_wait_seconds,
        notable_share=notable_share,
    )
    if waiting is None or not waiting.is_notable(already_open=already_open):
        return None
    return waiting


def _exposed_share(
    total: float,
    busiest_gpu_percent: Samples | None,
    exposed_wait_seconds: Array | None,
) -> float:
    if exposed_wait_seconds is not None:
        return float(exposed_wait_seconds.sum()) / total
    if busiest_gpu_percent is None:
        return 1.0
    busy = average(busiest_gpu_percent.values) / 100
    return max(0.0, 1.0 - busy)


def _usual_share(step_seconds: Array, waits: Array) -> float:
    left_out = int(np.ceil(LONGEST_WAITS * len(waits)))
    if left_out >= len(waits):
        return 0.0
    usual = np.argpartition(waits, len(waits) - left_out)[: len(waits) - left_out]
    return float(waits[usual].sum() / step_seconds[usual].sum())
