"""Describes every path under `gpu/<i>/` that NVIDIA's driver supplies."""

from __future__ import annotations

from seamark.probes.gpu_catalogue import ENERGY, PCIE_HEALTH, USERS, shares_of_users
from seamark.probes.nvidia import fields, gpm, window
from seamark.probes.reading import COARSE, COUNTED, SAMPLED, Reading, Scope

NVML, COUNTERS, MASK = "NVML", "NVML counters", "NVML event reasons"
SAMPLES, GPM, EVENTS = "NVML samples", "GPM", "NVML events"
WINDOW = "NVML, 20 ms"

_POLLED = (
    ("utilization_percent", "% of time", "at least one kernel running", 1),
    ("memory_utilization_percent", "% of time", "memory controller busy", 1),
    (
        "memory_used_bytes",
        "B",
        "without memory reserved by the driver, if known",
        1,
    ),
    ("memory_reserved_bytes", "B", "reserved by the driver", 1),
    ("power_watts", "W", "mean of the last second on most cards since Ampere", 1),
    ("sm_clock_mhz", "MHz", "", 1),
    ("temperature_celsius", "°C", "", 1),
    ("memory_clock_mhz", "MHz", "", 5),
    ("performance_state", "", "0 is the fastest", 5),
    ("temperature_margin_celsius", "°C", "distance to the slowdown temperature", 5),
    ("encoder_percent", "% of time", "", 5),
    ("decoder_percent", "% of time", "", 5),
    ("jpeg_percent", "% of time", "", 5),
    ("optical_flow_percent", "% of time", "", 5),
    ("fan_percent", "% of full speed", "", 30),
    ("pcie_generation", "", "current; lower when the card is idle", 30),
    ("pcie_width", "lanes", "current", 30),
    ("graphics_processes", "", "", 30),
    ("nvlinks", "", "active links to other GPUs", 60),
    ("power_limit_watts", "W", "enforced", 60),
    ("power_limit_requested_watts", "W", "requested", 60),
)
_REASONS = {
    "power": "power limit",
    "thermal": "thermal policy",
    "sync_boost": "synchronization with other GPUs",
    "board": "board limit",
    "low_utilization": "low utilization",
    "reliability": "voltage limit",
    "base_clocks": "any reason, below base clocks",
    "any_reason": "any reason, below application clocks",
    "thermal_software": "temperature, by the driver",
    "thermal_hardware": "temperature, by the card",
    "power_brake": "power brake of the power supply",
    "application_clocks": "user-defined clocks",
    "hardware_slowdown": "temperature or power, by the card",
    "display_clocks": "display clock setting",
}
_ONLY_MASKED = ("application_clocks", "hardware_slowdown", "display_clocks")
_MASKED = (
    "power",
    "sync_boost",
    "board",
    "reliability",
    "thermal_software",
    "thermal_hardware",
    "power_brake",
    *_ONLY_MASKED,
)
_SPREADS = (
    ("utilization", "percent", "% of time"),
    ("memory_utilization", "percent", "% of time"),
    ("power", "watts", "W"),
    ("sm_clock", "mhz", "MHz"),
    ("encoder", "percent", "% of time"),
    ("decoder", "percent", "% of time"),
    ("jpeg", "percent", "% of time"),
)
_PARTS = ("min", "mean", "max", "p5", "p50", "p95")
_BYTES = {
    "pcie_send": "from the GPU to the host",
    "pcie_receive": "from the host to the GPU",
    "nvlink_send": "to other GPUs, all links",
    "nvlink_receive": "from other GPUs, all links",
    "nvlink_raw_send": "with protocol overhead",
    "nvlink_raw_receive": "with protocol overhead",
    "c2c_send": "to the CPU (Grace Hopper)",
    "c2c_receive": "from the CPU (Grace Hopper)",
}
_HEALTH = (
    *PCIE_HEALTH.items(),
    ("pcie_errors", ""),
    ("pcie_bad_tlps", "damaged transaction-layer packets"),
    ("pcie_bad_dllps", "damaged link-layer packets"),
    ("pcie_receiver_errors", ""),
    ("pcie_lane_errors", ""),
    ("nvlink_errors", "damaged packets and recoveries"),
    ("nvlink_discarded_packets", "NVLink 5"),
    (
        "nvlink_integrity_errors",
        "times a link exceeded its error limit (NVLink 5)",
    ),
    ("nvlink_failed_recoveries", "links that stayed down (NVLink 5)"),
    ("ecc_corrected", "since the driver was loaded"),
    ("ecc_uncorrected", "since the driver was loaded"),
    ("ecc_corrected_ever", "lifetime of the card"),
    ("ecc_uncorrected_ever", "lifetime of the card"),
    ("remapped_rows", "replaced memory rows"),
    ("remapped_rows_pending", "1: rows will be replaced at the next GPU reset"),
    ("remapped_rows_failed", "1: a replacement failed"),
    ("retired_pages", "retired memory pages"),
    ("retired_pages_pending", "1: pages will be retired at the next GPU reset"),
)
_USERS = (
    *USERS,
    *shares_of_users("sm", "sum over processes"),
    *shares_of_users("memory_utilization", "memory controller, sum over processes"),
    *shares_of_users("encoder", "sum over processes"),
    *shares_of_users("decoder", "sum over processes"),
)
_GPM_MEANINGS = {
    "graphics_active_percent": "% of time|any engine active",
    "sm_active_percent": "% of SMs|with work, mean over time",
    "sm_occupancy_percent": "% of warps|resident warps relative to the maximum",
    "tensor_active_percent": "% of time|tensor cores active",
    "tensor_dmma_active_percent": "% of time|64-bit tensor cores active",
    "dram_active_percent": "% of bandwidth|memory bandwidth in use",
}


def _of_gpu() -> list[Reading]:
    gpu = Scope.GPU
    rows = [
        Reading(path, unit, gpu, NVML, SAMPLED, text, float(seconds))
        for path, unit, text, seconds in _POLLED
    ]
    for name, unit, words in _SPREADS:
        for part in _PARTS:
            text = "distribution of the driver's samples since the last read"
            path = f"{name}_{part}_{unit}"
            if path == fields.MEAN_POWER:
                text = "mean of these samples on cards without an energy counter"
            rows.append(Reading(path, words, gpu, SAMPLES, SAMPLED, text, 5))
        text = "number of samples in the distribution"
        rows.append(Reading(f"{name}_samples", "", gpu, SAMPLES, SAMPLED, text, 5))
    rows += [
        Reading(path, "", gpu, COUNTERS, COUNTED, text, 60) for path, text in _HEALTH
    ]
    rows += [
        Reading(path, unit, Scope.GPU_JOB, NVML, SAMPLED, text, 5)
        for path, unit, text in _USERS
    ]
    return [*rows, *_counted()]


def _counted() -> list[Reading]:
    gpu = Scope.GPU
    rows = [
        *(
            Reading(path, unit, gpu, COUNTERS, COUNTED, text, 5)
            for path, unit, text in ENERGY
        ),
        Reading("memory_temperature_celsius", "°C", gpu, COUNTERS, SAMPLED, "", 5),
        Reading(
            "power_average_watts",
            "W",
            gpu,
            COUNTERS,
            SAMPLED,
            "the driver's mean of one second; absent on A100 and before Ampere",
            5,
        ),
        Reading("power_instant_watts", "W", gpu, COUNTERS, SAMPLED, "current", 5),
        Reading("idle_share", "0–1", gpu, MASK, COARSE, "1: nothing running"),
    ]
    for name, reason in _REASONS.items():
        path, text = f"limited/{name}_share", reason
        if path in fields.TIMES_LIMITED:
            rows.append(Reading(path, "0–1", gpu, COUNTERS, COUNTED, text, 5))
        if name in _MASKED:
            rows.append(Reading(path, "0–1", gpu, MASK, COARSE, text))
    for name, text in _BYTES.items():
        path = f"{name}_bytes_per_second"
        if path in fields.BYTES:
            rows.append(Reading(path, "B/s", gpu, COUNTERS, COUNTED, text, 5))
        if path in gpm.BYTES:
            rows.append(Reading(path, "B/s", gpu, GPM, COUNTED, text))
        if path in window.PATHS:
            rows.append(Reading(path, "B/s", gpu, WINDOW, COARSE, text, 30))
    rows += _of_gpm(gpu)
    return rows


def _of_gpm(scope: Scope) -> list[Reading]:
    rows = []
    for path in (*gpm.PERCENTS, *gpm.ENGINES):
        unit, _, text = _GPM_MEANINGS.get(path, "% of time|").partition("|")
        if path in gpm.ENGINES:
            text = "busiest engine"
        rows.append(Reading(f"gpm/{path}", unit, scope, GPM, COUNTED, text))
    for path in gpm.CACHES:
        text = "L2 cache hits; absent without requests"
        rows.append(Reading(f"gpm/{path}", "% of requests", scope, GPM, COUNTED, text))
    return rows


def _of_slices() -> list[Reading]:
    scope = Scope.MIG
    rows = [
        Reading("memory_used_bytes", "B", scope, NVML, SAMPLED),
        Reading("memory_reserved_bytes", "B", scope, NVML, SAMPLED),
        *(
            Reading(path, unit, scope, NVML, SAMPLED, text, 5)
            for path, unit, text in _USERS
            if not path.endswith("_percent")
        ),
        *_of_gpm(scope),
    ]
    rows += [Reading(path, "B/s", scope, GPM, COUNTED, "") for path in gpm.BYTES]
    return rows


def _below(prefix: str, rows: list[Reading]) -> list[Reading]:
    return [
        Reading(
            f"{prefix}{r.path}",
            r.unit,
            r.scope,
            r.source,
            r.quality,
            r.meaning,
            r.seconds,
        )
        for r in rows
    ]


READINGS = (*_below("gpu/<i>/", _of_gpu()), *_below("gpu/<i>/mig/<j>/", _of_slices()))
