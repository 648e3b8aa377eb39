"""Whether other jobs of the host take the cores that this one may use."""

from __future__ import annotations

from tracker.diagnosis.analysis.statistics import typical
from tracker.diagnosis.signals import Samples

# A host with less than this part of its cores idle is full.
MIN_IDLE_SHARE = 0.10
# Others that use less than this are no reason for a job to be slow.
NOTABLE_CORES = 0.50

CROWDED = "a host whose cores are not taken by other jobs"


def is_crowded(
    job_cpu_cores: Samples,
    host_cpu_percent: Samples | None,
    host_cores: float | None,
) -> bool:
    """Return False where nobody knows: most jobs have their cores to themselves."""
    if host_cpu_percent is None or host_cores is None:
        return False
    busy_share = typical(host_cpu_percent) / 100
    others = busy_share * host_cores - typical(job_cpu_cores)
    return 1.0 - busy_share < MIN_IDLE_SHARE and others >= NOTABLE_CORES
