"""The GPU is a MIG slice with fewer measurements.

## Detection
A card that is split into slices (MIG), or that a virtual machine shares (vGPU).

## Why it matters
This is not a fault. It explains why other rules abstain: drivers disable measurements that
would reveal one tenant's work to another, and the remaining ones partly describe all
tenants.

## Limitations
If the driver does not report whether virtual machines share a card, the rule uses the name
of the card.

Catalogue: H13, limits of MIG and vGPU.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracker.diagnosis.engine.finding import (
    AGREEING,
    INFERRED,
    MEASURED,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
)
from tracker.diagnosis.engine.rule import Span

SPAN = Span.STAGE

# Names of vGPU profiles end with their memory and a letter: `A40-48Q`, `A100-3-20C`.
VIRTUAL = re.compile(r"^GRID |-(\d+-)?\d+[ABCQ](ME)?$", re.IGNORECASE)

# The driver's value for a card that virtual machines share.
SHARED = "vgpu"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    on: float = 1.0


def check(
    gpu_name: str,
    *,
    gpu_is_mig_on: float | None = None,
    gpu_virtualization: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    is_slice = gpu_is_mig_on == limits.on
    # The driver's value is reliable; names only follow a convention.
    is_told = gpu_virtualization is not None
    is_named = VIRTUAL.search(gpu_name) is not None
    if not is_slice and not (gpu_virtualization == SHARED if is_told else is_named):
        return None
    return Finding(
        title="" if is_slice else "The GPU is a vGPU with fewer measurements",
        severity=Severity.NOTICE,
        summary=_MIG if is_slice else f"{_TOLD if is_told else _NAMED} {_VGPU}",
        evidence=(
            Evidence(
                "gpu_is_mig_on", "MIG enabled", limits.on if is_slice else 0.0, ""
            ),
        ),
        recommendations=(
            Recommendation(
                "To find out why a job is slow, run it for some minutes on a whole card"
                " of the same model.",
            ),
            Recommendation(
                "Name the phases of a step: their times are measured everywhere.",
                code='with run.phase("forward"):',
            ),
        ),
        disproof="The driver shows the card as a whole one: nvidia-smi -L.",
        quality=MEASURED if is_slice or is_told else INFERRED,
        corroboration=AGREEING,
    )


_MIG = (
    "MIG is enabled. The driver does not report the utilization of a slice, so rules"
    " about GPU utilization, clocks, other jobs and batch size have not enough data."
    " Temperature, power and clocks are those of the whole card."
)
_TOLD = "Several virtual machines share this GPU."
_NAMED = "By its name, the GPU is a vGPU that several virtual machines share."
_VGPU = (
    "Clocks, power, temperature, the PCIe link and errors may be missing or belong to"
    " the whole card. Rules that need them have not enough data."
)
