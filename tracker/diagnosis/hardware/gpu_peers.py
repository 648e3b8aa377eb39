"""One signal of all GPUs side by side, for rules that compare GPUs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracker.diagnosis.signals import Array, Fact, Samples

Gpus = Mapping[int, Mapping[str, Samples | Fact]]

# A GPU is unused if this percentile of its samples is below the limit. The driver reports
# 0 for an idle GPU, with rare exceptions.
UNUSED_PERCENT = 1.0
PERCENTILE = 95.0

FEWEST_READINGS = 10


def readings_of(gpus: Gpus, signal: str) -> dict[int, Samples]:
    """Return the samples of the GPUs that have enough of them for a comparison."""
    found: dict[int, Samples] = {}
    for gpu, signals in sorted(gpus.items()):
        value = signals.get(signal)
        if isinstance(value, Samples) and len(value.values) >= FEWEST_READINGS:
            found[gpu] = value
    return found


def facts_of(gpus: Gpus, signal: str) -> dict[int, float]:
    return {
        gpu: value
        for gpu, signals in sorted(gpus.items())
        if isinstance(value := signals.get(signal), int | float)
    }


def median_of(gpus: Gpus, signal: str, gpu: int) -> float | None:
    """Return the median of one GPU's samples; None if there are none."""
    readings = gpus.get(gpu, {}).get(signal)
    if not isinstance(readings, Samples) or not len(readings.values):
        return None
    return float(np.median(readings.values))


def busiest_of(gpus: Gpus) -> int | None:
    """Return the GPU with the highest mean utilization."""
    means = {
        gpu: float(samples.values.mean())
        for gpu, samples in readings_of(gpus, "gpu_utilization_percent").items()
    }
    return max(means, key=means.__getitem__) if means else None


def high_end(samples: Samples, percentile: float = PERCENTILE) -> float:
    return float(np.percentile(samples.values, percentile))


def distance(one: Array, other: Array) -> float:
    """Return the Wasserstein distance of two distributions, in their unit.

    GPUs that work in turns have equal distributions: only the amount of work counts, not
    its time.
    """
    shares = (np.arange(100) + 0.5) / 100
    gaps = np.quantile(one, shares) - np.quantile(other, shares)
    return float(np.abs(gaps).mean())


def names(gpus: list[int]) -> str:
    """Return "GPU 1" or "GPUs 1, 2 and 3"."""
    numbers = [str(gpu) for gpu in gpus]
    if len(numbers) == 1:
        return f"GPU {numbers[0]}"
    return f"GPUs {', '.join(numbers[:-1])} and {numbers[-1]}"
