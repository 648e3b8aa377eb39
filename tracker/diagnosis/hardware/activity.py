"""How active the hardware of a stage was, from the most precise measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.stage_phases import WORKING_CPU_CORES
from tracker.diagnosis.analysis.timeline import SILENT_SECONDS
from tracker.diagnosis.engine.measurements import MICROSECONDS, Measurements
from tracker.diagnosis.signals import Samples

# Most precise first: the share of active multiprocessors, then time with any kernel.
OF_GPU = ("gpu_sm_active_percent", "gpu_utilization_percent")


@dataclass(frozen=True, slots=True)
class Activity:
    """Samples between 0 and 1, the most precise signal first.

    `running` is the share of time with any kernel, which hides even a small wait.
    """

    samples: tuple[Samples, ...]
    running: Samples | None = None

    def mean(self, start: float, end: float) -> float | None:
        """Return the mean over this time; None without a sample in it."""
        means = (_mean(samples, start, end) for samples in self.samples)
        return next((mean for mean in means if mean is not None), None)

    def mean_running(self, start: float, end: float) -> float | None:
        return None if self.running is None else _mean(self.running, start, end)


def activity_of(measurements: Measurements, gpu: int | None) -> Activity:
    """Return the activity of a GPU, or of the job's processes if `gpu` is None."""
    if gpu is None:
        cores = measurements.samples.get("job_cpu_cores")
        if cores is None:
            return Activity(())
        working = (cores.values > WORKING_CPU_CORES).astype(float)
        return Activity((Samples(cores.times, working),))
    found = {
        name: Samples(each.times, np.clip(each.values / 100, 0.0, 1.0))
        for name in OF_GPU
        if isinstance(each := measurements.gpus[gpu].get(name), Samples)
    }
    return Activity(tuple(found.values()), found.get(OF_GPU[-1]))


def _mean(samples: Samples, start: float, end: float) -> float | None:
    inside = (samples.times > start) & (samples.times <= end)
    if not inside.any():
        return None
    # A sample describes the time before it.
    times = np.concatenate([[start], samples.times[inside]])
    weights = np.minimum(np.diff(times) / MICROSECONDS, SILENT_SECONDS)
    return float(np.average(samples.values[inside], weights=weights))
