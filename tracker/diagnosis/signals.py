"""The measurements a rule may ask for, by name.

A rule gets a signal per step as an array, aligned with the other such arrays; a
sampled one as `Samples`, with the times of its readings; a fact as it is. All
numbers are finite; the engine makes that true.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Times = NDArray[np.int64]  # microseconds since 1970, UTC
Fact = float | str

WORD = "word"

# The lines of code that provide signals.
LOADER = "for batch in run.loader(loader):"
INIT = 'run = agent.init("my run", stage="train")'


class Kind(StrEnum):
    PER_STEP = "per step"
    SAMPLED = "sampled"
    FACT = "fact"


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Readings of one probe in order of time."""

    times: Times
    values: Array


@dataclass(frozen=True, slots=True)
class Signal:
    """`path` lies below `monitoring/<stage>/`; empty: worked out from other data.

    `code` is the line that provides the signal.
    """

    name: str
    path: str
    unit: str
    kind: Kind
    description: str
    code: str

    @property
    def is_text(self) -> bool:
        """Whether the fact is a word and not a number; words have no unit."""
        return self.unit == WORD

    @property
    def is_per_gpu(self) -> bool:
        return "<i>" in self.path


def _per_step(name: str, path: str, unit: str, description: str) -> Signal:
    return Signal(name, path, unit, Kind.PER_STEP, description, LOADER)


def _sampled(name: str, path: str, unit: str, description: str) -> Signal:
    return Signal(name, path, unit, Kind.SAMPLED, description, INIT)


def _fact(
    name: str, path: str, unit: str, description: str, code: str = INIT
) -> Signal:
    return Signal(name, path, unit, Kind.FACT, description, code)


SIGNALS = {
    signal.name: signal
    for signal in (
        _per_step("step_seconds", "step/seconds", "s", "Wall time of one step."),
        _per_step(
            "data_wait_seconds",
            "step/data_wait_seconds",
            "s",
            "Waiting for the batch, part of the step's wall time.",
        ),
        _sampled(
            "host_cpu_percent",
            "host/cpu_percent",
            "%",
            "CPU use of the host, whoever uses it, of all its cores.",
        ),
        _sampled(
            "job_cpu_cores",
            "job/cpu_cores",
            "cores",
            "CPU seconds per second of the process and all its children.",
        ),
        _sampled(
            "job_main_cpu_cores",
            "job/main_cpu_cores",
            "cores",
            "CPU seconds per second of the logging process alone.",
        ),
        _sampled(
            "job_workers",
            "job/workers",
            "processes",
            "Living child processes.",
        ),
        _sampled(
            "worker_cpu_cores",
            "job/worker_cpu_cores",
            "cores",
            "CPU seconds per second of a child process, mean over the children.",
        ),
        _sampled(
            "job_memory_bytes",
            "job/memory_bytes",
            "B",
            "Resident memory of the process and all its children.",
        ),
        _sampled(
            "gpu_utilization_percent",
            "gpu/<i>/utilization_percent",
            "%",
            "Share of time in which at least one kernel ran; from NVIDIA's driver.",
        ),
        _sampled(
            "gpu_memory_used_bytes",
            "gpu/<i>/memory_used_bytes",
            "B",
            "Memory in use on the GPU, whoever uses it; from NVIDIA's driver.",
        ),
        _sampled(
            "busiest_gpu_percent",
            "",
            "%",
            "Utilization of the busiest GPU at each reading.",
        ),
        _fact(
            "effective_cores",
            "facts/effective_cores",
            "cores",
            "Cores the job may use: least of CPU quota, affinity and CPU set.",
        ),
        _fact(
            "host_cores",
            "facts/host_cores",
            "cores",
            "Logical CPUs of the host.",
        ),
        _fact(
            "memory_limit_bytes",
            "facts/memory_limit_bytes",
            "B",
            "Memory the job may use: least of physical memory and the limit.",
        ),
        _fact(
            "loader_workers",
            "facts/loader_workers",
            "processes",
            "Loader worker processes; 0: the training process loads.",
            LOADER,
        ),
        _fact(
            "batch_size",
            "facts/batch_size",
            "examples",
            "Examples in a batch, as the loader says.",
            LOADER,
        ),
        _fact(
            "framework",
            "facts/framework",
            WORD,
            "What the training is written with.",
            LOADER,
        ),
        _fact(
            "gpu_memory_total_bytes",
            "facts/gpu/<i>/memory_total_bytes",
            "B",
            "Memory of the GPU; from NVIDIA's driver.",
        ),
        _fact(
            "stage_share_of_run",
            "",
            "",
            "Share of the run's time that this stage took.",
        ),
    )
}
