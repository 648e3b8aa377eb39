"""What is gathered from many rows of each run, by the key of its column.

By these, runs are found, sorted and put together: at any of them, one expression says
what the column shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracker.queries.gpu_time import by_energy, by_gpu_hours, by_gpu_idle
from tracker.queries.hardware_order import by_cpu, by_gpu
from tracker.queries.some_runs import SomeRuns, Sorted

# Percent, hours, and joules.
NUMBERS: Mapping[str, Callable[[SomeRuns], Sorted]] = {
    "gpu": by_gpu,
    "cpu": by_cpu,
    "gpu_idle": by_gpu_idle,
    "gpu_hours": by_gpu_hours,
    "energy": by_energy,
}
