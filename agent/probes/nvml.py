"""NVIDIA GPUs, through the driver's management library."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from agent.background import importing
from agent.probes.probe import Facts, ProbeUnavailable, Sample
from agent.values import Value

_MILLIWATTS = 1000.0


class NvmlProbe:
    """Reads every GPU this process may see, by the driver's numbers."""

    name = "nvml"

    # Any: the library is loaded only where there is one, and has no types.
    def __init__(
        self, library: Any = None, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._library = library or _load()
        try:
            self._library.nvmlInit()
            count = self._library.nvmlDeviceGetCount()
            handles = [
                self._library.nvmlDeviceGetHandleByIndex(i) for i in range(count)
            ]
            self._gpus = {
                index: _Gpu(self._library, handle)
                for index, handle in enumerate(handles)
                if self._is_visible(index, handle, environment)
            }
        except self._library.NVMLError as error:
            raise ProbeUnavailable(f"no NVIDIA driver ({error})") from error

    def facts(self) -> Facts:
        facts: dict[str, Value] = {"facts/gpu_count": len(self._gpus)}
        for index, gpu in self._gpus.items():
            facts.update({f"facts/gpu/{index}/{k}": v for k, v in gpu.facts().items()})
        return facts

    def sample(self, now: float) -> Sample:
        del now  # the driver averages by itself
        return {
            f"gpu/{index}/{name}": value
            for index, gpu in self._gpus.items()
            for name, value in gpu.sample().items()
        }

    def _is_visible(
        self, index: int, handle: Any, environment: Mapping[str, str]
    ) -> bool:
        listed = environment.get("CUDA_VISIBLE_DEVICES")
        if listed is None:
            return True
        # An id may be shortened, as long as it stays unique.
        uuid = _as_text(self._library.nvmlDeviceGetUUID(handle))
        for name in (part.strip() for part in listed.split(",")):
            if name.startswith("MIG-"):
                # A slice of some GPU: which one, only CUDA knows for sure.
                return True
            if name == str(index) or (
                name.startswith("GPU-") and uuid.startswith(name)
            ):
                return True
        return False


class _Gpu:
    """One GPU; readings that it does not offer are asked for only once."""

    def __init__(self, library: Any, handle: Any) -> None:
        self._library = library
        self._handle = handle
        self._readers: list[Callable[[], Sample]] = [
            self._utilization,
            self._memory,
            self._power,
            self._temperature,
            self._clock,
        ]

    def facts(self) -> dict[str, Value]:
        readers: dict[str, Callable[[], Value]] = {
            "name": lambda: _as_text(self._library.nvmlDeviceGetName(self._handle)),
            "memory_total_bytes": lambda: int(self._memory_info().total),
            "power_limit_watts": self._power_limit,
        }
        facts: dict[str, Value] = {}
        for name, read in readers.items():
            # Not offered by this GPU: absent.
            with contextlib.suppress(self._library.NVMLError):
                facts[name] = read()
        return facts

    def sample(self) -> dict[str, float]:
        readings: dict[str, float] = {}
        for read in list(self._readers):
            readings.update(self._sample_one(read))
        return readings

    def _sample_one(self, read: Callable[[], Sample]) -> Sample:
        try:
            return read()
        except self._library.NVMLError as error:
            if getattr(error, "value", None) == self._library.NVML_ERROR_NOT_SUPPORTED:
                self._readers.remove(read)
            return {}

    def _utilization(self) -> Sample:
        rates = self._library.nvmlDeviceGetUtilizationRates(self._handle)
        return {
            "utilization_percent": float(rates.gpu),
            "memory_utilization_percent": float(rates.memory),
        }

    def _memory(self) -> Sample:
        return {"memory_used_bytes": float(self._memory_info().used)}

    def _memory_info(self) -> Any:
        library = self._library
        try:
            # Version 2 counts what the driver keeps for itself apart.
            return library.nvmlDeviceGetMemoryInfo(self._handle, library.nvmlMemory_v2)
        except (AttributeError, library.NVMLError):
            return library.nvmlDeviceGetMemoryInfo(self._handle)

    def _power(self) -> Sample:
        milliwatts = self._library.nvmlDeviceGetPowerUsage(self._handle)
        return {"power_watts": milliwatts / _MILLIWATTS}

    def _power_limit(self) -> float:
        milliwatts = self._library.nvmlDeviceGetEnforcedPowerLimit(self._handle)
        return float(milliwatts / _MILLIWATTS)

    def _temperature(self) -> Sample:
        library = self._library
        # The plain call is deprecated, its successor missing in older drivers.
        try:
            degrees = library.nvmlDeviceGetTemperatureV(
                self._handle, library.NVML_TEMPERATURE_GPU
            )
        except (AttributeError, library.NVMLError):
            degrees = library.nvmlDeviceGetTemperature(
                self._handle, library.NVML_TEMPERATURE_GPU
            )
        return {"temperature_celsius": float(degrees)}

    def _clock(self) -> Sample:
        library = self._library
        clock = library.nvmlDeviceGetClockInfo(self._handle, library.NVML_CLOCK_SM)
        return {"sm_clock_mhz": float(clock)}


def _load() -> Any:
    try:
        with importing():
            import pynvml  # noqa: PLC0415
    except ImportError as error:
        raise ProbeUnavailable("nvidia-ml-py is not installed") from error
    return pynvml


def _as_text(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
