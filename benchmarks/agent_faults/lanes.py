"""Exclusive cores for processes that run at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")
# Command prefix that limits a process to the cores of a lane.
Lane = tuple[str, ...]

# Cores per lane: one for the loop, one for the agent's threads.
CORES = 2


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of concurrent processes, and the remaining cores."""

    each: list[Lane]
    rest: set[int]

    @classmethod
    def of(cls, cores: Collection[int]) -> Lanes:
        """Split cores so that at least as many as a lane has are left (pure).

        Too few for two lanes are one, which shares them with all else.
        """
        ordered = sorted(cores)
        count = len(ordered) // CORES - 1
        if count < 2:  # noqa: PLR2004 - which the words say
            return cls([()], set(ordered))
        left = len(ordered) - count * CORES
        starts = range(left, len(ordered), CORES)
        lanes = [_lane(ordered[start : start + CORES]) for start in starts]
        return cls(lanes, set(ordered[:left]))

    @property
    def words(self) -> str:
        """Return a note on concurrent processes for the table, or ""."""
        count = len(self.each)
        return f", {count} at once on {CORES} cores each" if count > 1 else ""

    def perform(
        self, do: Callable[[Job, Lane], Answer], jobs: Iterable[Job]
    ) -> list[Answer]:
        """Run as many jobs at once as there are lanes; return all answers in order.

        Jobs run in threads that are limited to the remaining cores, as are their child
        processes.
        """
        free = SimpleQueue[Lane]()
        for lane in self.each:
            free.put(lane)

        def do_in_a_lane(job: Job) -> Answer:
            lane = free.get()
            try:
                return do(job, lane)
            finally:
                free.put(lane)

        with ThreadPoolExecutor(len(self.each), initializer=self._keep_out) as threads:
            return list(threads.map(do_in_a_lane, jobs))

    def _keep_out(self) -> None:
        if len(self.each) > 1:
            os.sched_setaffinity(0, self.rest)


def usable_cores() -> set[int]:
    """Return the cores that this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    # Elsewhere no process can be kept to its cores.
    return {0}


def _lane(cores: Iterable[int]) -> Lane:
    return "taskset", "-c", ",".join(map(str, cores))
