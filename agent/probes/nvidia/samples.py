"""The driver's own samples of a GPU: many per second, read every few seconds.

They show a starvation of a tenth of a second, which a mean hides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from seamark.probes.nvidia.driver import NOT_FOUND, code_of
from seamark.probes.nvidia.last_seen import LastSeen
from seamark.probes.summary import spread

_MILLIWATTS = 1000.0
# Hardware counters include arbitrarily short bursts: these samples, which cost
# milliseconds, add nothing then.
MEASURED_BY_COUNTERS = {
    "memory_utilization": "gpm/dram_active_percent",
    "encoder": "gpm/encoder_busiest_percent",
    "decoder": "gpm/decoder_busiest_percent",
    "jpeg": "gpm/jpeg_busiest_percent",
}


class Buffered:
    """The samples of one kind since the last read."""

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
        """`others` returns the paths supplied by other sources so far."""
        self._library, self._gpu = library, gpu
        self._kind = kind
        self._name, self._unit = name, unit
        self._others = others
        self._last_seen = LastSeen()

    def __call__(self, now: float) -> dict[str, float]:
        del now  # samples have their own times
        if MEASURED_BY_COUNTERS.get(self._name) in self._others():
            return {}
        last = self._last_seen.newest
        samples = self._new_samples(last)
        self._last_seen.saw([time for time, _ in samples])
        # The first samples are from before the run.
        if last == 0 or not samples:
            return {}
        parts = summary(self._name, self._unit, [value for _, value in samples])
        # Mean power from the card's energy counter covers all of the time.
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
                # No samples since the last read.
                return []
            raise
        member = "dVal" if kind == library.NVML_VALUE_TYPE_DOUBLE else "uiVal"
        return [
            (int(sample.timeStamp), float(getattr(sample.sampleValue, member)))
            for sample in samples
            # The library pads the result.
            if sample.timeStamp > last
        ]


def summary(name: str, unit: str, values: Sequence[float]) -> dict[str, float]:
    """Return the distribution of samples, and their number (pure)."""
    factor = 1 / _MILLIWATTS if unit == "watts" else 1.0
    parts = spread([value * factor for value in values])
    return {
        **{f"{name}_{part}_{unit}": value for part, value in parts.items()},
        f"{name}_samples": float(len(values)),
    }


def buffered(
    library: Any, gpu: Any, others: Callable[[], Collection[str]]
) -> list[Buffered]:
    """Return the kinds of samples to read."""
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
