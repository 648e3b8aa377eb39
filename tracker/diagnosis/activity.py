"""How active the hardware of a stage was, from the best measurement there is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.measurements import MICROSECONDS, Measurements
from tracker.diagnosis.regimes import WORKING_CPU_CORES
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.timeline import SILENT_SECONDS

# Best first: how many multiprocessors work, and whether any kernel runs at all.
OF_GPU = ("gpu_sm_active_percent", "gpu_utilization_percent")


@dataclass(frozen=True, slots=True)
class Activity:
    """Samples between 0 and 1, the best measurement first."""

    samples: tuple[Samples, ...]

    def mean(self, start: float, end: float) -> float | None:
        """Return the mean over this time; None without a sample in it."""
        means = (_mean(samples, start, end) for samples in self.samples)
        return next((mean for mean in means if mean is not None), None)


def activity_of(measurements: Measurements, gpu: int | None) -> Activity:
    """Return the activity of a GPU, or without one of the job's processes."""
    if gpu is None:
        cores = measurements.samples.get("job_cpu_cores")
        if cores is None:
            return Activity(())
        working = (cores.values > WORKING_CPU_CORES).astype(float)
        return Activity((Samples(cores.times, working),))
    found = (measurements.gpus[gpu].get(name) for name in OF_GPU)
    return Activity(
        tuple(
            Samples(each.times, np.clip(each.values / 100, 0.0, 1.0))
            for each in found
            if isinstance(each, Samples)
        )
    )


def _mean(samples: Samples, start: float, end: float) -> float | None:
    inside = (samples.times > start) & (samples.times <= end)
    if not inside.any():
        return None
    # A sample describes the time before it.
    times = np.concatenate([[start], samples.times[inside]])
    weights = np.minimum(np.diff(times) / MICROSECONDS, SILENT_SECONDS)
    return float(np.average(samples.values[inside], weights=weights))
