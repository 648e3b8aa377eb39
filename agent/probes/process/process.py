"""Measures the logging process and its children, including loader workers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import ClassVar

from seamark.probes.probe import ALLOWANCE, Job, Probe, ProbeUnavailable, Sample
from seamark.probes.process.descendants import children_of_thread, descendants
from seamark.probes.process.process_catalogue import READINGS
from seamark.probes.process.processes import (
    ENDED,
    WAITING_FOR_DISK,
    ProcessGone,
    ProcessState,
    Traffic,
    count_open_files,
    counts_disk_waits,
    is_worker,
    now_as_started,
    read_scheduling,
    read_state,
    read_traffic,
)
from seamark.probes.process.workers import Workers
from seamark.probes.rates import Rate, Rates, known, share
from seamark.probes.reading import Reading
from seamark.probes.summary import mean

# Finding grandchildren and children of other threads requires a scan of all threads;
# children of the main thread, and of a fork server, are found in every sample.
_RESCAN_SECONDS = 5.0
_FILES_SECONDS = 10.0
# A new process may still be its parent's copy, before it executes a program.
_LOOKS_AT_LINE = 3
# Intermediate processes may end one after the other; the time of a child without a
# waiting parent is never counted, so missing time is not accepted for long.
_MAX_MISSING = 3


class _Followed:
    """A process, its last state, and the rates of its counters."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.state = read_state(pid)
        self.is_worker = False
        self._looks = 0
        self.cpu: float | None = None
        self.counted: Traffic | None = None
        self.traffic: dict[str, float | None] = {}
        self.thread_cpu: float | None = None
        self.core_wait: float | None = None
        self.faults: float | None = None
        self.disk_wait: float | None = None
        self._rates = Rates()

    @property
    def works(self) -> bool:
        """Whether it is a loader worker that has not ended."""
        return self.is_worker and self.state.state != ENDED

    @property
    def cpu_seconds(self) -> float:
        """Its own CPU time, including that of reaped children, in seconds."""
        return self.state.cpu_seconds + self.state.reaped_seconds

    def lives(self, now: float) -> bool:
        """Read its state again; return False if it has ended."""
        try:
            state = read_state(self.pid)
        except ProcessGone:
            return False
        if state.started != self.state.started:
            return False
        self.state = state
        if self._looks < _LOOKS_AT_LINE:
            self._looks += 1
            self.is_worker = is_worker(self.pid)
        self.counted = traffic = read_traffic(self.pid)
        ran, waited = read_scheduling(self.pid) or (None, None)
        counts = {
            "cpu": state.cpu_seconds,
            "faults": state.major_faults,
            "ran": ran,
            "waited": waited,
            "disk": state.seconds_waiting_for_disk,
            **({} if traffic is None else traffic._asdict()),
        }
        rates = self._rates.of(counts, now)
        self.cpu, self.faults = rates.pop("cpu"), rates.pop("faults")
        self.thread_cpu, self.core_wait = rates.pop("ran"), share(rates.pop("waited"))
        self.disk_wait = share(rates.pop("disk"))
        self.traffic = rates
        return True


class ProcessProbe(Probe):
    """Measures the process tree, and summarizes its workers."""

    name = "process"
    is_of_process = True
    is_seen_from_outside = True
    readings: ClassVar[tuple[Reading, ...]] = READINGS

    def __init__(self, pid: int | None = None) -> None:
        self._main = _Followed(pid or os.getpid())
        self._children: dict[int, _Followed] = {}
        self._looked_at = float("-inf")
        # CPU time of processes before they were found. Kept after they end, because it
        # is then part of their parents' time.
        self._cpu_before_found = 0.0
        # A process reaped during the sample is missing from the sum once.
        self._tree_cpu = Rate(most_missing=_MAX_MISSING)
        self._rescan_at = float("-inf")
        self._files_at = float("-inf")
        self._workers = Workers()
        # Kernels without delay accounting report zeros.
        self._is_disk_wait_known = counts_disk_waits()

    @property
    def allowance(self) -> float:
        """Twice the default, because there may be many workers."""
        return 2 * ALLOWANCE

    @classmethod
    def of(cls, job: Job) -> ProcessProbe:
        try:
            return cls(job.watched)
        except ProcessGone:
            # It has ended before the first sample; the watching process notices too.
            raise ProbeUnavailable from None

    def sample(self, now: float) -> Sample:
        looked_at, self._looked_at = self._looked_at, now_as_started()
        found = self._find_children(now)
        if not self._main.lives(now):
            # A watched program has ended; the watching process notices too.
            return {}
        # Ended children are now part of their parent's time.
        self._children = {
            pid: child for pid, child in self._children.items() if child.lives(now)
        }
        self._cpu_before_found += sum(
            child.cpu_seconds
            for child in found
            if child.pid in self._children and child.state.started < looked_at
        )
        everyone = [self._main, *self._children.values()]
        workers = [child for child in self._children.values() if child.works]
        waits = [p.state.seconds_waiting_for_disk for p in everyone]
        self._is_disk_wait_known |= any(waits)
        cpu = sum(p.cpu_seconds for p in everyone) - self._cpu_before_found
        # Rounded, because the order of a floating-point sum affects the result.
        cpu = round(cpu, 6)
        return known(
            {
                "job/cpu_cores": self._tree_cpu.of(cpu, now),
                **self._of_main(now),
                **_sums(everyone),
                "job/workers": float(len(workers)),
                **summary_of_workers(workers),
                **self._disk_waits(workers),
                **self._workers.sample(
                    workers, now, is_disk_wait_known=self._is_disk_wait_known
                ),
            }
        )

    def _of_main(self, now: float) -> dict[str, float | None]:
        main = self._main
        files = None
        if now >= self._files_at:
            self._files_at = now + _FILES_SECONDS
            files = count_open_files(main.pid)
        return {
            "job/main_cpu_cores": main.cpu,
            "job/main_thread_cpu_cores": main.thread_cpu,
            "job/main_thread_core_wait_share": main.core_wait,
            "job/open_files": None if files is None else float(files),
        }

    def _disk_waits(self, workers: Sequence[_Followed]) -> dict[str, float | None]:
        if not self._is_disk_wait_known:
            return {}
        waits = [w.disk_wait for w in workers if w.disk_wait is not None]
        return {
            "job/main_disk_wait_share": self._main.disk_wait,
            "job/worker_disk_wait_share": mean(waits),
        }

    def _find_children(self, now: float) -> list[_Followed]:
        """Follow new children, and return them."""
        pids = children_of_thread(self._main.pid, self._main.pid)
        if pids is None or now >= self._rescan_at:
            self._rescan_at = now + _RESCAN_SECONDS
            pids = descendants(self._main.pid)
        else:
            pids = [*pids, *self._forked_by_helpers(pids)]
        found = []
        for pid in pids:
            if pid not in self._children:
                # It may have ended already.
                with contextlib.suppress(ProcessGone):
                    self._children[pid] = child = _Followed(pid)
                    found.append(child)
        return found

    def _forked_by_helpers(self, pids: Sequence[int]) -> list[int]:
        """Return the children of helper processes, such as a fork server."""
        known = [self._children[pid] for pid in pids if pid in self._children]
        return [
            forked
            for child in known
            if not child.is_worker
            for forked in children_of_thread(child.pid, child.pid) or ()
        ]


def _sums(everyone: Sequence[_Followed]) -> dict[str, float | None]:
    """Return the sums over all processes; metrics without values are omitted."""

    def total(values: Sequence[float | None]) -> float | None:
        there = [value for value in values if value is not None]
        return float(sum(there)) if there else None

    return {
        "job/memory_bytes": total([p.state.resident_bytes for p in everyone]),
        "job/threads": total([p.state.threads for p in everyone]),
        "job/major_faults_per_second": total([p.faults for p in everyone]),
        **{
            f"job/{name}_per_second": total([p.traffic.get(name) for p in everyone])
            for name in Traffic._fields
        },
    }


def summary_of_workers(workers: Sequence[_Followed]) -> dict[str, float | None]:
    """Summarize the workers in a few metrics; empty if there are none."""
    if not workers:
        return {}
    cores = [worker.cpu for worker in workers if worker.cpu is not None]
    reads = [r for w in workers if (r := w.traffic.get("read_bytes")) is not None]
    waits = [w.core_wait for w in workers if w.core_wait is not None]
    states: list[ProcessState] = [worker.state for worker in workers]
    return {
        "job/worker_cpu_cores": mean(cores),
        "job/worker_cpu_cores_min": min(cores, default=None),
        "job/worker_cpu_cores_max": max(cores, default=None),
        "job/worker_read_bytes_per_second": mean(reads),
        "job/worker_read_bytes_per_second_max": max(reads, default=None),
        "job/worker_core_wait_share": mean(waits),
        "job/worker_memory_bytes_max": float(max(s.resident_bytes for s in states)),
        "job/workers_blocked": float(
            sum(state.state == WAITING_FOR_DISK for state in states)
        ),
    }
