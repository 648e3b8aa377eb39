"""The driver's own samples of a GPU: many a second, asked for every few seconds.

A starvation of a tenth of a second vanishes in a mean; among these samples it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from seamark.probes.nvidia.driver import NOT_FOUND, code_of
from seamark.probes.nvidia.last_seen import LastSeen
from seamark.probes.summary import spread

_MILLIWATTS = 1000.0
# Hardware counters tell how long these worked, in however short bursts: samples, which cost
# milliseconds, then say nothing new.
TOLD_BY_COUNTERS = {
    "memory_utilization": "gpm/dram_active_percent",
    "encoder": "gpm/encoder_busiest_percent",
    "decoder": "gpm/decoder_busiest_percent",
    "jpeg": "gpm/jpeg_busiest_percent",
}


class Buffered:
    """The samples of one kind since the last time."""

    def __init__(
        self,
        library: Any,
        gpu: Any,
        kind: str,
        name: str,
        unit: str,
        *,
        others: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """`others` are the paths that are supplied by something else, so far."""
        self._library, self._gpu = library, gpu
        self._kind = kind
        self._name, self._unit = name, unit
        self._others = others
        self._last_seen = LastSeen()

    def __call__(self, now: float) -> dict[str, float]:
        del now  # samples have times of their own
        if TOLD_BY_COUNTERS.get(self._name) in self._others():
            return {}
        last = self._last_seen.newest
        samples = self._new_samples(last)
        self._last_seen.saw([time for time, _ in samples])
        # The first time, they are from before anybody asked.
        if last == 0 or not samples:
            return {}
        parts = summary(self._name, self._unit, [value for _, value in samples])
        # Mean power by the card's counter of energy has seen all of the time.
        others = self._others()
        return {path: value for path, value in parts.items() if path not in others}

    def _new_samples(self, last: int) -> list[tuple[int, float]]:
        library = self._library
        try:
            kind, samples = library.nvmlDeviceGetSamples(
                self._gpu, getattr(library, self._kind), last
            )
        except library.NVMLError as error:
            if code_of(error) == NOT_FOUND:
                # None since then.
                return []
            raise
        member = "dVal" if kind == library.NVML_VALUE_TYPE_DOUBLE else "uiVal"
        return [
            (int(sample.timeStamp), float(getattr(sample.sampleValue, member)))
            for sample in samples
            # The library fills up what it has no samples for.
            if sample.timeStamp > last
        ]


def summary(name: str, unit: str, values: Sequence[float]) -> dict[str, float]:
    """Return the distribution of samples, with how many there were (pure)."""
    factor = 1 / _MILLIWATTS if unit == "watts" else 1.0
    parts = spread([value * factor for value in values])
    return {
        **{f"{name}_{part}_{unit}": value for part, value in parts.items()},
        f"{name}_samples": float(len(values)),
    }


def buffered(
    library: Any, gpu: Any, others: Callable[[], Collection[str]]
) -> list[Buffered]:
    """Return the kinds that are worth a distribution."""
    return [
        Buffered(library, gpu, kind, name, unit, others=others)
        for kind, name, unit in (
            ("NVML_GPU_UTILIZATION_SAMPLES", "utilization", "percent"),
            ("NVML_MEMORY_UTILIZATION_SAMPLES", "memory_utilization", "percent"),
            ("NVML_TOTAL_POWER_SAMPLES", "power", "watts"),
            ("NVML_PROCESSOR_CLK_SAMPLES", "sm_clock", "mhz"),
            ("NVML_ENC_UTILIZATION_SAMPLES", "encoder", "percent"),
            ("NVML_DEC_UTILIZATION_SAMPLES", "decoder", "percent"),
            ("NVML_JPG_UTILIZATION_SAMPLES", "jpeg", "percent"),
        )
    ]
