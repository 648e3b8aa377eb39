"""Signals that are sampled for the machine: its cores, memory, disks and pressure."""

from __future__ import annotations

from tracker.diagnosis.signals.signal import sampled

MACHINE = (
    sampled(
        "host_cpu_percent",
        "host/cpu_percent",
        "%",
        "CPU use of the host by all processes, relative to all cores.",
    ),
    sampled(
        "host_cpu_steal_percent",
        "host/cpu_steal_percent",
        "%",
        "CPU steal time of this virtual machine.",
    ),
    sampled(
        "host_memory_used_bytes",
        "host/memory_used_bytes",
        "B",
        "Memory of the host in use, without page cache.",
    ),
    sampled(
        "host_page_cache_bytes",
        "host/page_cache_bytes",
        "B",
        "Page cache of the host.",
    ),
    sampled(
        "host_swap_in_bytes_per_second",
        "host/swap_in_bytes_per_second",
        "B/s",
        "Memory read back from swap.",
    ),
    sampled(
        "host_oom_kills",
        "host/oom_kills",
        "processes",
        "Processes that the kernel killed for memory since the start of the agent.",
    ),
    sampled(
        "host_disk_read_bytes_per_second",
        "host/disk_read_bytes_per_second",
        "B/s",
        "Read from local disks by all processes.",
    ),
    sampled(
        "host_disk_write_bytes_per_second",
        "host/disk_write_bytes_per_second",
        "B/s",
        "Written to local disks by all processes.",
    ),
    sampled(
        "host_disk_reads_per_second",
        "host/disk_reads_per_second",
        "1/s",
        "Read requests to local disks.",
    ),
    sampled(
        "host_disk_read_seconds",
        "host/disk_read_seconds",
        "s",
        "Mean time of a read from a local disk.",
    ),
    sampled(
        "host_disk_queue",
        "host/disk_queue",
        "requests",
        "Queue length of local disks, mean.",
    ),
    sampled(
        "host_network_receive_bytes_per_second",
        "host/network_receive_bytes_per_second",
        "B/s",
        "Received over the network.",
    ),
    sampled(
        "cores_busiest_percent",
        "cores/busiest_percent",
        "%",
        "Use of the busiest core in the job's CPU affinity.",
    ),
    sampled(
        "cores_median_percent",
        "cores/median_percent",
        "%",
        "Use of the cores in the job's CPU affinity, median.",
    ),
    sampled(
        "cores_saturated",
        "cores/saturated",
        "cores",
        "Cores in the job's CPU affinity with at least 90 % use.",
    ),
    sampled(
        "cpu_pressure_share",
        "pressure/cpu_some_share",
        "share",
        "Share of time in which a task waited for a core.",
    ),
    sampled(
        "memory_pressure_share",
        "pressure/memory_some_share",
        "share",
        "Share of time in which a task waited for memory.",
    ),
    sampled(
        "io_pressure_share",
        "pressure/io_some_share",
        "share",
        "Share of time in which a task waited for storage.",
    ),
    sampled(
        "io_full_pressure_share",
        "pressure/io_full_share",
        "share",
        "Share of time in which all tasks waited for storage.",
    ),
    sampled(
        "shared_memory_used_share",
        "storage/shared_memory/used_share",
        "share",
        "Use of /dev/shm, through which loader workers pass batches.",
    ),
    sampled(
        "work_storage_used_share",
        "storage/work/used_share",
        "share",
        "Use of the file system of the working directory.",
    ),
)
