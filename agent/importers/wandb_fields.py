"""Maps names of W&B's system metrics to paths (pure).

The names are those of W&B's reference. Shares of a limit that is also imported are
skipped.
"""

from __future__ import annotations

import re

MB = 1024.0 * 1024.0

_PREFIXES = ("system.", "system/")
GPU = re.compile(r"gpu\.(\d{1,3})\.(\w{1,60})")
PROCESS_GPU = re.compile(r"(?:system[./])?gpu\.process\.(\d{1,3})\.")
CORES = re.compile(r"cpu\.\d{1,5}\.cpu_percent")

# Below `gpu/<i>/`.
GPU_FIELDS = {
    "gpu": "utilization_percent",
    "memory": "memory_utilization_percent",
    "memoryAllocatedBytes": "memory_used_bytes",
    "temp": "temperature_celsius",
    "powerWatts": "power_watts",
    "enforcedPowerLimitWatts": "power_limit_watts",
    "smClock": "sm_clock_mhz",
    "memoryClock": "memory_clock_mhz",
    "fanSpeed": "fan_percent",
    "encoderUtilization": "encoder_percent",
    "pcieLinkGen": "pcie_generation",
    "pcieLinkWidth": "pcie_width",
    "correctedMemoryErrors": "ecc_corrected",
    "uncorrectedMemoryErrors": "ecc_uncorrected",
}
HOST_FIELDS = {
    "proc.memory.rssMB": ("job/memory_bytes", MB),
    "proc.cpu.threads": ("job/threads", 1.0),
}
# Percent of all cores. Old versions of W&B measured the whole machine under the name
# "cpu", newer ones the run's process; only the old ones have "disk".
HOST_CPU, OLD_ONLY = "host/cpu_percent", "disk"
# Newer versions count each device.
DEVICE_RATE = re.compile(r"disk\.[^.]{1,60}\.(in|out)")
# Counters since the start of the run, imported as rates.
RATES = {
    "disk.in": ("host/disk_read_bytes_per_second", MB),
    "disk.out": ("host/disk_write_bytes_per_second", MB),
    "network.recv": ("host/network_receive_bytes_per_second", 1.0),
    "network.sent": ("host/network_send_bytes_per_second", 1.0),
}
# Measured for one process; the agent measures all processes of the job.
OF_ONE_PROCESS = (("job/memory_bytes", "B"), ("job/threads", ""))

# Redundant with other metrics, or meaningless alone.
KNOWN = frozenset(
    {
        "memory",
        "memory_percent",
        "proc.memory.percent",
        "proc.memory.availableMB",
        "gpu.count",
        OLD_ONLY,
    }
)
# Names of system metrics that scripts use as well.
COMMON = frozenset({"cpu", "disk", "memory", "memory_percent"})
_PASSED_OVER = re.compile(
    r"gpu\.process\..*|gpu\.\d+\.(powerPercent|graphicsClock)|disk\..*\.usage(GB|Percent)"
)


def base_name(key: str) -> str:
    """Return a metric's name without its prefix; `_` if it is skipped."""
    name = key
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return "_" if _PASSED_OVER.fullmatch(name) else name


def is_system_metric(key: str) -> bool:
    """Return whether a name is a system metric."""
    if key.startswith(_PREFIXES):
        return True
    name = base_name(key)
    is_listed = name in HOST_FIELDS or rate_of(name) is not None or name in KNOWN
    is_of_part = GPU.fullmatch(name) or CORES.fullmatch(name)
    return name == "_" or is_listed or is_of_part is not None


def rate_of(name: str) -> tuple[str, float] | None:
    """Return the path of a counter's rate, and the factor to bytes."""
    of_device = DEVICE_RATE.fullmatch(name)
    return RATES.get(f"disk.{of_device[1]}" if of_device else name)
