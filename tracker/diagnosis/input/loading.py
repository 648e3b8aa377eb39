"""Which processes load the data, how busy they are, and how many would keep up."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import average_or_none, highest, typical
from tracker.diagnosis.engine.speedup import Floor
from tracker.diagnosis.engine.wording import count
from tracker.diagnosis.input.waiting import Waiting
from tracker.diagnosis.signals import Samples

# Factor for batches that take longer than the mean.
SPARE = 1.2

# A worker that uses less of a core is not worth its memory.
SMALLEST_PART_OF_A_CORE = 0.1

# A loading process that uses less waits for the network, a lock or a queue.
WAITING_CORES = 0.25

# The count if memory does not limit it.
MAX_WORKERS = 1_000_000
# Share of /dev/shm.
MAX_SHARED_MEMORY_SHARE = 0.90


@dataclass(frozen=True, slots=True)
class Loading:
    """`workers` is 0 if the training process loads the data itself."""

    workers: int
    is_counted: (
        bool  # reported by the loader; otherwise estimated from the child processes
    )
    busy_cores: float  # of one loading process
    cpu_seconds: float  # loading, per step
    other_cpu_seconds: float  # training, per step
    # CPU time of the training process per step; None if it also loads.
    main_cpu_seconds: float | None = None
    # Share of time in which a loading process was runnable without a core.
    core_wait: float = 0.0

    @property
    def wanted_cores(self) -> float:
        """Return how busy a loading process would be with a dedicated core."""
        return min(1.0, self.busy_cores + self.core_wait)

    @property
    def only_waits(self) -> bool:
        """Return whether loading uses hardly any CPU, so more processes need no cores."""
        return self.wanted_cores <= WAITING_CORES

    def floors(self, waiting: Waiting, effective_cores: float) -> tuple[Floor, Floor]:
        """Return the minimum step times if loading runs in parallel with training."""
        cpu_seconds = self.cpu_seconds + self.other_cpu_seconds
        return (
            waiting.own_work,
            Floor(
                cpu_seconds / effective_cores,
                f"the CPU work on {effective_cores:g} cores",
            ),
        )

    def workers_that_keep_up(
        self, waiting: Waiting, effective_cores: float, spare: float = SPARE
    ) -> int:
        """Return the number of workers that comes closest to a step without waiting.

        Training keeps the cores that it needs: a whole core if it busy-waits for the GPU, next
        to none if it sleeps. Processes that only wait can share a core.
        """
        own, cpu = self.floors(waiting, effective_cores)
        step = max(own.seconds, cpu.seconds)
        if not step > 0:
            return self.workers
        wanted = math.ceil(self._seconds_of_one(waiting) / step * spare)
        if self.only_waits:
            return wanted
        left = effective_cores - self._training_seconds(waiting) / step
        # All cores are busy only if a worker also uses the rest of the training core.
        left_by_training = (
            math.ceil(left - SMALLEST_PART_OF_A_CORE)
            if cpu.seconds > own.seconds
            else round(left)
        )
        return max(0, min(wanted, left_by_training, math.floor(effective_cores)))

    def floor_with(self, workers: int, waiting: Waiting) -> Floor:
        """Return the minimum step time with this many workers, each on its own core.

        Existing workers may be ahead and wait for training, so only their CPU time counts.
        """
        seconds = self.cpu_seconds if self.workers else waiting.seconds
        return Floor(
            seconds / workers, f"loading in {count(workers, 'worker', 'workers')}"
        )

    def _seconds_of_one(self, waiting: Waiting) -> float:
        """Return how long one process takes to load one batch."""
        if self.workers == 0:
            return waiting.seconds
        return self.workers * waiting.step_seconds

    def _training_seconds(self, waiting: Waiting) -> float:
        if self.main_cpu_seconds is not None:
            return self.main_cpu_seconds
        # A process that waits for its GPU may occupy a core, too.
        return max(waiting.compute_seconds, self.other_cpu_seconds)


def measure_loading(
    waiting: Waiting,
    job_cpu_cores: Samples,
    *,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    worker_cpu_cores: Samples | None = None,
    job_main_cpu_cores: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
) -> Loading | None:
    """Return None if the loading processes or their load are unknown."""
    children = typical(job_workers) if job_workers is not None else None
    counted = loader_workers if loader_workers is not None else children
    if counted is None or counted < 0:
        return None

    workers = round(counted)
    busy_cores = (
        _busy_cores_of_workers(workers, children, worker_cpu_cores)
        if workers
        else min(1.0, typical(job_main_cpu_cores or job_cpu_cores))
    )
    if busy_cores is None:
        return None

    step_cpu_seconds = typical(job_cpu_cores) * waiting.step_seconds
    loading_seconds = (
        workers * waiting.step_seconds if workers else waiting.seconds
    ) * busy_cores
    loading_seconds = min(loading_seconds, step_cpu_seconds)
    core_wait = worker_core_wait_share if workers else job_main_thread_core_wait_share
    return Loading(
        workers=workers,
        core_wait=average_or_none(core_wait) or 0.0,
        is_counted=loader_workers is not None,
        busy_cores=busy_cores,
        cpu_seconds=loading_seconds,
        other_cpu_seconds=step_cpu_seconds - loading_seconds,
        main_cpu_seconds=(
            typical(job_main_cpu_cores) * waiting.step_seconds
            if workers and job_main_cpu_cores is not None
            else None
        ),
    )


def workers_in_memory(
    workers: int, job_memory_bytes: Samples | None, memory_limit_bytes: float | None
) -> int:
    """Return how many workers fit if each takes as much memory as a process does now."""
    if job_memory_bytes is None or not memory_limit_bytes:
        return MAX_WORKERS
    used = highest(job_memory_bytes)
    if not used > 0:
        return MAX_WORKERS
    of_one = used / (workers + 1)
    more = min(MAX_WORKERS, int((memory_limit_bytes - used) / of_one))
    return workers + max(0, more)


def workers_in_shared_memory(workers: int, used_share: Samples | None) -> int:
    """Return how many workers fit in /dev/shm if each needs as much as now."""
    used = highest(used_share) if used_share is not None else 0.0
    if not workers or not used > 0:
        return MAX_WORKERS
    most = workers * MAX_SHARED_MEMORY_SHARE / used
    return max(workers, int(min(MAX_WORKERS, most)))


def _busy_cores_of_workers(
    workers: int, children: float | None, worker_cpu_cores: Samples | None
) -> float | None:
    if worker_cpu_cores is None:
        return None
    mean = typical(worker_cpu_cores)
    # Idle helper processes of the multiprocessing module are children as well and lower
    # the mean.
    return mean * max(1.0, children / workers) if children is not None else mean
