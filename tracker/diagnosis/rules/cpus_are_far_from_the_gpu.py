"""CPUs and GPU are on different NUMA nodes.

## Detection
A job whose CPU affinity excludes all CPUs of the NUMA node that its GPU is connected to.

## Why it matters
Every batch and every command for the GPU crosses the link between the NUMA nodes. Copies
and launches of small kernels are slower.

## Limitations
A job that may use CPUs of all nodes is not judged, because the CPUs it runs on are
unknown.
Machines with a single node cannot have this fault.
Changes of the affinity after the run has started are not seen.

Catalogue: H6, NUMA and affinity.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import percentile
from tracker.diagnosis.engine.finding import (
    ALONE,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import count
from tracker.diagnosis.hardware.cpu_sets import parse_cpus
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # The job uses the GPU if its busiest samples reach this.
    working_percent: float = 5.0
    percentile: float = 95.0


def check(
    gpu_utilization_percent: Samples,
    gpu_near_cpus: str,
    allowed_cpus: str,
    *,
    limits: Limits = Limits(),
) -> Answer:
    near, allowed = parse_cpus(gpu_near_cpus), parse_cpus(allowed_cpus)
    if not near or not allowed:
        return Abstention(("gpu_near_cpus", "allowed_cpus"))
    works = (
        percentile(gpu_utilization_percent, limits.percentile) >= limits.working_percent
    )
    if near & allowed or not works:
        return None

    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"The job can use {count(len(allowed), 'CPU', 'CPUs')}"
            f" ({allowed_cpus}). None of them is on the NUMA node of the GPU"
            f" ({gpu_near_cpus})."
        ),
        evidence=(
            Evidence(
                "allowed_cpus",
                "allowed CPUs near the GPU",
                float(len(near & allowed)),
                "CPUs",
                1.0,
                Side.BELOW,
            ),
        ),
        recommendations=(
            Recommendation(
                "Start the job on CPUs near its GPU.",
                current=allowed_cpus,
                suggested=gpu_near_cpus,
                code=f"taskset --cpu-list {gpu_near_cpus} python train.py",
            ),
            Recommendation(
                "Let the scheduler allocate CPUs and GPUs of the same node.",
                code="sbatch --gres-flags=enforce-binding",
            ),
        ),
        disproof=(
            "Bind the job to CPUs near the GPU: if steps and copies take as long as"
            " before, the distance costs nothing here."
        ),
        quality=MEASURED,
        corroboration=ALONE,
    )
