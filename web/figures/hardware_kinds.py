"""The rows of the hardware page, by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from web.figures.texts import gettext, gettext_noop

BYTES, BYTES_PER_SECOND, SECONDS = "B", "B/s", "s"
# Readings from 0 to 1, shown as a percentage.
SHARE = "share"
# Drawn in the same color everywhere: that of the time breakdown.
WAITING = "step/data_wait_seconds"
COLOURS = {WAITING: "var(--use-wait)"}
# A GPU's number stands for <i>.
EACH = gettext_noop("GPU <i>")
NO_GPU = gettext_noop("No GPU was visible to this run.")
NO_STEPS = gettext_noop(
    "Step times were not measured. To measure them, add: for batch in"
    " run.loader(loader):"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A row: its measures by path below the stage, and a text for missing data.

    Its texts are untranslated; the caller translates them.
    """

    title: str
    unit: str
    measures: Mapping[str, str]
    absent: str = ""
    limit: str = ""  # the fact that bounds the readings
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that are shown together; `name` is used in addresses."""

    name: str
    heading: str
    kinds: Sequence[Kind]

    @property
    def title(self) -> str:
        return gettext(self.heading)

    @property
    def measures(self) -> frozenset[str]:
        return frozenset(measure for kind in self.kinds for measure in kind.measures)


def _of_gpus(
    title: str, unit: str, paths: str | Mapping[str, str], *, top: float | None = None
) -> Kind:
    """Return a row with one line per GPU, or with several lines named per GPU."""
    named = {paths: EACH} if isinstance(paths, str) else paths
    measures = {f"gpu/<i>/{path}": name for path, name in named.items()}
    return Kind(title, unit, measures, top=top)


_GPU_UTILIZATION = Kind(
    gettext_noop("GPU utilization"),
    "%",
    {"gpu/<i>/utilization_percent": EACH},
    absent=NO_GPU,
    top=100.0,
)
_GPU_MEMORY = Kind(
    gettext_noop("GPU memory"),
    BYTES,
    {"gpu/<i>/memory_used_bytes": EACH},
    limit="facts/gpu/0/memory_total_bytes",
)
_GPU_POWER = Kind(gettext_noop("GPU power"), "W", {"gpu/<i>/power_watts": EACH})
_CPU = Kind(
    gettext_noop("CPU cores in use"),
    gettext_noop("cores"),
    {
        "job/cpu_cores": gettext_noop("all processes"),
        "job/main_cpu_cores": gettext_noop("main process"),
        "job/worker_cpu_cores": gettext_noop("mean worker"),
    },
    absent=gettext_noop("CPU use was not measured."),
    limit="facts/effective_cores",
)
_STEPS = Kind(
    gettext_noop("Step time"),
    SECONDS,
    {"step/seconds": gettext_noop("step"), WAITING: gettext_noop("waiting for data")},
    absent=NO_STEPS,
)
_MEMORY = Kind(
    gettext_noop("Memory"),
    BYTES,
    {
        "job/memory_bytes": gettext_noop("all processes"),
        "cgroup/memory_used_bytes": gettext_noop("container"),
        "host/memory_used_bytes": gettext_noop("whole host"),
    },
    absent=gettext_noop("Memory was not measured."),
    limit="facts/memory_limit_bytes",
)
_DISK = Kind(
    gettext_noop("Disk"),
    BYTES_PER_SECOND,
    {
        "job/read_bytes_per_second": gettext_noop("job read"),
        "host/disk_read_bytes_per_second": gettext_noop("host read"),
        "host/disk_write_bytes_per_second": gettext_noop("host write"),
    },
    absent=gettext_noop("Disk traffic was not measured."),
)
_NETWORK = Kind(
    gettext_noop("Network"),
    BYTES_PER_SECOND,
    {
        "host/network_receive_bytes_per_second": gettext_noop("received"),
        "host/network_send_bytes_per_second": gettext_noop("sent"),
    },
    absent=gettext_noop("Network traffic was not measured."),
)

OVERVIEW = Group(
    "",
    gettext_noop("Overview"),
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
    gettext_noop("GPUs"),
    (
        _GPU_UTILIZATION,
        _of_gpus(
            gettext_noop("Lowest GPU utilization (5th percentile)"),
            "%",
            "utilization_p5_percent",
            top=100.0,
        ),
        _of_gpus(
            gettext_noop("Active multiprocessors (SM)"),
            "%",
            "gpm/sm_active_percent",
            top=100.0,
        ),
        _of_gpus(
            gettext_noop("Tensor cores"), "%", "gpm/tensor_active_percent", top=100.0
        ),
        _of_gpus(
            gettext_noop("Memory bandwidth"), "%", "gpm/dram_active_percent", top=100.0
        ),
        _of_gpus(
            gettext_noop("Memory controller"),
            "%",
            "memory_utilization_percent",
            top=100.0,
        ),
        _GPU_MEMORY,
        _of_gpus(
            gettext_noop("GPU memory used by other jobs"), BYTES, "other_memory_bytes"
        ),
        _GPU_POWER,
        _of_gpus(
            gettext_noop("Power throttling"),
            SHARE,
            "limited/power_share",
        ),
        _of_gpus(
            gettext_noop("Thermal throttling"),
            SHARE,
            {
                "limited/thermal_software_share": gettext_noop("GPU <i> software"),
                "limited/thermal_hardware_share": gettext_noop("GPU <i> hardware"),
            },
        ),
        _of_gpus(gettext_noop("GPU temperature"), "°C", "temperature_celsius"),
        _of_gpus(gettext_noop("GPU clock"), "MHz", "sm_clock_mhz"),
        _of_gpus(
            gettext_noop("PCIe"),
            BYTES_PER_SECOND,
            {
                "pcie_receive_bytes_per_second": gettext_noop("GPU <i> received"),
                "pcie_send_bytes_per_second": gettext_noop("GPU <i> sent"),
            },
        ),
        _of_gpus(
            gettext_noop("NVLink"),
            BYTES_PER_SECOND,
            {
                "nvlink_receive_bytes_per_second": gettext_noop("GPU <i> received"),
                "nvlink_send_bytes_per_second": gettext_noop("GPU <i> sent"),
            },
        ),
        _of_gpus(
            gettext_noop("JPEG and video decoders"),
            "%",
            {
                "jpeg_percent": gettext_noop("GPU <i> JPEG"),
                "decoder_percent": gettext_noop("GPU <i> video"),
            },
        ),
        _of_gpus(gettext_noop("Driver errors (XID)"), gettext_noop("number"), "xid"),
    ),
)
CPU = Group(
    "cpu",
    gettext_noop("CPU"),
    (
        _CPU,
        Kind(
            gettext_noop("Main process"),
            gettext_noop("cores"),
            {
                "job/main_cpu_cores": gettext_noop("all threads"),
                "job/main_thread_cpu_cores": gettext_noop("main thread"),
            },
        ),
        Kind(
            gettext_noop("Loader workers"),
            gettext_noop("cores"),
            {
                "job/worker_cpu_cores_max": gettext_noop("busiest"),
                "job/worker_cpu_cores": gettext_noop("mean"),
                "job/worker_cpu_cores_min": gettext_noop("least busy"),
            },
        ),
        Kind(
            gettext_noop("Utilization of available cores"),
            "%",
            {
                "cores/busiest_percent": gettext_noop("busiest"),
                "cores/median_percent": gettext_noop("median"),
                "cores/idlest_percent": gettext_noop("least busy"),
            },
            top=100.0,
        ),
        Kind(
            gettext_noop("Time waiting for CPU"),
            SHARE,
            {
                "pressure/cpu_some_share": gettext_noop("any task"),
                "job/main_thread_core_wait_share": gettext_noop("main thread"),
                "job/worker_core_wait_share": gettext_noop("mean worker"),
            },
        ),
        Kind(
            gettext_noop("CPU quota throttling"),
            SHARE,
            {"cgroup/throttled_share": gettext_noop("share of scheduler periods")},
        ),
        Kind(
            gettext_noop("Host CPU"),
            "%",
            {
                "host/cpu_percent": gettext_noop("busy"),
                "host/cpu_wait_percent": gettext_noop("I/O wait"),
                "host/cpu_steal_percent": gettext_noop("steal"),
            },
            top=100.0,
        ),
        Kind(
            gettext_noop("Processes and threads"),
            "",
            {
                "host/running_processes": gettext_noop("running on the host"),
                "job/threads": gettext_noop("job threads"),
                "job/workers": gettext_noop("workers"),
            },
        ),
        Kind(gettext_noop("CPU clock"), "MHz", {"host/cpu_mhz": gettext_noop("mean")}),
    ),
)
MEMORY = Group(
    "memory",
    gettext_noop("Memory"),
    (
        _MEMORY,
        Kind(
            gettext_noop("Page cache"),
            BYTES,
            {
                "cgroup/page_cache_bytes": gettext_noop("container"),
                "host/page_cache_bytes": gettext_noop("host"),
            },
        ),
        Kind(
            gettext_noop("Memory of the largest loader worker"),
            BYTES,
            {"job/worker_memory_bytes_max": gettext_noop("resident")},
        ),
        Kind(
            gettext_noop("Shared memory in use"),
            BYTES,
            {
                "storage/shared_memory/used_bytes": "/dev/shm",
                "host/shared_memory_bytes": gettext_noop("host"),
            },
            limit="facts/storage/shared_memory/total_bytes",
        ),
        Kind(
            gettext_noop("Time waiting for memory"),
            SHARE,
            {
                "pressure/memory_some_share": gettext_noop("any task"),
                "pressure/memory_full_share": gettext_noop("all tasks"),
            },
        ),
        Kind(
            gettext_noop("Swap"),
            BYTES_PER_SECOND,
            {
                "host/swap_in_bytes_per_second": gettext_noop("swapped in"),
                "host/swap_out_bytes_per_second": gettext_noop("swapped out"),
            },
        ),
        Kind(
            gettext_noop("Major page faults"),
            "1/s",
            {
                "job/major_faults_per_second": gettext_noop("job"),
                "host/major_faults_per_second": gettext_noop("host"),
            },
        ),
        Kind(
            gettext_noop("OOM kills"),
            gettext_noop("since start"),
            {
                "cgroup/oom_kills": gettext_noop("container"),
                "host/oom_kills": gettext_noop("host"),
            },
        ),
    ),
)
STORAGE = Group(
    "storage",
    gettext_noop("Storage and network"),
    (
        _DISK,
        Kind(
            gettext_noop("Job reads"),
            BYTES_PER_SECOND,
            {
                "job/requested_bytes_per_second": gettext_noop("by system calls"),
                "job/read_bytes_per_second": gettext_noop("from storage"),
            },
        ),
        Kind(
            gettext_noop("Disk requests"),
            "1/s",
            {
                "host/disk_reads_per_second": gettext_noop("reads"),
                "host/disk_writes_per_second": gettext_noop("writes"),
            },
        ),
        Kind(
            gettext_noop("Disk request latency"),
            SECONDS,
            {
                "host/disk_read_seconds": gettext_noop("read"),
                "host/disk_write_seconds": gettext_noop("write"),
            },
        ),
        Kind(
            gettext_noop("Busiest disk"),
            "%",
            {"host/disk_busiest_percent": gettext_noop("busy")},
            top=100.0,
        ),
        Kind(
            gettext_noop("Time waiting for I/O"),
            SHARE,
            {
                "pressure/io_some_share": gettext_noop("any task"),
                "pressure/io_full_share": gettext_noop("all tasks"),
                "job/main_disk_wait_share": gettext_noop("main process"),
                "job/worker_disk_wait_share": gettext_noop("mean worker"),
            },
        ),
        Kind(
            gettext_noop("Workers waiting for storage"),
            "",
            {
                "job/workers_blocked": gettext_noop("waiting"),
                "job/workers": gettext_noop("all"),
            },
        ),
        _NETWORK,
        Kind(
            gettext_noop("File system usage"),
            SHARE,
            {
                "storage/work/used_share": gettext_noop("working directory"),
                "storage/data/used_share": gettext_noop("data"),
            },
        ),
    ),
)
AGENT = Group(
    "agent",
    gettext_noop("Agent"),
    (
        Kind(
            gettext_noop("Agent CPU"),
            SHARE,
            {"agent/cpu_share": gettext_noop("share of one core")},
        ),
        Kind(
            gettext_noop("Sampling delay"),
            SECONDS,
            {"agent/tick_late_seconds": gettext_noop("late")},
        ),
        Kind(
            gettext_noop("Probe duration"),
            SECONDS,
            {"agent/probes/<name>_seconds": "<name>"},
        ),
    ),
)
GROUPS = (OVERVIEW, GPUS, CPU, MEMORY, STORAGE, AGENT)

# Kinds with a view per GPU, by their name in addresses.
EACH_GPU = {
    next(iter(kind.measures)).removeprefix("gpu/<i>/"): kind for kind in GPUS.kinds
}
