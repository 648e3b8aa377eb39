"""What is sampled of the job's processes and of its container."""

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
        "Share of time that its main thread could have run and had no core.",
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
        "CPU seconds per second of the child with the least.",
    ),
    sampled(
        "worker_cpu_cores_max",
        "job/worker_cpu_cores_max",
        "cores",
        "CPU seconds per second of the child with the most.",
    ),
    sampled(
        "worker_core_wait_share",
        "job/worker_core_wait_share",
        "share",
        "Share of time that a child could have run and had no core, mean.",
    ),
    sampled(
        "workers_blocked",
        "job/workers_blocked",
        "processes",
        "Children that waited for storage (state D) at the moment.",
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
        "Read from storage by the child with the most.",
    ),
    sampled(
        "worker_memory_bytes_max",
        "job/worker_memory_bytes_max",
        "B",
        "Resident memory of the child with the most.",
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
        "Read by system calls of the job, from the page cache and sockets too.",
    ),
    sampled(
        "job_major_faults_per_second",
        "job/major_faults_per_second",
        "1/s",
        "Pages of the job that were read from a disk.",
    ),
    sampled(
        "cgroup_throttled_share",
        "cgroup/throttled_share",
        "share",
        "Share of scheduler periods in which the CPU quota stopped the job.",
    ),
    sampled(
        "cgroup_throttled_seconds_per_second",
        "cgroup/throttled_seconds_per_second",
        "s/s",
        "Time that threads were kept from running by the quota, all together.",
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
        "Files that the container holds in memory.",
    ),
    sampled(
        "cgroup_memory_limit_hits",
        "cgroup/memory_limit_hits",
        "times",
        "Times that the memory limit was met since the agent began.",
    ),
    sampled(
        "cgroup_oom_kills",
        "cgroup/oom_kills",
        "processes",
        "Processes killed for memory since the agent began.",
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
        "How late the agent's tick came.",
    ),
)
