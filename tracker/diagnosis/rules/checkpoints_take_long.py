"""Checkpoints are slow.

## Detection
Phases named `checkpoint`, `save` or similar, between or within steps, that take at least
3 % of the stage. Without such phases, two patterns are taken for checkpoints: steps that
take much longer than others and contain most of the job's writes, and seconds in which
the job writes more than 50 MB while no GPU works. Otherwise, functions that save, by their
names, with 5 % of the samples of the code profile.

## Why it matters
All GPUs of the job are idle until the last byte is written, each time.

## Limitations
Checkpoints limit the loss of a crash: with fewer of them a crash costs more. Bursts of
writes may be other files.

Catalogue: T4, checkpoint cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.episodes import find_episodes
from tracker.diagnosis.analysis.saves import Loop, find_saves
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    INFERRED,
    MEASURED,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import phase_line
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.engine.wording import count, duration, percent, size
from tracker.diagnosis.input.activities import (
    CODE_PROFILE,
    Activity,
    activity_of_training,
)
from tracker.diagnosis.signals import Array, Samples, Tracked

SPAN = Span.STAGE

UNKNOWN = "the time of saving, as a phase"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = 0.03
    release_share: float = 0.02
    large_share: float = 0.10
    # By the names of functions in the profile of the code, which may mislead.
    profile_share: float = 0.05

    burst_bytes_per_second: float = 50e6
    idle_gpu_percent: float = 10.0
    fewest_readings: int = 30


def check(
    stage_seconds: float,
    *,
    spans: Mapping[str, Samples] | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    step_seconds: Array | None = None,
    step_end_seconds: Array | None = None,
    data_wait_seconds: Array | None = None,
    job_write_bytes_per_second: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if not stage_seconds > 0:
        return Abstention(("stage_seconds",))
    saved = find_episodes(PhaseKind.CHECKPOINT, spans, phase_seconds, step_end_seconds)
    limit = limits.release_share if already_open else limits.notable_share
    if saved is not None:
        share = min(1.0, saved.total / stage_seconds)
        said = (
            f"{count(len(saved), 'checkpoint', 'checkpoints')} took"
            f" {duration(saved.total)}, {duration(saved.total / max(1, len(saved)))}"
            f" each, {percent(share)} of the stage."
        )
        signal = "spans" if spans else "phase_seconds"
        quality = MEASURED
    else:
        loop = (
            None
            if step_seconds is None or step_end_seconds is None
            else Loop(step_seconds, step_end_seconds, data_wait_seconds, phase_seconds)
        )
        inferred = _inferred(
            loop, stage_seconds, job_write_bytes_per_second, busiest_gpu_percent, limits
        )
        if inferred is None:
            return Abstention((UNKNOWN,))
        share, said, quality = inferred
        signal = "job_write_bytes_per_second"
    if share < limit:
        return None
    return _finding(share, said, signal, quality, framework, limits=limits)


def check_profile(
    code_profile: str,
    *,
    losses: Mapping[str, Tracked] | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    saving = activity_of_training(
        code_profile,
        losses,
        busiest_gpu_percent,
        limits.profile_share,
        PhaseKind.CHECKPOINT,
    )
    if not isinstance(saving, Activity):
        return saving
    summary = f"{saving.sentence('saving')}."
    return _finding(
        saving.share, summary, CODE_PROFILE, SAMPLED, framework, limits=limits
    )


def _inferred(
    loop: Loop | None,
    stage_seconds: float,
    written: Samples | None,
    busiest: Samples | None,
    limits: Limits,
) -> tuple[float, str, float] | None:
    """Return share, sentence and quality from the writes; None if unknown."""
    saves = find_saves(loop, written) if loop and written else None
    if saves is not None:
        return (
            min(1.0, saves.seconds / stage_seconds),
            f"{count(saves.steps, 'step', 'steps')} took"
            f" {duration(saves.each_seconds)} longer than the others"
            f"{f', about every {saves.period} steps' if saves.period else ''}, and the"
            f" job wrote {size(saves.each_bytes)} in each: it probably saves checkpoints."
            f" That is {percent(min(1.0, saves.seconds / stage_seconds))} of the stage.",
            SAMPLED,
        )
    if written is None or busiest is None:
        return None
    bursts = _bursts(written, busiest, limits)
    if bursts is None:
        return None
    return (
        bursts,
        f"For {percent(bursts)} of the time, the job wrote more than"
        f" {limits.burst_bytes_per_second / 1e6:g} MB/s while no GPU worked: it is"
        " probably saving checkpoints.",
        INFERRED,
    )


def _bursts(written: Samples, busiest: Samples, limits: Limits) -> float | None:
    """Return the share of samples with heavy writes while no GPU works."""
    if len(written.values) < limits.fewest_readings or not len(busiest.values):
        return None
    # The latest GPU sample before, from the same tick or the one before.
    near = np.searchsorted(busiest.times, written.times, side="right") - 1
    is_idle = (near >= 0) & (
        busiest.values[np.maximum(near, 0)] < limits.idle_gpu_percent
    )
    return float(np.mean(is_idle & (written.values >= limits.burst_bytes_per_second)))


def _finding(
    share: float,
    said: str,
    signal: str,
    quality: float,
    framework: str | None,
    *,
    limits: Limits,
) -> Finding:
    unnamed = Recommendation(
        "Time the saving, so that its cost is measured instead of inferred.",
        code=phase_line("checkpoint"),
    )
    return Finding(
        severity=Severity.WARNING if share >= limits.large_share else Severity.NOTICE,
        summary=said,
        evidence=(
            Evidence(
                signal,
                "checkpoints, share of the stage",
                share,
                "share",
                limits.notable_share,
                Side.ABOVE,
                release=limits.release_share,
            ),
        ),
        recommendations=(
            Recommendation(
                "Copy the weights and write them in the background while training continues.",
                code=(
                    "torch.distributed.checkpoint.async_save(state, checkpoint_id=path)"
                    if framework == "pytorch"
                    else ""
                ),
            ),
            Recommendation(
                "Write to a local disk and copy to the final location from there; with"
                " several processes, let each write its own part."
            ),
            Recommendation(
                "Save less often: on average, a crash costs half of the time"
                " between two checkpoints."
            ),
            *((unnamed,) if quality != MEASURED else ()),
        ),
        disproof=(
            "Train for as long without saving: if the number of steps is the same, the time"
            " belongs to something else."
        ),
        gain=gain_of_share(share, "Saving checkpoints"),
        explains=(
            "gpu-utilization-is-low",
            "steps-are-slow-now-and-then",
            "step-time-is-in-no-phase",
        ),
        quality=quality,
        margin=margin_above(share, limits.notable_share),
        corroboration=ALONE if quality == MEASURED else AGREEING,
    )
