"""Signals that are sampled for the job's processes and its container."""

from __future__ import annotations

from tracker.diagnosis.signals.signal import sampled

JOB = (
    sampled(
        "job_cpu_cores",
        "job/cpu_cores",
        "cores",
        "CPU seconds per second of the process and all its children.",
    ),
    sampled(
        "job_main_cpu_cores",
        "job/main_cpu_cores",
        "cores",
        "CPU seconds per second of the logging process alone.",
    ),
    sampled(
        "job_main_thread_cpu_cores",
        "job/main_thread_cpu_cores",
        "cores",
        "CPU seconds per second of its main thread alone.",
    ),
    sampled(
        "job_main_thread_core_wait_share",
        "job/main_thread_core_wait_share",
        "share",
        "Share of time in which its main thread was runnable without a core.",
    ),
    sampled("job_threads", "job/threads", "threads", "Threads of all its processes."),
    sampled("job_workers", "job/workers", "processes", "Living child processes."),
    sampled(
        "worker_cpu_cores",
        "job/worker_cpu_cores",
        "cores",
        "CPU seconds per second of a child process, mean over the children.",
    ),
    sampled(
        "worker_cpu_cores_min",
        "job/worker_cpu_cores_min",
        "cores",
        "CPU seconds per second of the child with the lowest use.",
    ),
    sampled(
        "worker_cpu_cores_max",
        "job/worker_cpu_cores_max",
        "cores",
        "CPU seconds per second of the child with the highest use.",
    ),
    sampled(
        "worker_core_wait_share",
        "job/worker_core_wait_share",
        "share",
        "Share of time in which a child was runnable without a core, mean over the children.",
    ),
    sampled(
        "workers_blocked",
        "job/workers_blocked",
        "processes",
        "Children in uninterruptible sleep (state D), waiting for storage.",
    ),
    sampled(
        "worker_read_bytes_per_second",
        "job/worker_read_bytes_per_second",
        "B/s",
        "Read from storage by a child, mean over the children.",
    ),
    sampled(
        "worker_read_bytes_per_second_max",
        "job/worker_read_bytes_per_second_max",
        "B/s",
        "Read from storage by the child that reads most.",
    ),
    sampled(
        "worker_memory_bytes_max",
        "job/worker_memory_bytes_max",
        "B",
        "Resident memory of the largest child.",
    ),
    sampled(
        "job_memory_bytes",
        "job/memory_bytes",
        "B",
        "Resident memory of the process and all its children.",
    ),
    sampled(
        "job_read_bytes_per_second",
        "job/read_bytes_per_second",
        "B/s",
        "Read from storage by the job, not from the page cache.",
    ),
    sampled(
        "job_write_bytes_per_second",
        "job/write_bytes_per_second",
        "B/s",
        "Written to storage by the job.",
    ),
    sampled(
        "job_requested_bytes_per_second",
        "job/requested_bytes_per_second",
        "B/s",
        "Read by system calls of the job, including the page cache and sockets.",
    ),
    sampled(
        "job_major_faults_per_second",
        "job/major_faults_per_second",
        "1/s",
        "Page faults of the job that read from a disk.",
    ),
    sampled(
        "cgroup_throttled_share",
        "cgroup/throttled_share",
        "share",
        "Share of scheduler periods in which the CPU quota throttled the job.",
    ),
    sampled(
        "cgroup_throttled_seconds_per_second",
        "cgroup/throttled_seconds_per_second",
        "s/s",
        "Throttled time of all threads together.",
    ),
    sampled(
        "cgroup_memory_used_bytes",
        "cgroup/memory_used_bytes",
        "B",
        "Memory of the container without inactive cache.",
    ),
    sampled(
        "cgroup_page_cache_bytes",
        "cgroup/page_cache_bytes",
        "B",
        "Page cache of the container.",
    ),
    sampled(
        "cgroup_memory_limit_hits",
        "cgroup/memory_limit_hits",
        "times",
        "Number of times the memory limit was reached since the start of the agent.",
    ),
    sampled(
        "cgroup_oom_kills",
        "cgroup/oom_kills",
        "processes",
        "Processes killed for memory since the start of the agent.",
    ),
    sampled(
        "cgroup_read_bytes_per_second",
        "cgroup/read_bytes_per_second",
        "B/s",
        "Read from local disks by the container.",
    ),
    sampled(
        "cgroup_reads_per_second",
        "cgroup/reads_per_second",
        "1/s",
        "Read requests of the container to local disks.",
    ),
    sampled(
        "agent_cpu_share",
        "agent/cpu_share",
        "cores",
        "CPU time per second of the agent's own threads.",
    ),
    sampled(
        "agent_tick_late_seconds",
        "agent/tick_late_seconds",
        "s",
        "Delay of the agent's sampling.",
    ),
)
