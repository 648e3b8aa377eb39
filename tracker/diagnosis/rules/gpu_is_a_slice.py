"""The GPU is a MIG slice with fewer measurements.

## What it looks for
A card that is cut into slices (MIG), or one that a virtual machine has a share of
(vGPU).

## Why it matters
It is no fault. It says why other rules cannot answer: drivers switch off what would
tell the tenants of a card about each other, and what remains belongs partly to all of
them.

## When it is wrong
Where the driver does not say whether a card is shared between virtual machines, that
is read from its name.

Catalogue: H13, limits of MIG and vGPU.
"""

from __future__ import annotations

import re

from tracker.diagnosis.finding import (
    AGREEING,
    INFERRED,
    MEASURED,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
)
from tracker.diagnosis.rule import Span

SPAN = Span.STAGE

ON = 1.0

# Profiles of virtual GPUs end in their memory and a letter: `A40-48Q`, `A100-3-20C`.
VIRTUAL = re.compile(r"^GRID |-(\d+-)?\d+[ABCQ](ME)?$", re.IGNORECASE)


# What drivers say of a card that a virtual machine has a share of.
SHARED = "vgpu"


def check(
    gpu_name: str,
    *,
    gpu_is_mig_on: float | None = None,
    gpu_virtualization: str | None = None,
) -> Answer:
    is_slice = gpu_is_mig_on == ON
    # The driver knows; names only follow a custom.
    is_told = gpu_virtualization is not None
    is_named = VIRTUAL.search(gpu_name) is not None
    if not is_slice and not (gpu_virtualization == SHARED if is_told else is_named):
        return None
    return Finding(
        title="" if is_slice else "The GPU is a vGPU with fewer measurements",
        severity=Severity.NOTICE,
        summary=_MIG if is_slice else f"{_TOLD if is_told else _NAMED} {_VGPU}",
        evidence=(
            Evidence("gpu_is_mig_on", "MIG enabled", ON if is_slice else 0.0, ""),
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
