"""Describes every path under `gpu/<i>/` that NVIDIA's driver supplies."""

from __future__ import annotations

from seamark.probes.gpu_catalogue import ENERGY, PCIE_HEALTH, USERS, shares_of_users
from seamark.probes.nvidia import fields, gpm, window
from seamark.probes.reading import COARSE, COUNTED, SAMPLED, Reading, Scope

NVML, COUNTERS, MASK = "NVML", "NVML counters", "NVML event reasons"
SAMPLES, GPM, EVENTS = "NVML samples", "GPM", "NVML events"
WINDOW = "NVML, 20 ms"

_POLLED = (
    ("utilization_percent", "% of time", "at least one kernel ran", 1),
    ("memory_utilization_percent", "% of time", "the memory's controller was busy", 1),
    (
        "memory_used_bytes",
        "B",
        "without what the driver keeps, where it tells apart",
        1,
    ),
    ("memory_reserved_bytes", "B", "kept by the driver", 1),
    ("power_watts", "W", "a mean of the last second on most cards since Ampere", 1),
    ("sm_clock_mhz", "MHz", "", 1),
    ("temperature_celsius", "°C", "", 1),
    ("memory_clock_mhz", "MHz", "", 5),
    ("performance_state", "", "0 is the fastest", 5),
    ("temperature_margin_celsius", "°C", "left until this card slows down", 5),
    ("encoder_percent", "% of time", "", 5),
    ("decoder_percent", "% of time", "", 5),
    ("jpeg_percent", "% of time", "the JPEG decoder was busy", 5),
    ("optical_flow_percent", "% of time", "", 5),
    ("fan_percent", "% of full speed", "", 30),
    ("pcie_generation", "", "at the moment; falls when the card is idle", 30),
    ("pcie_width", "lanes", "at the moment", 30),
    ("graphics_processes", "", "that draw with it", 30),
    ("nvlinks", "", "links to other GPUs that are up", 60),
    ("power_limit_watts", "W", "that is enforced", 60),
    ("power_limit_requested_watts", "W", "that somebody asked for", 60),
)
_REASONS = {
    "power": "by the power limit",
    "thermal": "by the thermal policy",
    "sync_boost": "to keep step with other GPUs",
    "board": "by the board's limit",
    "low_utilization": "because there was little to do",
    "reliability": "by the voltage's limit",
    "base_clocks": "than its base clocks, whatever the reason",
    "any_reason": "than its application clocks, whatever the reason",
    "thermal_software": "by the driver, for the temperature",
    "thermal_hardware": "by the card itself, for the temperature",
    "power_brake": "by the power supply's brake",
    "application_clocks": "by clocks that somebody set",
    "hardware_slowdown": "by the card itself, for temperature or power",
    "display_clocks": "by the display's setting",
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
_PARTS = {
    "min": "the lowest",
    "mean": "mean",
    "max": "the highest",
    "p5": "5th percentile",
    "p50": "50th percentile",
    "p95": "95th percentile",
}
_BYTES = {
    "pcie_send": "from the GPU to the host",
    "pcie_receive": "from the host to the GPU",
    "nvlink_send": "to other GPUs, all links",
    "nvlink_receive": "from other GPUs, all links",
    "nvlink_raw_send": "with what the protocol adds",
    "nvlink_raw_receive": "with what the protocol adds",
    "c2c_send": "to the processor beside it",
    "c2c_receive": "from the processor beside it",
}
_HEALTH = (
    *PCIE_HEALTH.items(),
    ("pcie_errors", "since the agent began"),
    ("pcie_bad_tlps", "damaged packets of transactions since the agent began"),
    ("pcie_bad_dllps", "damaged packets of the link itself since the agent began"),
    ("pcie_receiver_errors", "since the agent began"),
    ("pcie_lane_errors", "since the agent began"),
    ("nvlink_errors", "damaged packets and recoveries since the agent began"),
    ("nvlink_discarded_packets", "since the agent began; of NVLink 5"),
    (
        "nvlink_integrity_errors",
        "times that a link had too many errors since the agent began; of NVLink 5",
    ),
    ("nvlink_failed_recoveries", "links that went down for good; of NVLink 5"),
    ("ecc_corrected", "since the driver was loaded"),
    ("ecc_uncorrected", "since the driver was loaded"),
    ("ecc_corrected_ever", "in the card's life"),
    ("ecc_uncorrected_ever", "in the card's life"),
    ("remapped_rows", "of memory, replaced for good"),
    ("remapped_rows_pending", "1: a reset of the GPU will replace some"),
    ("remapped_rows_failed", "1: a replacement did not succeed"),
    ("retired_pages", "of memory, given up for good"),
    ("retired_pages_pending", "1: a reset of the GPU will give up some"),
)
_USERS = (
    *USERS,
    *shares_of_users("sm", "; each 30 s while the job is alone on the card"),
    *shares_of_users("memory_utilization", ": the memory's controller"),
    *shares_of_users("encoder"),
    *shares_of_users("decoder"),
)
_GPM_MEANINGS = {
    "graphics_active_percent": "% of time|anything ran",
    "sm_active_percent": "% of SMs|that had work, mean over time",
    "sm_occupancy_percent": "% of warps|resident, of the most there could be",
    "tensor_active_percent": "% of time|tensor cores worked",
    "tensor_dmma_active_percent": "% of time|tensor cores multiplied 64-bit matrices",
    "dram_active_percent": "% of bandwidth|of the memory",
}


def _of_gpu() -> list[Reading]:
    gpu = Scope.GPU
    rows = [
        Reading(path, unit, gpu, NVML, SAMPLED, text, float(seconds))
        for path, unit, text, seconds in _POLLED
    ]
    for name, unit, words in _SPREADS:
        for part, of_them in _PARTS.items():
            text = f"{of_them} of the driver's samples since the last ones"
            path = f"{name}_{part}_{unit}"
            if path == fields.MEAN_POWER:
                text += ", of cards that do not count their energy"
            rows.append(Reading(path, words, gpu, SAMPLES, SAMPLED, text, 5))
        text = "how many samples these were"
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
            "the driver's mean of a second; absent on A100 and before Ampere",
            5,
        ),
        Reading("power_instant_watts", "W", gpu, COUNTERS, SAMPLED, "at the moment", 5),
        Reading("idle_share", "0–1", gpu, MASK, COARSE, "nothing ran, at the moment"),
    ]
    for name, reason in _REASONS.items():
        path, text = f"limited/{name}_share", f"of time with lower clocks {reason}"
        if path in fields.TIMES_LIMITED:
            rows.append(Reading(path, "0–1", gpu, COUNTERS, COUNTED, text, 5))
        if name in _MASKED:
            now = f"{text}; 0 or 1 at the moment"
            rows.append(Reading(path, "0–1", gpu, MASK, COARSE, now))
    for name, text in _BYTES.items():
        path = f"{name}_bytes_per_second"
        if path in fields.BYTES:
            rows.append(Reading(path, "B/s", gpu, COUNTERS, COUNTED, text, 5))
        if path in gpm.BYTES:
            rows.append(Reading(path, "B/s", gpu, GPM, COUNTED, text))
        if path in window.PATHS:
            rare = f"{text}, in 20 ms of each half minute"
            rows.append(Reading(path, "B/s", gpu, WINDOW, COARSE, rare, 30))
    rows += _of_gpm(gpu)
    return rows


def _of_gpm(scope: Scope) -> list[Reading]:
    rows = []
    for path in (*gpm.PERCENTS, *gpm.ENGINES):
        unit, _, text = _GPM_MEANINGS.get(path, "% of time|").partition("|")
        if path in gpm.ENGINES:
            text = "the busiest of these engines"
        rows.append(Reading(f"gpm/{path}", unit, scope, GPM, COUNTED, text))
    for path in gpm.CACHES:
        text = "that its cache served; absent without requests"
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
    rows += [
        Reading(
            path, "B/s", scope, GPM, COUNTED, "absent where the card does not count it"
        )
        for path in gpm.BYTES
    ]
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
