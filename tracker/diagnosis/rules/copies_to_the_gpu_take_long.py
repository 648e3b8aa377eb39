"""Copies to the GPU are slow.

## Detection
The share of the step spent in a phase named `copy` (or `to_device`, `h2d`), measured on the
GPU, or in the script if there is no GPU time. Also batches that are copied from pageable
memory because the loader does not pin it.

## Why it matters
A copy from pageable memory passes through a buffer of the driver while the script waits.
A copy from pinned memory can run while the GPU computes, and then costs nothing.

## Limitations
A phase that only the script timed also contains work queued on the GPU before the copy; time
in which the GPU was busy is not counted then, and the finding is less certain.
A copy on its own stream that overlaps the step still counts with its whole GPU time.
If everything is pageable but costs only 1 or 2 %, the finding is a notice.

Catalogue: D11, host-to-device copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average, margin_above
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    MEASURED,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import duration, percent, size
from tracker.diagnosis.input.code_lines import copy_line
from tracker.diagnosis.signals import Array, Fact, Samples
from tracker.diagnosis.signals.signal import FLAG

INPUT_BOUND = "data-wait-dominates"

# One direction of one lane per PCIe generation, after its encoding: 8 of 10 bits for 2.5
# and 5 GT/s, 128 of 130 for 8, 16 and 32, 242 of 256 for 64 (PCI-SIG).
LANE_BYTES_PER_SECOND = {
    1: 0.25e9,
    2: 0.5e9,
    3: 0.985e9,
    4: 1.97e9,
    5: 3.94e9,
    6: 7.56e9,
}

_OF_IDLE_GPUS = ("gpu-utilization-is-low", "gpu-and-cpu-are-both-idle")
COPY_PHASE = "the time of the copy to the GPU, as a phase"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of the step.
    copy_share: float = 0.05
    copy_release_share: float = 0.035
    critical_share: float = 0.15
    # At this share, a copy from pageable memory is reported as a notice.
    pageable_copy_share: float = 0.01
    pageable_copy_release_share: float = 0.007

    # From this share on, copies explain idle GPUs.
    main_share: float = 0.50

    # Below this share of the waiting, copies are not its cause but the next limit.
    copy_part_of_waiting: float = 0.50

    max_lanes: int = 32


@dataclass(frozen=True, slots=True)
class _Copy:
    step_seconds: float
    seconds: float  # mean, exposed
    is_on_device: bool
    received: float | None  # bytes per step
    link: float | None  # bytes per second, capacity

    @property
    def share(self) -> float:
        return self.seconds / self.step_seconds

    @property
    def rate(self) -> float | None:
        return self.received / self.seconds if self.received and self.seconds else None


def check(
    step_seconds: Array,
    gpus: Mapping[int, Mapping[str, Samples | Fact]],
    *,
    device_phase_seconds: Mapping[str, Array] | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    exposed_copy_seconds: Array | None = None,
    traced_kernels: Array | None = None,
    data_wait_seconds: Array | None = None,
    loader_pin_memory: float | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    copy = _measure(
        step_seconds,
        _exposed(exposed_copy_seconds, traced_kernels, device_phase_seconds),
        phase_seconds,
        busiest_gpu_percent,
        gpus,
        limits=limits,
    )
    if copy is None:
        return Abstention((COPY_PHASE,))
    is_pageable = loader_pin_memory == 0
    costs = copy.share >= (
        limits.copy_release_share if already_open else limits.copy_share
    )
    least = (
        limits.pageable_copy_release_share
        if already_open
        else limits.pageable_copy_share
    )
    if not costs and not (is_pageable and copy.share >= least):
        return None
    is_the_waiting = costs and _is_the_waiting(copy, data_wait_seconds, limits)
    return Finding(
        severity=_severity(copy, costs=costs, limits=limits),
        summary=_summary(copy, is_pageable=is_pageable),
        evidence=_evidence(copy, loader_pin_memory, limits),
        recommendations=_recommendations(
            copy, framework, is_pageable=is_pageable, limits=limits
        ),
        disproof=(
            "Train for a minute on one batch that stays on the GPU: if steps take as long"
            " as now, they do not wait for copies."
        ),
        gain=_gain(copy),
        explains=(
            *((INPUT_BOUND,) if is_the_waiting else ()),
            *(_OF_IDLE_GPUS if copy.share >= limits.main_share else ()),
        ),
        comes_after=() if is_the_waiting else (INPUT_BOUND,),
        quality=MEASURED if copy.is_on_device else SAMPLED,
        margin=margin_above(
            copy.share, limits.copy_share if costs else limits.pageable_copy_share
        ),
        corroboration=AGREEING if is_pageable and costs else ALONE,
    )


def _exposed(
    exposed: Array | None, kernels: Array | None, on_device: Mapping[str, Array] | None
) -> Mapping[str, Array] | None:
    """Return copies that no kernel hides if a trace has them, else all copies."""
    if exposed is None or kernels is None or not np.any(kernels > 0):
        return on_device
    return {"copy": np.where(kernels > 0, exposed, np.nan)}


def _measure(
    step_seconds: Array,
    on_device: Mapping[str, Array] | None,
    in_script: Mapping[str, Array] | None,
    busiest: Samples | None,
    gpus: Mapping[int, Mapping[str, Samples | Fact]],
    *,
    limits: Limits,
) -> _Copy | None:
    """Return None if no copy was timed."""
    step = average(step_seconds)
    if not step > 0:
        return None
    seconds = _mean_of_copies(on_device)
    is_on_device = seconds is not None
    if seconds is None:
        seconds = _mean_of_copies(in_script)
        if seconds is not None and busiest is not None and len(busiest.values):
            # Time in which the GPU still worked was not lost.
            idle = max(0.0, 1.0 - average(busiest.values) / 100) * step
            seconds = min(seconds, idle)
    if seconds is None:
        return None
    rates = [
        average(value.values)
        for signals in gpus.values()
        if isinstance(
            value := signals.get("gpu_pcie_receive_bytes_per_second"), Samples
        )
        and len(value.values)
    ]
    return _Copy(
        step,
        min(seconds, step),
        is_on_device,
        max(rates) * step if rates else None,
        _link(gpus, limits),
    )


def _mean_of_copies(phases: Mapping[str, Array] | None) -> float | None:
    found = seconds_of_kind(phases or {}, PhaseKind.COPY)
    if found is None or not np.any(np.isfinite(found)):
        return None
    return float(np.nanmean(found))


def _link(
    gpus: Mapping[int, Mapping[str, Samples | Fact]], limits: Limits
) -> float | None:
    for signals in gpus.values():
        generation = signals.get("gpu_pcie_generation_max")
        width = signals.get("gpu_pcie_width_max")
        if isinstance(generation, int | float) and isinstance(width, int | float):
            lane = LANE_BYTES_PER_SECOND.get(round(min(generation, 100.0)))
            return lane * width if lane and 0 < width <= limits.max_lanes else None
    return None


def _is_the_waiting(copy: _Copy, waits: Array | None, limits: Limits) -> bool:
    """Return whether a loader that copies its batches could wait mostly for copies."""
    wait = 0.0 if waits is None else average(waits)
    return copy.seconds >= limits.copy_part_of_waiting * wait


def _severity(copy: _Copy, *, costs: bool, limits: Limits) -> Severity:
    if not costs:
        return Severity.NOTICE
    is_critical = copy.share >= limits.critical_share
    return Severity.CRITICAL if is_critical else Severity.WARNING


def _summary(copy: _Copy, *, is_pageable: bool) -> str:
    where = "on the GPU" if copy.is_on_device else "in the script"
    rate = copy.rate
    link = copy.link
    speed = f" They run at {size(rate)}/s" if rate else ""
    if speed:
        speed += f" on a link of {size(link)}/s." if link else "."
    pageable = (
        " The loader does not pin memory, so copies cannot overlap with the step."
        if is_pageable
        else ""
    )
    return (
        f"Copies to the GPU take {duration(copy.seconds)} {where} of each"
        f" {duration(copy.step_seconds)} step ({percent(copy.share)})."
        f"{speed}{pageable}"
    )


def _evidence(
    copy: _Copy, pinned: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            "device_phase_seconds" if copy.is_on_device else "phase_seconds",
            "copies, share of step time",
            copy.share,
            "share",
            limits.copy_share,
            Side.ABOVE,
            release=limits.copy_release_share,
        ),
        Evidence("step_seconds", "step time, mean", copy.step_seconds, "s"),
    ]
    if pinned is not None:
        found.append(Evidence("loader_pin_memory", "pinned memory", pinned, FLAG))
    if copy.received is not None:
        found.append(
            Evidence(
                "gpu_pcie_receive_bytes_per_second",
                "data copied to the GPU per step",
                copy.received,
                "B",
            )
        )
    return tuple(found)


def _recommendations(
    copy: _Copy, framework: str | None, *, is_pageable: bool, limits: Limits
) -> tuple[Recommendation, ...]:
    overlap = Recommendation(
        "Copy the next batch from pinned memory while the GPU works on the current one.",
        current="pageable memory" if is_pageable else "",
        suggested="pinned memory" if is_pageable else "",
        code=copy_line(framework),
    )
    if not copy.share >= limits.copy_share:
        return (overlap,)
    return (
        overlap,
        Recommendation(
            "Copy fewer bytes: 8-bit pixels that are normalized on the GPU, and one large"
            " copy instead of many small ones.",
            current="" if copy.received is None else f"{size(copy.received)} a step",
        ),
        Recommendation("Keep data that is the same in every step on the GPU."),
    )


def _gain(copy: _Copy) -> Gain:
    return expected_gain(
        copy.step_seconds,
        (
            Floor(
                copy.step_seconds - copy.seconds, "everything in the step but copying"
            ),
        ),
    )
