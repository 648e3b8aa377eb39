"""The rows of the hardware page, by what people look for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BYTES, BYTES_PER_SECOND, SECONDS = "B", "B/s", "s"
# Readings from 0 to 1, shown as a percentage.
SHARE = "share"
# What has a colour of its own in every picture: that of the ledger.
WAITING = "step/data_wait_seconds"
COLOURS = {WAITING: "var(--use-wait)"}
NO_GPU = "No GPU was visible to this run."
NO_STEPS = (
    "Step times were not measured. The line that measures them:"
    " for batch in run.loader(loader):"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A row: its measures by path below the stage, and what its absence means."""

    title: str
    unit: str
    measures: Mapping[str, str]
    absent: str = ""
    limit: str = ""  # the fact that bounds the readings
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that are looked at together; `name` stands in addresses."""

    name: str
    title: str
    kinds: Sequence[Kind]

    @property
    def measures(self) -> frozenset[str]:
        return frozenset(measure for kind in self.kinds for measure in kind.measures)


def _of_gpus(title: str, unit: str, *paths: str, top: float | None = None) -> Kind:
    """Return a row with a line for each GPU, and words after `|` to tell several apart."""
    measures = {}
    for each in paths:
        path, _, words = each.partition("|")
        measures[f"gpu/<i>/{path}"] = f"GPU <i> {words}".strip()
    return Kind(title, unit, measures, top=top)


_GPU_UTILIZATION = Kind(
    "GPU utilization",
    "%",
    {"gpu/<i>/utilization_percent": "GPU <i>"},
    absent=NO_GPU,
    top=100.0,
)
_GPU_MEMORY = Kind(
    "GPU memory",
    BYTES,
    {"gpu/<i>/memory_used_bytes": "GPU <i>"},
    limit="facts/gpu/0/memory_total_bytes",
)
_GPU_POWER = Kind("GPU power", "W", {"gpu/<i>/power_watts": "GPU <i>"})
_CPU = Kind(
    "CPU cores in use",
    "cores",
    {
        "job/cpu_cores": "all processes",
        "job/main_cpu_cores": "main process",
        "job/worker_cpu_cores": "mean worker",
    },
    absent="CPU use was not measured.",
    limit="facts/effective_cores",
)
_STEPS = Kind(
    "Step time",
    SECONDS,
    {"step/seconds": "step", WAITING: "waiting for data"},
    absent=NO_STEPS,
)
_MEMORY = Kind(
    "Memory",
    BYTES,
    {
        "job/memory_bytes": "all processes",
        "cgroup/memory_used_bytes": "container",
        "host/memory_used_bytes": "whole host",
    },
    absent="Memory was not measured.",
    limit="facts/memory_limit_bytes",
)
_DISK = Kind(
    "Disk",
    BYTES_PER_SECOND,
    {
        "job/read_bytes_per_second": "job read",
        "host/disk_read_bytes_per_second": "host read",
        "host/disk_write_bytes_per_second": "host write",
    },
    absent="Disk traffic was not measured.",
)
_NETWORK = Kind(
    "Network",
    BYTES_PER_SECOND,
    {
        "host/network_receive_bytes_per_second": "received",
        "host/network_send_bytes_per_second": "sent",
    },
    absent="Network traffic was not measured.",
)

OVERVIEW = Group(
    "",
    "Overview",
    (
        _GPU_UTILIZATION,
        _CPU,
        _STEPS,
        _GPU_MEMORY,
        _GPU_POWER,
        _MEMORY,
        _DISK,
        _NETWORK,
    ),
)
GPUS = Group(
    "gpus",
    "GPUs",
    (
        _GPU_UTILIZATION,
        _of_gpus(
            "GPU utilization at its lowest (5th percentile)",
            "%",
            "utilization_p5_percent",
            top=100.0,
        ),
        _of_gpus("Multiprocessors with work", "%", "gpm/sm_active_percent", top=100.0),
        _of_gpus("Tensor cores", "%", "gpm/tensor_active_percent", top=100.0),
        _of_gpus("Memory bandwidth", "%", "gpm/dram_active_percent", top=100.0),
        _of_gpus("Memory controller", "%", "memory_utilization_percent", top=100.0),
        _GPU_MEMORY,
        _of_gpus("GPU memory of other jobs", BYTES, "other_memory_bytes"),
        _GPU_POWER,
        _of_gpus("Clocks lowered by the power limit", SHARE, "limited/power_share"),
        _of_gpus(
            "Clocks lowered for the temperature",
            SHARE,
            "limited/thermal_software_share|by the driver",
            "limited/thermal_hardware_share|by itself",
        ),
        _of_gpus("GPU temperature", "°C", "temperature_celsius"),
        _of_gpus("GPU clock", "MHz", "sm_clock_mhz"),
        _of_gpus(
            "PCIe",
            BYTES_PER_SECOND,
            "pcie_receive_bytes_per_second|received",
            "pcie_send_bytes_per_second|sent",
        ),
        _of_gpus(
            "NVLink",
            BYTES_PER_SECOND,
            "nvlink_receive_bytes_per_second|received",
            "nvlink_send_bytes_per_second|sent",
        ),
        _of_gpus(
            "JPEG and video decoders", "%", "jpeg_percent|JPEG", "decoder_percent|video"
        ),
        _of_gpus("Errors of the driver (XID)", "number", "xid"),
    ),
)
CPU = Group(
    "cpu",
    "CPU",
    (
        _CPU,
        Kind(
            "Main process",
            "cores",
            {
                "job/main_cpu_cores": "all threads",
                "job/main_thread_cpu_cores": "main thread",
            },
        ),
        Kind(
            "Loader workers",
            "cores",
            {
                "job/worker_cpu_cores_max": "busiest",
                "job/worker_cpu_cores": "mean",
                "job/worker_cpu_cores_min": "idlest",
            },
        ),
        Kind(
            "Cores the job may use",
            "%",
            {
                "cores/busiest_percent": "busiest",
                "cores/median_percent": "median",
                "cores/idlest_percent": "idlest",
            },
            top=100.0,
        ),
        Kind(
            "Time waiting for a core",
            SHARE,
            {
                "pressure/cpu_some_share": "some task",
                "job/main_thread_core_wait_share": "main thread",
                "job/worker_core_wait_share": "mean worker",
            },
        ),
        Kind(
            "Stopped by the CPU quota",
            SHARE,
            {"cgroup/throttled_share": "of scheduler periods"},
        ),
        Kind(
            "CPU of the host",
            "%",
            {
                "host/cpu_percent": "busy",
                "host/cpu_wait_percent": "idle, waiting for a disk",
                "host/cpu_steal_percent": "taken by its own host",
            },
            top=100.0,
        ),
        Kind(
            "Processes and threads",
            "",
            {
                "host/running_processes": "running on the host",
                "job/threads": "threads of the job",
                "job/workers": "workers",
            },
        ),
        Kind("CPU clock", "MHz", {"host/cpu_mhz": "mean"}),
    ),
)
MEMORY = Group(
    "memory",
    "Memory",
    (
        _MEMORY,
        Kind(
            "Files held in memory",
            BYTES,
            {"cgroup/page_cache_bytes": "container", "host/page_cache_bytes": "host"},
        ),
        Kind(
            "Shared memory in use",
            BYTES,
            {
                "storage/shared_memory/used_bytes": "/dev/shm",
                "host/shared_memory_bytes": "host",
            },
            limit="facts/storage/shared_memory/total_bytes",
        ),
        Kind(
            "Time waiting for memory",
            SHARE,
            {
                "pressure/memory_some_share": "some task",
                "pressure/memory_full_share": "all tasks",
            },
        ),
        Kind(
            "Swap",
            BYTES_PER_SECOND,
            {
                "host/swap_in_bytes_per_second": "read back",
                "host/swap_out_bytes_per_second": "written",
            },
        ),
        Kind(
            "Pages read from a disk",
            "1/s",
            {
                "job/major_faults_per_second": "job",
                "host/major_faults_per_second": "host",
            },
        ),
        Kind(
            "Processes killed for memory",
            "since the start",
            {"cgroup/oom_kills": "container", "host/oom_kills": "host"},
        ),
    ),
)
STORAGE = Group(
    "storage",
    "Storage and network",
    (
        _DISK,
        Kind(
            "Read by the job",
            BYTES_PER_SECOND,
            {
                "job/requested_bytes_per_second": "by system calls",
                "job/read_bytes_per_second": "from storage",
            },
        ),
        Kind(
            "Requests to disks",
            "1/s",
            {
                "host/disk_reads_per_second": "reads",
                "host/disk_writes_per_second": "writes",
            },
        ),
        Kind(
            "Time a request takes",
            SECONDS,
            {"host/disk_read_seconds": "read", "host/disk_write_seconds": "write"},
        ),
        Kind("Busiest disk", "%", {"host/disk_busiest_percent": "busy"}, top=100.0),
        Kind(
            "Time waiting for disks",
            SHARE,
            {
                "pressure/io_some_share": "some task",
                "pressure/io_full_share": "all tasks",
            },
        ),
        Kind(
            "Workers waiting for storage",
            "",
            {"job/workers_blocked": "waiting", "job/workers": "all"},
        ),
        _NETWORK,
        Kind(
            "File systems in use",
            SHARE,
            {
                "storage/work/used_share": "working directory",
                "storage/data/used_share": "data",
            },
        ),
    ),
)
AGENT = Group(
    "agent",
    "Agent",
    (
        Kind("CPU of the agent", SHARE, {"agent/cpu_share": "of a core"}),
        Kind("Ticks come late by", SECONDS, {"agent/tick_late_seconds": "late"}),
        Kind(
            "Time each probe takes", SECONDS, {"agent/probes/<name>_seconds": "<name>"}
        ),
    ),
)
GROUPS = (OVERVIEW, GPUS, CPU, MEMORY, STORAGE, AGENT)

# What can be looked at GPU by GPU, by what stands for it in addresses.
EACH_GPU = {
    next(iter(kind.measures)).removeprefix("gpu/<i>/"): kind for kind in GPUS.kinds
}
