"""Instantaneous values of an NVIDIA GPU, one call each.

Each function takes the library and the handle of a GPU, and returns metrics by their
paths under `gpu/<i>/`.
"""

from __future__ import annotations

from typing import Any

from seamark.probes.nvidia.driver import (
    INVALID_ARGUMENT,
    NOT_SUPPORTED,
    NotOffered,
    code_of,
)
from seamark.probes.nvidia.fields import FieldValues

Sample = dict[str, float]

_MILLIWATTS = 1000.0
_REQUESTED = "POWER_REQUESTED_LIMIT"
_MAX_LINKS = 18  # for bindings without the constant


def utilization(library: Any, gpu: Any) -> Sample:
    rates = library.nvmlDeviceGetUtilizationRates(gpu)
    return {
        "utilization_percent": float(rates.gpu),
        "memory_utilization_percent": float(rates.memory),
    }


def memory(library: Any, gpu: Any) -> Sample:
    info = memory_info(library, gpu)
    readings = {"memory_used_bytes": float(info.used)}
    reserved = getattr(info, "reserved", None)
    if reserved is not None:
        readings["memory_reserved_bytes"] = float(reserved)
    return readings


def memory_info(library: Any, gpu: Any) -> Any:
    try:
        # Version 2 excludes memory reserved by the driver.
        return library.nvmlDeviceGetMemoryInfo(gpu, library.nvmlMemory_v2)
    except (AttributeError, library.NVMLError):
        return library.nvmlDeviceGetMemoryInfo(gpu)


def power(library: Any, gpu: Any) -> Sample:
    return {"power_watts": library.nvmlDeviceGetPowerUsage(gpu) / _MILLIWATTS}


def power_limit(library: Any, gpu: Any) -> Sample:
    milliwatts = library.nvmlDeviceGetEnforcedPowerLimit(gpu)
    return {"power_limit_watts": milliwatts / _MILLIWATTS}


def power_request(library: Any, gpu: Any) -> Sample:
    return {"power_limit_requested_watts": requested_limit(library, gpu)}


def requested_limit(library: Any, gpu: Any) -> float:
    values = FieldValues(library, gpu, [_REQUESTED]).read()
    # Older drivers distinguish it from the enforced limit by another call.
    milliwatts = values.get(_REQUESTED)
    if milliwatts is None:
        milliwatts = library.nvmlDeviceGetPowerManagementLimit(gpu)
    return float(milliwatts) / _MILLIWATTS


def temperature(library: Any, gpu: Any) -> Sample:
    # The plain call is deprecated, and older drivers lack its successor.
    try:
        degrees = library.nvmlDeviceGetTemperatureV(gpu, library.NVML_TEMPERATURE_GPU)
    except (AttributeError, library.NVMLError):
        degrees = library.nvmlDeviceGetTemperature(gpu, library.NVML_TEMPERATURE_GPU)
    return {"temperature_celsius": float(degrees)}


def temperature_margin(library: Any, gpu: Any) -> Sample:
    # The driver knows the slowdown temperature of this card.
    return {
        "temperature_margin_celsius": float(library.nvmlDeviceGetMarginTemperature(gpu))
    }


def fan(library: Any, gpu: Any) -> Sample:
    return {"fan_percent": float(library.nvmlDeviceGetFanSpeed(gpu))}


def sm_clock(library: Any, gpu: Any) -> Sample:
    clock = library.nvmlDeviceGetClockInfo(gpu, library.NVML_CLOCK_SM)
    return {"sm_clock_mhz": float(clock)}


def memory_clock(library: Any, gpu: Any) -> Sample:
    clock = library.nvmlDeviceGetClockInfo(gpu, library.NVML_CLOCK_MEM)
    return {"memory_clock_mhz": float(clock)}


def performance_state(library: Any, gpu: Any) -> Sample:
    try:
        state = library.nvmlDeviceGetPerformanceState(gpu)
    except (AttributeError, library.NVMLError):
        state = library.nvmlDeviceGetPowerState(gpu)
    # 32 means unknown.
    return {"performance_state": float(state)} if state < 32 else {}  # noqa: PLR2004


def link(library: Any, gpu: Any) -> Sample:
    return {
        "pcie_generation": float(library.nvmlDeviceGetCurrPcieLinkGeneration(gpu)),
        "pcie_width": float(library.nvmlDeviceGetCurrPcieLinkWidth(gpu)),
    }


def nvlinks(library: Any, gpu: Any) -> Sample:
    up = links_up(library, gpu)
    if up is None:
        raise NotOffered("it has no links")
    return {"nvlinks": float(up)}


def links_up(library: Any, gpu: Any) -> int | None:
    """Return the number of active links to other GPUs; None if it has none."""
    states: list[bool] = []
    try:
        states.extend(
            bool(library.nvmlDeviceGetNvLinkState(gpu, link))
            for link in range(getattr(library, "NVML_NVLINK_MAX_LINKS", _MAX_LINKS))
        )
    except library.NVMLError as error:
        # The first link that does not exist is rejected.
        if code_of(error) not in (INVALID_ARGUMENT, NOT_SUPPORTED):
            raise
    return sum(states) if states else None


def graphics(library: Any, gpu: Any) -> Sample:
    found = library.nvmlDeviceGetGraphicsRunningProcesses(gpu)
    return {"graphics_processes": float(len(found))}


def encoder(library: Any, gpu: Any) -> Sample:
    return {
        "encoder_percent": float(library.nvmlDeviceGetEncoderUtilization(gpu)[0]),
        "decoder_percent": float(library.nvmlDeviceGetDecoderUtilization(gpu)[0]),
    }


def jpeg(library: Any, gpu: Any) -> Sample:
    return {"jpeg_percent": float(library.nvmlDeviceGetJpgUtilization(gpu)[0])}


def optical_flow(library: Any, gpu: Any) -> Sample:
    return {"optical_flow_percent": float(library.nvmlDeviceGetOfaUtilization(gpu)[0])}


# The interval of each query, in seconds.
POLLED = (
    (1.0, utilization),
    (1.0, memory),
    (1.0, power),
    (1.0, sm_clock),
    (1.0, temperature),
    (5.0, memory_clock),
    (5.0, performance_state),
    (5.0, temperature_margin),
    (5.0, encoder),
    (5.0, jpeg),
    (5.0, optical_flow),
    (30.0, fan),
    (30.0, link),
    (30.0, graphics),
    (60.0, nvlinks),
    (60.0, power_limit),
    (60.0, power_request),
)
# A MIG slice has its own memory; all other values belong to the card.
POLLED_OF_SLICES = ((1.0, memory),)
