"""Describes every path under `job/` that the kernel supplies for processes."""

from __future__ import annotations

from seamark.probes.reading import COUNTED, SAMPLED, Reading, Scope

_STAT, _IO = "/proc/<pid>/stat", "/proc/<pid>/io"
_SCHEDULER, _ROLLUP = "/proc/<pid>/schedstat", "/proc/<pid>/smaps_rollup"
# Less often, because there may be many workers.
SECONDS_OF_WORKERS = 10.0

_OF_TREE = (
    ("cpu_cores", "cores", _STAT, COUNTED, "CPU seconds per second, workers included"),
    (
        "memory_bytes",
        "B",
        _STAT,
        SAMPLED,
        "resident memory; what is shared counts twice",
    ),
    (
        "read_bytes_per_second",
        "B/s",
        _IO,
        COUNTED,
        "from storage, not from the page cache",
    ),
    ("write_bytes_per_second", "B/s", _IO, COUNTED, "to storage"),
    (
        "requested_bytes_per_second",
        "B/s",
        _IO,
        COUNTED,
        "read by system calls, from the page cache and from sockets too",
    ),
    ("major_faults_per_second", "1/s", _STAT, COUNTED, "pages read from a disk"),
    ("threads", "", _STAT, SAMPLED, "of all processes"),
    (
        "workers",
        "",
        _STAT,
        SAMPLED,
        "living descendants but helpers of Python's `multiprocessing` and of"
        " `torch.compile`, and the agent's own `git`",
    ),
    ("worker_cpu_cores", "cores", _STAT, COUNTED, "mean over the workers"),
    ("worker_cpu_cores_min", "cores", _STAT, COUNTED, "the worker with the least"),
    ("worker_cpu_cores_max", "cores", _STAT, COUNTED, "the worker with the most"),
    ("worker_read_bytes_per_second", "B/s", _IO, COUNTED, "mean over the workers"),
    (
        "worker_read_bytes_per_second_max",
        "B/s",
        _IO,
        COUNTED,
        "the worker with the most",
    ),
    (
        "worker_core_wait_share",
        "0–1",
        _SCHEDULER,
        COUNTED,
        "of time that a worker's main thread waited for a core, mean",
    ),
    (
        "worker_memory_bytes_max",
        "B",
        _STAT,
        SAMPLED,
        "resident memory of the worker with the most",
    ),
    (
        "worker_disk_wait_share",
        "0–1",
        _STAT,
        COUNTED,
        "of time that a worker waited for storage, mean; where the kernel counts that",
    ),
    (
        "workers_blocked",
        "",
        _STAT,
        SAMPLED,
        "workers in state D, so waiting for storage, at the moment",
    ),
)
_OF_PROCESS = (
    ("main_cpu_cores", "cores", _STAT, COUNTED, "the logging process alone"),
    (
        "main_thread_cpu_cores",
        "cores",
        _SCHEDULER,
        COUNTED,
        "its main thread alone: near 1, one core is the limit",
    ),
    (
        "main_thread_core_wait_share",
        "0–1",
        _SCHEDULER,
        COUNTED,
        "of time that its main thread could have run and had no core",
    ),
    (
        "main_disk_wait_share",
        "0–1",
        _STAT,
        COUNTED,
        "of time that the logging process waited for storage; likewise",
    ),
    ("open_files", "", "/proc/<pid>/fd", SAMPLED, "file descriptors in use"),
)
_OF_WORKER = (
    ("cpu_cores", "cores", _STAT, COUNTED, "of the worker alone"),
    ("memory_bytes", "B", _STAT, SAMPLED, "resident"),
    (
        "proportional_bytes",
        "B",
        _ROLLUP,
        SAMPLED,
        "what is shared divided by who shares it; one worker at a time, and not of"
        " workers so large that looking takes long",
    ),
    ("read_bytes_per_second", "B/s", _IO, COUNTED, "from storage"),
    ("major_faults_per_second", "1/s", _STAT, COUNTED, "pages read from a disk"),
    ("running_share", "0–1", _STAT, SAMPLED, "of looks: it ran, or could have"),
    ("sleeping_share", "0–1", _STAT, SAMPLED, "of looks: it waited for its turn"),
    ("blocked_share", "0–1", _STAT, SAMPLED, "of looks: it waited for storage"),
    (
        "disk_wait_share",
        "0–1",
        _STAT,
        COUNTED,
        "of time that it waited for storage; where the kernel counts that",
    ),
)

READINGS = (
    *(
        Reading(f"job/{name}", unit, scope, source, quality, meaning)
        for scope, rows in ((Scope.JOB, _OF_TREE), (Scope.PROCESS, _OF_PROCESS))
        for name, unit, source, quality, meaning in rows
    ),
    *(
        Reading(
            f"job/worker/<n>/{name}",
            unit,
            Scope.JOB,
            source,
            quality,
            meaning,
            SECONDS_OF_WORKERS,
        )
        for name, unit, source, quality, meaning in _OF_WORKER
    ),
)
