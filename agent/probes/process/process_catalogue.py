"""Describes every path under `job/` that the kernel supplies for processes."""

from __future__ import annotations

from seamark.probes.reading import COUNTED, SAMPLED, Reading, Scope

_STAT, _IO = "/proc/<pid>/stat", "/proc/<pid>/io"
_SCHEDULER, _ROLLUP = "/proc/<pid>/schedstat", "/proc/<pid>/smaps_rollup"
# Less often, because there may be many workers.
SECONDS_OF_WORKERS = 10.0

_OF_TREE = (
    ("cpu_cores", "cores", _STAT, COUNTED, "CPU seconds per second, with workers"),
    (
        "memory_bytes",
        "B",
        _STAT,
        SAMPLED,
        "resident; shared pages count once per process",
    ),
    (
        "read_bytes_per_second",
        "B/s",
        _IO,
        COUNTED,
        "from storage, without the page cache",
    ),
    ("write_bytes_per_second", "B/s", _IO, COUNTED, "to storage"),
    (
        "requested_bytes_per_second",
        "B/s",
        _IO,
        COUNTED,
        "reads by system calls, with page cache and sockets",
    ),
    (
        "major_faults_per_second",
        "1/s",
        _STAT,
        COUNTED,
        "page faults that read from a disk",
    ),
    ("threads", "", _STAT, SAMPLED, ""),
    (
        "workers",
        "",
        _STAT,
        SAMPLED,
        "living child processes, without helpers of `multiprocessing` and `torch.compile` and the agent's `git`",
    ),
    ("worker_cpu_cores", "cores", _STAT, COUNTED, "mean over the workers"),
    ("worker_cpu_cores_min", "cores", _STAT, COUNTED, "worker with the lowest value"),
    ("worker_cpu_cores_max", "cores", _STAT, COUNTED, "worker with the highest value"),
    ("worker_read_bytes_per_second", "B/s", _IO, COUNTED, "mean over the workers"),
    (
        "worker_read_bytes_per_second_max",
        "B/s",
        _IO,
        COUNTED,
        "worker with the highest value",
    ),
    (
        "worker_core_wait_share",
        "0–1",
        _SCHEDULER,
        COUNTED,
        "time the main thread of a worker waited for a core, mean over the workers",
    ),
    (
        "worker_memory_bytes_max",
        "B",
        _STAT,
        SAMPLED,
        "largest worker, resident",
    ),
    (
        "worker_disk_wait_share",
        "0–1",
        _STAT,
        COUNTED,
        "time a worker waited for storage, mean over the workers; needs `kernel.task_delayacct`",
    ),
    (
        "workers_blocked",
        "",
        _STAT,
        SAMPLED,
        "workers in state D, waiting for storage",
    ),
)
_OF_PROCESS = (
    ("main_cpu_cores", "cores", _STAT, COUNTED, "logging process"),
    (
        "main_thread_cpu_cores",
        "cores",
        _SCHEDULER,
        COUNTED,
        "main thread of the logging process; near 1, one core is the limit",
    ),
    (
        "main_thread_core_wait_share",
        "0–1",
        _SCHEDULER,
        COUNTED,
        "time that thread waited for a core",
    ),
    (
        "main_disk_wait_share",
        "0–1",
        _STAT,
        COUNTED,
        "time the logging process waited for storage; needs `kernel.task_delayacct`",
    ),
    ("open_files", "", "/proc/<pid>/fd", SAMPLED, "open file descriptors"),
)
_OF_WORKER = (
    ("cpu_cores", "cores", _STAT, COUNTED, ""),
    ("memory_bytes", "B", _STAT, SAMPLED, "resident"),
    (
        "proportional_bytes",
        "B",
        _ROLLUP,
        SAMPLED,
        "proportional set size; one worker at a time, skipped for very large workers",
    ),
    ("read_bytes_per_second", "B/s", _IO, COUNTED, "from storage"),
    (
        "major_faults_per_second",
        "1/s",
        _STAT,
        COUNTED,
        "page faults that read from a disk",
    ),
    (
        "running_share",
        "0–1",
        _STAT,
        SAMPLED,
        "samples in which it was running or runnable",
    ),
    ("sleeping_share", "0–1", _STAT, SAMPLED, "samples in which it slept"),
    ("blocked_share", "0–1", _STAT, SAMPLED, "samples in which it waited for storage"),
    (
        "disk_wait_share",
        "0–1",
        _STAT,
        COUNTED,
        "time it waited for storage; needs `kernel.task_delayacct`",
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
