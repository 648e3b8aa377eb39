"""The logging process and its children, loader workers among them."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from agent.probes.probe import Facts, Sample
from agent.probes.rates import Rate, known

# Finding grandchildren and the children of other threads takes a look at every
# thread; children of the main thread are seen at every sample.
_RESCAN_SECONDS = 2.0
# A helper of multiprocessing that loads nothing.
_RESOURCE_TRACKER = "multiprocessing.resource_tracker"


class _Child:
    """A living child process and its last readings."""

    def __init__(self, process: psutil.Process) -> None:
        self.process = process
        self.is_worker = _RESOURCE_TRACKER not in " ".join(process.cmdline())
        self.cpu_seconds = 0.0
        self.cpu = Rate()
        self.read = Rate()


class ProcessProbe:
    """Reads the process tree; Process objects are kept from sample to sample."""

    name = "process"

    def __init__(self, pid: int | None = None) -> None:
        self._main = psutil.Process(pid)
        self._children: dict[int, _Child] = {}
        self._tree_cpu = Rate()
        self._main_cpu = Rate()
        self._main_read = Rate()
        self._rescan_at = float("-inf")

    def facts(self) -> Facts:
        return {}

    def sample(self, now: float) -> Sample:
        self._find_children(now)
        with self._main.oneshot():
            times = self._main.cpu_times()
            memory = self._main.memory_info().rss
        main_cpu = times.user + times.system
        # A reaped child hands its CPU time to its parent's count of children.
        tree_cpu = main_cpu + times.children_user + times.children_system
        read = self._main_read.of(_read_bytes(self._main), now)
        worker_cores: list[float] = []
        for child in list(self._children.values()):
            try:
                memory += self._sample_child(child, now, worker_cores)
            except psutil.Error:
                # It has ended since; its time is in its parent's count now.
                del self._children[child.process.pid]
                continue
            tree_cpu += child.cpu_seconds
            read = _sum(read, child.read.of(_read_bytes(child.process), now))
        workers = sum(child.is_worker for child in self._children.values())
        return known(
            {
                "job/cpu_cores": self._tree_cpu.of(tree_cpu, now),
                "job/main_cpu_cores": self._main_cpu.of(main_cpu, now),
                "job/memory_bytes": float(memory),
                "job/read_bytes_per_second": read,
                "job/workers": float(workers),
                "job/worker_cpu_cores": (
                    sum(worker_cores) / len(worker_cores) if worker_cores else None
                ),
            }
        )

    def _sample_child(
        self, child: _Child, now: float, worker_cores: list[float]
    ) -> int:
        with child.process.oneshot():
            times = child.process.cpu_times()
            resident: int = child.process.memory_info().rss
        own = times.user + times.system
        child.cpu_seconds = own + times.children_user + times.children_system
        cores = child.cpu.of(own, now)
        if cores is not None and child.is_worker:
            worker_cores.append(cores)
        return resident

    def _find_children(self, now: float) -> None:
        pids = _children_of_thread(self._main.pid, self._main.pid)
        if pids is None or now >= self._rescan_at:
            self._rescan_at = now + _RESCAN_SECONDS
            pids = self._all_descendants()
        for pid in pids:
            if pid not in self._children:
                try:
                    self._children[pid] = _Child(psutil.Process(pid))
                except psutil.Error:
                    # Ended before it was looked at.
                    continue

    def _all_descendants(self) -> list[int]:
        """Every descendant's process id, without reading all of /proc."""
        found: list[int] = []
        unseen = [self._main.pid]
        while unseen:
            children = _children_of(unseen.pop())
            if children is None:
                return [child.pid for child in self._main.children(recursive=True)]
            found += children
            unseen += children
        return found


def _children_of(pid: int) -> list[int] | None:
    """Children of every thread of a process; None where the kernel does not say."""
    try:
        threads = [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        # Ended: it has no children any more. Elsewhere than Linux: unknown.
        return [] if Path("/proc/self/task").exists() else None
    children: list[int] = []
    for thread in threads:
        found = _children_of_thread(pid, thread)
        if found is None:
            return None
        children += found
    return children


def _children_of_thread(pid: int, thread: int) -> list[int] | None:
    path = f"/proc/{pid}/task/{thread}/children"
    try:
        return [int(text) for text in Path(path).read_text("ascii").split()]
    except FileNotFoundError:
        # The thread has ended, or the kernel was built without this file.
        return [] if Path(f"/proc/self/task/{os.getpid()}/children").exists() else None
    except OSError:
        return []


def _read_bytes(process: psutil.Process) -> float | None:
    try:
        return float(process.io_counters().read_bytes)
    except (psutil.Error, AttributeError, OSError):
        # Not ours to see, or not offered by this system.
        return None


def _sum(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other
