"""The PCIe link is degraded.

## Detection
A busy GPU whose link runs with fewer lanes, or at a lower generation, than card and slot
support, for at least a minute; or packets that are repeatedly resent.

## Why it matters
All batches, and gradients between cards without NVLink, cross this link. Half the lanes mean
half the speed, and resent packets indicate a bad slot, riser or cable.

## Limitations
Idle links slow down to save power: only samples of a busy GPU count, and nearly all of them
have to agree.
Work that sends little data to the card loses nothing.

Catalogue: H5, PCIe link degraded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.hardware.busy import NEVER_BUSY, while_busy
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # The link is sampled every 30 seconds.
    fewest_readings: int = 3
    fewest_seconds: float = 60.0
    # Share of the busy samples.
    low_share: float = 0.80
    low_release_share: float = 0.50

    fewest_replays: int = 10
    replays_per_minute: float = 1.0
    # A single event is ignored; replays must occur several times.
    fewest_rises: int = 3


@dataclass(frozen=True, slots=True)
class _Shortfall:
    """A link below its maximum in `low_share` of the busy samples."""

    signal: str
    unit: str
    usual: float
    most: float
    low_share: float
    quality: float

    @property
    def text(self) -> str:
        if self.unit == "lanes":
            return f"with {self.usual:.0f} of {self.most:.0f} lanes"
        return f"at generation {self.usual:.0f} of {self.most:.0f}"

    @property
    def speed(self) -> float:
        """Return the remaining share of the link's speed; a generation doubles it."""
        if self.unit == "lanes":
            return self.usual / self.most
        return float(2.0 ** (self.usual - self.most))


def check(
    gpu_utilization_percent: Samples,
    gpu_pcie_width: Samples,
    gpu_pcie_width_max: float,
    *,
    gpu_pcie_generation: Samples | None = None,
    gpu_pcie_generation_max: float | None = None,
    gpu_pcie_replays: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    busy = while_busy(gpu_pcie_width, gpu_utilization_percent)
    replays = _replays_per_minute(gpu_pcie_replays, limits)
    if (
        _seconds(busy) < limits.fewest_seconds
        or len(busy.values) < limits.fewest_readings
    ):
        return (
            Abstention((NEVER_BUSY,))
            if replays is None
            else _finding((), replays, limits)
        )

    least = limits.low_release_share if already_open else limits.low_share
    measured = [("gpu_pcie_width", "lanes", busy, gpu_pcie_width_max)]
    if gpu_pcie_generation is not None and gpu_pcie_generation_max is not None:
        generation = while_busy(gpu_pcie_generation, gpu_utilization_percent)
        measured.append(
            ("gpu_pcie_generation", "generation", generation, gpu_pcie_generation_max)
        )
    short = tuple(
        found
        for signal, unit, readings, most in measured
        if (found := _shortfall(signal, unit, readings, most, limits)).low_share
        >= least
    )
    return _finding(short, replays, limits) if short or replays is not None else None


def _shortfall(
    signal: str, unit: str, busy: Samples, most: float, limits: Limits
) -> _Shortfall:
    known = busy.values[busy.values > 0]
    low = float(np.mean(known < most)) if len(known) >= limits.fewest_readings else 0.0
    usual = float(np.median(known)) if len(known) else most
    # With only some low samples the median equals the maximum, and the share is 0.
    return _Shortfall(
        signal, unit, usual, most, low if usual < most else 0.0, busy.quality
    )


def _seconds(samples: Samples) -> float:
    times = samples.times
    return float(times[-1] - times[0]) / 1e6 if len(times) else 0.0


def _replays_per_minute(replays: Samples | None, limits: Limits) -> float | None:
    """Return the rate if packets are resent continuously, else None."""
    if replays is None or len(replays.values) <= limits.fewest_rises:
        return None
    seconds = _seconds(replays)
    grown = float(replays.values[-1] - replays.values[0])
    rises = int(np.sum(np.diff(replays.values) > 0))
    if not seconds > 0 or grown < limits.fewest_replays or rises < limits.fewest_rises:
        return None
    rate = grown / seconds * 60
    return rate if rate >= limits.replays_per_minute else None


def _finding(
    short: tuple[_Shortfall, ...], replays: float | None, limits: Limits
) -> Finding:
    parts = []
    if short:
        speed = float(np.prod([found.speed for found in short]))
        how = " and ".join(found.text for found in short)
        parts.append(
            f"While the GPU was busy, its PCIe link ran {how}, {speed:.2g} of its full"
            " speed."
        )
    if replays is not None:
        parts.append(f"{replays:.3g} PCIe packets per minute were resent.")
    return Finding(
        title="" if short else "PCIe packets are resent",
        severity=Severity.WARNING,
        summary=" ".join(parts),
        evidence=(
            *(
                Evidence(
                    f.signal,
                    f"PCIe {f.unit} while busy, median",
                    f.usual,
                    "",
                    f.most,
                    Side.BELOW,
                )
                for f in short
            ),
            *(
                (
                    Evidence(
                        "gpu_pcie_replays",
                        "PCIe replays per minute",
                        replays,
                        "packets",
                        limits.replays_per_minute,
                        Side.ABOVE,
                    ),
                )
                if replays is not None
                else ()
            ),
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Measure a large copy to the card: if it reaches the link's full speed,"
            " the samples are of an idle link."
        ),
        quality=min((f.quality for f in short), default=1.0),
        margin=max((f.low_share for f in short), default=0.9),
        corroboration=AGREEING if short and replays is not None else ALONE,
    )


_RECOMMENDATIONS = (
    Recommendation(
        "Reseat the card and its riser, and clean the contacts.",
    ),
    Recommendation(
        "Check that the slot is wired for all lanes, that no other card shares them,"
        " and that the firmware does not limit the generation.",
        code="nvidia-smi --query-gpu=pcie.link.gen.max,pcie.link.gen.current,"
        "pcie.link.width.max,pcie.link.width.current --format=csv",
    ),
    Recommendation(
        "Time the copies to the GPU as a phase to measure the cost.",
        code='with run.phase("copy"):',
    ),
)
