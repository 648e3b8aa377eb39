"""Training processes that log live: CPU time per process."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from itertools import count, islice

from benchmarks import frames
from benchmarks.growth.derivation import Rank
from benchmarks.growth.installation import Installation
from benchmarks.peers.workload import metric_names
from seamark import messages
from seamark.queue.frames import Frame

# Names that rules look for, so that diagnosis has as much to do as it will have.
OF_A_HOST = (
    *("host/cpu_percent", "host/memory_used_bytes"),
    *("host/disk_read_bytes_per_second", "host/disk_write_bytes_per_second"),
    *("job/cpu_cores", "job/main_cpu_cores", "job/memory_bytes", "job/workers"),
)
OF_A_GPU = (
    *("utilization_percent", "memory_utilization_percent", "memory_used_bytes"),
    *("power_watts", "temperature_celsius", "sm_clock_mhz"),
)
OF_A_STEP = ("step/seconds", "step/data_wait_seconds")


def reading_names(readings: int) -> list[str]:
    """Return the paths of hardware metrics: of the host, then of each GPU."""
    names = islice(_all_names(), readings)
    return [f"monitoring/train/{name}" for name in names]


def _all_names() -> Iterator[str]:
    yield from OF_A_HOST
    for number in count():
        yield from (f"gpu/{number}/{name}" for name in OF_A_GPU)


class Trainee:
    """One rank with a run of its own, in a thread."""

    def __init__(self, tracker: Installation, rank: Rank, name: str, seed: int) -> None:
        self._tracker = tracker
        self._rank = rank
        self._name = name
        self._random = random.Random(seed)
        self._numbers = count(2)
        # Diagnosis starts with the step time.
        metrics = metric_names(rank.metrics - len(OF_A_STEP))
        self._metrics = [*(f"monitoring/train/{name}" for name in OF_A_STEP), *metrics]
        self._readings = reading_names(rank.readings_per_second)
        self._thread = threading.Thread(target=self._log, daemon=True)
        self._is_over = threading.Event()
        self.points = 0
        self.sent_bytes = 0
        self.error = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _log(self) -> None:
        try:
            self._tracker.open(self._name)
            pause = 1 / self._rank.batches_per_second
            # Ranks do not beat in time.
            due = time.monotonic() + pause * self._random.random()
            for place in count():
                if self._is_over.wait(max(0.0, due - time.monotonic())):
                    return
                self._tracker.send(self._batch(place))
                due += pause
        except Exception as error:  # noqa: BLE001 - a thread's rim: whoever measures must know
            self.error = f"{type(error).__name__}: {error}"

    def _batch(self, place: int) -> bytes:
        steps = self._rank.steps_per_second // self._rank.batches_per_second
        numbers = [
            float(number) for number in range(place * steps, (place + 1) * steps)
        ]
        parts = [self._part(self._metrics, numbers)]
        if place % self._rank.batches_per_second == 0:
            second = float(place // self._rank.batches_per_second)
            parts.append(self._part(self._readings, [second]))
        frame = Frame(next(self._numbers), messages.payload(parts)).to_bytes()
        body = frames.compress(frame)
        self.sent_bytes += len(body)
        return body

    def _part(self, names: list[str], steps: list[float]) -> bytes:
        now, pause = time.time(), 1 / self._rank.steps_per_second
        times = [round(1e6 * (now - pause * back)) for back in range(len(steps))][::-1]
        values = [[self._random.uniform(0.02, 0.1) for _ in steps] for _ in names]
        self.points += len(names) * len(steps)
        return messages.points(names, steps, times, values)
