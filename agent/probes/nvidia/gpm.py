"""Hardware counters (GPM) of NVIDIA GPUs from Hopper on, without special permissions.

Each turn takes one sample and compares it with the previous one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from seamark.probes.nvidia.driver import INVALID_ARGUMENT, NOT_SUPPORTED, code_of
from seamark.probes.nvidia.fields import FieldValues
from seamark.probes.nvidia.polled import links_up

_MEBIBYTE = 2.0**20
_LINKS_TO_CPU = "C2C_LINK_COUNT"
# The library rejects samples with a shorter interval.
_SHORTEST_SECONDS = 0.11

# Paths under gpu/<i>/gpm/, and suffixes of the constants' names.
PERCENTS = {
    "graphics_active_percent": "GRAPHICS_UTIL",
    "sm_active_percent": "SM_UTIL",
    "sm_occupancy_percent": "SM_OCCUPANCY",
    "tensor_active_percent": "ANY_TENSOR_UTIL",
    "tensor_fp16_active_percent": "HMMA_TENSOR_UTIL",
    "tensor_int8_active_percent": "IMMA_TENSOR_UTIL",
    "tensor_fp64_active_percent": "DFMA_TENSOR_UTIL",
    "tensor_dmma_active_percent": "DMMA_TENSOR_UTIL",
    "dram_active_percent": "DRAM_BW_UTIL",
    "integer_active_percent": "INTEGER_UTIL",
    "fp64_active_percent": "FP64_UTIL",
    "fp32_active_percent": "FP32_UTIL",
    "fp16_active_percent": "FP16_UTIL",
}
# Directly under gpu/<i>/: the driver's own counters may supply the same.
BYTES = {
    "pcie_send_bytes_per_second": "PCIE_TX_PER_SEC",
    "pcie_receive_bytes_per_second": "PCIE_RX_PER_SEC",
    "nvlink_receive_bytes_per_second": "NVLINK_TOTAL_RX_PER_SEC",
    "nvlink_send_bytes_per_second": "NVLINK_TOTAL_TX_PER_SEC",
    "c2c_send_bytes_per_second": "C2C_TOTAL_TX_PER_SEC",
    "c2c_receive_bytes_per_second": "C2C_TOTAL_RX_PER_SEC",
}
# The busiest of several engines.
ENGINES = {
    "decoder_busiest_percent": tuple(f"NVDEC_{i}_UTIL" for i in range(8)),
    "jpeg_busiest_percent": tuple(f"NVJPG_{i}_UTIL" for i in range(8)),
    "encoder_busiest_percent": tuple(f"NVENC_{i}_UTIL" for i in range(4)),
    "optical_flow_busiest_percent": tuple(f"NVOFA_{i}_UTIL" for i in range(2)),
}
# Cache hits and misses by kind of memory.
CACHES = {
    "dram_cache_hit_percent": ("DRAM_CACHE_HIT", "DRAM_CACHE_MISS"),
    "host_memory_cache_hit_percent": ("HOSTMEM_CACHE_HIT", "HOSTMEM_CACHE_MISS"),
    "peer_memory_cache_hit_percent": ("PEERMEM_CACHE_HIT", "PEERMEM_CACHE_MISS"),
}
_METRICS = (
    *PERCENTS.values(),
    *BYTES.values(),
    *(name for names in CACHES.values() for name in names),
    *(name for names in ENGINES.values() for name in names),
)

# Fills a sample with the current counter values.
Take = Callable[[Any], None]


class Gpm:
    """Differences between two samples of one GPU or MIG slice."""

    def __init__(self, library: Any, gpu: Any, take: Take) -> None:
        self._library = library
        self._take = take
        missing_links = tuple(_absent_links(library, gpu))
        ids = {
            name: getattr(library, f"NVML_GPM_METRIC_{name}", None)
            for name in _METRICS
            if not name.startswith(missing_links)
        }
        self._names = [name for name, number in ids.items() if number is not None]
        self._request = library.c_nvmlGpmMetricsGet_t()
        self._request.version = library.NVML_GPM_METRICS_GET_VERSION
        self._request.numMetrics = len(self._names)
        for name, metric in zip(self._names, self._request.metrics, strict=False):
            metric.metricId = ids[name]
        self._samples = [library.nvmlGpmSampleAlloc() for _ in range(2)]
        self._taken_at: float | None = None

    def __call__(self, now: float) -> dict[str, float]:
        last = self._taken_at
        if last is not None and now < last + _SHORTEST_SECONDS:
            return {}
        older, newer = self._samples
        self._taken_at = None
        self._take(newer)
        self._samples = [newer, older]
        self._taken_at = now
        return {} if last is None else readings_of(self._compare(older, newer))

    def close(self) -> None:
        samples, self._samples = self._samples, []
        for sample in samples:
            self._library.nvmlGpmSampleFree(sample)

    def _compare(self, older: Any, newer: Any) -> dict[str, float]:
        request = self._request
        request.sample1, request.sample2 = older, newer
        self._library.nvmlGpmMetricsGet(request)
        return {
            name: metric.value
            for name, metric in zip(self._names, request.metrics, strict=False)
            if metric.nvmlReturn == 0
        }


def readings_of(metrics: dict[str, float]) -> dict[str, float]:
    """Name the available metrics; NaN values are omitted (pure)."""
    there = {name: value for name, value in metrics.items() if math.isfinite(value)}
    readings = {
        f"gpm/{path}": there[name] for path, name in PERCENTS.items() if name in there
    }
    for path, names in ENGINES.items():
        engines = [there[name] for name in names if name in there]
        if engines:
            readings[f"gpm/{path}"] = max(engines)
    for path, (hit, miss) in CACHES.items():
        served = there.get(hit, 0.0)
        requests = served + there.get(miss, 0.0)
        # Without requests a hit rate is undefined.
        if {hit, miss} <= there.keys() and requests > 0:
            readings[f"gpm/{path}"] = 100.0 * served / requests
    for path, name in BYTES.items():
        if name in there:
            readings[path] = there[name] * _MEBIBYTE
    return readings


def _absent_links(library: Any, gpu: Any) -> Iterator[str]:
    """Yield the kinds of links that a card lacks: their counters are always 0."""
    to_cpu = FieldValues(library, gpu, [_LINKS_TO_CPU])
    for kind, count in (
        ("NVLINK_", lambda: links_up(library, gpu)),
        ("C2C_", lambda: to_cpu.read().get(_LINKS_TO_CPU)),
    ):
        try:
            has_some = bool(count())
        except AttributeError:
            has_some = False
        except library.NVMLError as error:
            # If the query fails temporarily, the card may have some.
            has_some = code_of(error) not in (INVALID_ARGUMENT, NOT_SUPPORTED)
        if not has_some:
            yield kind


def gpm_of_gpu(library: Any, gpu: Any) -> Gpm | None:
    """Return the counters of a GPU; None if it has none."""
    try:
        if not library.nvmlGpmQueryDeviceSupport(gpu).isSupportedDevice:
            return None
        return Gpm(library, gpu, lambda sample: library.nvmlGpmSampleGet(gpu, sample))
    except (AttributeError, library.NVMLError):
        return None


def gpm_of_slice(library: Any, gpu: Any, instance: int) -> Gpm | None:
    try:
        if not library.nvmlGpmQueryDeviceSupport(gpu).isSupportedDevice:
            return None
        return Gpm(
            library,
            gpu,
            lambda sample: library.nvmlGpmMigSampleGet(gpu, instance, sample),
        )
    except (AttributeError, library.NVMLError):
        return None
