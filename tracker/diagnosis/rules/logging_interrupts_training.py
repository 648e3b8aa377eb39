"""Logging interrupts training.

## Detection
Phases of a step named `log`, `metrics`, `print` or similar that take at least 3 % of the time.
Logging counts only while no GPU works, because queued GPU work continues meanwhile.
Without such phases, functions that log, by their names, or packages for logging and plotting,
with 5 % of the samples of the code profile.

## Why it matters
A value can be printed only after the GPU has computed it. The program stops until then, and
the GPU is idle until the program has launched new work.

## Limitations
A function with a misleading name is taken for another. A program that has to wait for the GPU anyway waits in the
logging phase for work that another phase has queued.

Catalogue: C10, synchronization points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import average, margin_above
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.input.activities import Activity, activity_of_training
from tracker.diagnosis.input.waiting import measure_waiting
from tracker.diagnosis.signals import Array, Samples, Tracked

DISPROOF = (
    "Train a few hundred steps without logging: if they take as long as now, the time"
    " belongs to something else."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = 0.03
    release_share: float = 0.02
    large_share: float = 0.10
    # By the names of functions in the profile of the code, which may mislead.
    profile_share: float = 0.05

    # At this share of steps with logging, each step counts as logging.
    often_share: float = 0.50
    # Often enough for monitoring.
    suggested_steps: int = 50


def check(
    step_seconds: Array,
    phase_seconds: Mapping[str, Array],
    *,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    logging = seconds_of_kind(phase_seconds, PhaseKind.LOG)
    if logging is None:
        return Abstention(("the time of logging and printing, as a phase",))
    # As for data waits, time in which the GPU works is not lost.
    interruption = measure_waiting(step_seconds, logging, busiest_gpu_percent)
    if interruption is None:
        return None
    share = interruption.exposed_share
    if share < (limits.release_share if already_open else limits.notable_share):
        return None

    often = average((logging > 0).astype(float))
    return Finding(
        severity=Severity.WARNING if share >= limits.large_share else Severity.NOTICE,
        summary=(
            f"Logging takes {duration(interruption.exposed_seconds)} of each"
            f" {duration(interruption.step_seconds)} step on average"
            f" ({percent(share)}){interruption.hidden_words}. It runs in {percent(often)} of the steps."
        ),
        evidence=(
            Evidence(
                "phase_seconds",
                f"logging{interruption.beside}, share of step time",
                share,
                "share",
                limits.notable_share,
                Side.ABOVE,
                release=limits.release_share,
            ),
            Evidence(
                "phase_seconds", "logging, share of steps with it", often, "share"
            ),
        ),
        recommendations=_recommendations(often, framework, limits),
        disproof=DISPROOF,
        gain=gain_of_share(share, "Logging"),
        explains=("gpu-utilization-is-low", "gpu-and-cpu-are-both-idle"),
        comes_after=("data-wait-dominates",),
        margin=margin_above(share, limits.notable_share),
    )


def check_profile(
    code_profile: str,
    *,
    losses: Mapping[str, Tracked] | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    logging = activity_of_training(
        code_profile, losses, busiest_gpu_percent, limits.profile_share, PhaseKind.LOG
    )
    if not isinstance(logging, Activity):
        return logging
    return Finding(
        severity=(
            Severity.WARNING if logging.share >= limits.large_share else Severity.NOTICE
        ),
        summary=f"{logging.sentence('logging')}.",
        evidence=(logging.evidence("logging", limits.profile_share),),
        recommendations=_recommendations(1.0, framework, limits),
        disproof=DISPROOF,
        gain=gain_of_share(logging.share, "Logging"),
        explains=("gpu-utilization-is-low", "gpu-and-cpu-are-both-idle"),
        quality=SAMPLED,
        margin=margin_above(logging.share, limits.profile_share),
        corroboration=ALONE,
    )


def _recommendations(
    often: float, framework: str | None, limits: Limits
) -> tuple[Recommendation, ...]:
    keep = Recommendation(
        "Sum losses on the GPU and fetch the sum when you log: every fetch waits for"
        " the GPU.",
        code="total += loss.detach()" if framework == "pytorch" else "",
    )
    if often < limits.often_share:
        cheaper = "Log fewer and smaller images and histograms."
        return (keep, Recommendation(cheaper))
    return (
        Recommendation(
            f"Log every {limits.suggested_steps} steps instead of in each step.",
            current="every step",
            suggested=f"every {limits.suggested_steps} steps",
            code=f"if step % {limits.suggested_steps} == 0:",
        ),
        keep,
    )
