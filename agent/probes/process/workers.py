"""Metrics of each loader worker: few, at long intervals, and for a limited number.

A worker keeps its index until it ends; then the next new one gets it. So there are few
paths, however many workers an epoch starts.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from seamark.probes.process.process_catalogue import SECONDS_OF_WORKERS
from seamark.probes.process.processes import ProcessState, Traffic, read_proportional
from seamark.probes.rates import Rates, known, share

MAX_WORKERS = 16
# The kernel inspects every page of a process for it, which may delay the process.
_BETWEEN_LOOKS_SECONDS = 5.0
_SHARE_OF_LOOKS, _LONGEST_LOOK_SECONDS = 0.0002, 0.02
_STATES = {"R": "running_share", "S": "sleeping_share", "D": "blocked_share"}


class Worker(Protocol):
    """A followed process."""

    pid: int

    @property
    def state(self) -> ProcessState: ...

    @property
    def counted(self) -> Traffic | None: ...


class _Slot:
    """An index and the worker that has it."""

    def __init__(self, worker: Worker, now: float, *, is_disk_wait_known: bool) -> None:
        self.worker = worker
        self.seen: Counter[str] = Counter()
        self._rates = Rates()
        # Counting starts here.
        self._rates_of(now, is_disk_wait_known=is_disk_wait_known)

    def readings(self, now: float, *, is_disk_wait_known: bool) -> dict[str, float]:
        rates = self._rates_of(now, is_disk_wait_known=is_disk_wait_known)
        rates["disk_wait_share"] = share(rates["disk_wait_share"])
        looks, self.seen = self.seen, Counter()
        shares = {
            name: looks[s] / looks.total() for s, name in _STATES.items() if looks
        }
        memory = float(self.worker.state.resident_bytes)
        return known({**rates, "memory_bytes": memory, **shares})

    def _rates_of(
        self, now: float, *, is_disk_wait_known: bool
    ) -> dict[str, float | None]:
        state, traffic = self.worker.state, self.worker.counted
        waited = state.seconds_waiting_for_disk
        return self._rates.of(
            {
                "cpu_cores": state.cpu_seconds,
                "major_faults_per_second": state.major_faults,
                "read_bytes_per_second": None
                if traffic is None
                else traffic.read_bytes,
                "disk_wait_share": waited if is_disk_wait_known else None,
            },
            now,
        )


class Workers:
    """Assigns indices to workers, and returns their metrics."""

    def __init__(self) -> None:
        self._slots: dict[int, _Slot] = {}
        self._not_before = float("-inf")
        self._look_at = float("-inf")
        self._looked_last = -1

    def sample(
        self, workers: Sequence[Worker], now: float, *, is_disk_wait_known: bool
    ) -> dict[str, float]:
        """Read every worker; return metrics if they are due."""
        self._number(
            workers, lambda w: _Slot(w, now, is_disk_wait_known=is_disk_wait_known)
        )
        for slot in self._slots.values():
            slot.seen[slot.worker.state.state] += 1
        readings = self._proportional(now)
        # Half a second of tolerance: samples are never exactly on time.
        if now < self._not_before - 0.5:
            return readings
        self._not_before = now + SECONDS_OF_WORKERS
        for number, slot in self._slots.items():
            found = slot.readings(now, is_disk_wait_known=is_disk_wait_known)
            readings |= _named(number, found)
        return readings

    def _number(
        self, workers: Sequence[Worker], follow: Callable[[Worker], _Slot]
    ) -> None:
        living = {id(worker) for worker in workers}
        self._slots = {n: s for n, s in self._slots.items() if id(s.worker) in living}
        numbered = {id(slot.worker) for slot in self._slots.values()}
        free = (n for n in range(MAX_WORKERS) if n not in self._slots)
        new = (worker for worker in workers if id(worker) not in numbered)
        # Ends with the shorter of the two.
        self._slots |= {n: follow(w) for n, w in zip([*free], new, strict=False)}

    def _proportional(self, now: float) -> dict[str, float]:
        if now < self._look_at or not self._slots:
            return {}
        # The next existing index.
        number = min(self._slots, key=lambda n: (n <= self._looked_last, n))
        self._looked_last = number
        began = time.thread_time()
        found = read_proportional(self._slots[number].worker.pid)
        took = time.thread_time() - began
        wait = max(_BETWEEN_LOOKS_SECONDS, took / _SHARE_OF_LOOKS)
        self._look_at = now + wait if took < _LONGEST_LOOK_SECONDS else float("inf")
        if found is None:
            return {}
        return _named(number, {"proportional_bytes": float(found)})


def _named(number: int, readings: Mapping[str, float]) -> dict[str, float]:
    return {f"job/worker/{number}/{name}": value for name, value in readings.items()}
