"""Detects other jobs on the host that use the cores of this job."""

from __future__ import annotations

from tracker.diagnosis.analysis.statistics import typical
from tracker.diagnosis.signals import Samples

# A host with a smaller share of idle cores is full.
MIN_IDLE_SHARE = 0.10
# Other jobs that use less than this do not slow down the job.
NOTABLE_CORES = 0.50

CROWDED = "a host whose cores are not taken by other jobs"


def is_crowded(
    job_cpu_cores: Samples,
    host_cpu_percent: Samples | None,
    host_cores: float | None,
) -> bool:
    """Return False if unknown, because most jobs have dedicated cores."""
    if host_cpu_percent is None or host_cores is None:
        return False
    busy_share = typical(host_cpu_percent) / 100
    others = busy_share * host_cores - typical(job_cpu_cores)
    return 1.0 - busy_share < MIN_IDLE_SHARE and others >= NOTABLE_CORES
