"""Preprocessing is repeated in every epoch.

## Detection
A phase named `preprocess` (or `decode`, `resize`, `tokenize`) that runs once per epoch, or in
the steps of each epoch, and takes about the same time each time.

## Why it matters
Deterministic work needs to be done only once. A stage before training can do it on a machine
without a GPU, and later runs reuse its result.

## Limitations
Only the script determines which work is deterministic: give random augmentation another name,
such as `augment`, and it is excluded. Epochs over new data look the same.
Work of loader workers is not seen; if steps wait for batches and no phase shows why, the rule
abstains.

Catalogue: D15, repeated deterministic preprocessing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.epochs import find_epochs
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.breakdown.phases import (
    PhaseKind,
    kind_of_phase,
    seconds_of_kind,
    spans_of_kind,
)
from tracker.diagnosis.engine.finding import (
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
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import count, duration, percent
from tracker.diagnosis.input.waiting import measure_waiting
from tracker.diagnosis.signals import Array, Samples

SPAN = Span.STAGE

KINDS = (PhaseKind.PREPROCESS, PhaseKind.DECODE)
PREPROCESS_PHASE = "the time of deterministic preprocessing, as a phase"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of all time spent in repetitions.
    repeated_share: float = 0.05
    repeated_release_share: float = 0.035
    critical_share: float = 0.20
    # Maximum relative difference to the median repetition, for half of the repetitions:
    # other jobs on the machine delay some.
    same_cost_within: float = 0.25
    # Repetitions that cost less than this share of the first reuse its result.
    cached_share: float = 0.50


@dataclass(frozen=True, slots=True)
class _Repetition:
    times: Array  # seconds of each, the first one included
    total_seconds: float
    is_in_steps: bool
    limits: Limits

    @property
    def repeated(self) -> float:
        return float(self.times[1:].sum())

    @property
    def share(self) -> float:
        return self.repeated / self.total_seconds

    @property
    def is_alike(self) -> bool:
        usual = float(np.median(self.times))
        apart = np.abs(self.times - usual)
        is_cached = (
            float(np.median(self.times[1:])) < self.limits.cached_share * self.times[0]
        )
        is_alike = bool(np.median(apart) <= self.limits.same_cost_within * usual)
        return usual > 0 and is_alike and not is_cached


def check(
    *,
    step_seconds: Array,
    step_end_seconds: Array,
    gap_before_step_seconds: Array,
    data_wait_seconds: Array | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    spans: Mapping[str, Samples] | None = None,
    stage_name: str | None = None,
    busiest_gpu_percent: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if kind_of_phase(stage_name or "") in KINDS or not len(step_seconds):
        return None
    epochs = find_epochs(step_seconds, step_end_seconds, gap_before_step_seconds)
    in_steps = seconds_of_kind(phase_seconds or {}, *KINDS)
    between = spans_of_kind(spans or {}, *KINDS)
    if in_steps is None and between is None:
        waits = data_wait_seconds is not None and (
            waiting := measure_waiting(
                step_seconds, data_wait_seconds, busiest_gpu_percent
            )
        )
        is_waiting = waits and waiting and waiting.is_notable(already_open=already_open)
        return Abstention((PREPROCESS_PHASE,)) if epochs and is_waiting else None

    total = float(step_end_seconds[-1] - step_end_seconds[0] + step_seconds[0])
    candidates = []
    if in_steps is not None and epochs:
        seconds = np.array([float(in_steps[epoch.rows].sum()) for epoch in epochs])
        candidates.append(_Repetition(seconds, total, is_in_steps=True, limits=limits))
    # One per epoch; the first one may have run before the first step.
    if between is not None and epochs and abs(len(between.values) - len(epochs)) <= 1:
        candidates.append(
            _Repetition(between.values, total, is_in_steps=False, limits=limits)
        )
    limit = limits.repeated_release_share if already_open else limits.repeated_share
    found = [c for c in candidates if total > 0 and c.is_alike and c.share >= limit]
    return _finding(max(found, key=lambda c: c.share), limits) if found else None


def _finding(repetition: _Repetition, limits: Limits) -> Finding:
    number = len(repetition.times)
    usual = float(np.median(repetition.times))
    spent = min(repetition.repeated, repetition.total_seconds)
    is_critical = repetition.share >= limits.critical_share
    where = "in the steps of" if repetition.is_in_steps else "around"
    return Finding(
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=(
            f"Preprocessing takes {duration(usual)} {where} each of"
            f" {count(number, 'epoch', 'epochs')}. All but the"
            f" first repeat it: {percent(repetition.share)} of the time."
        ),
        evidence=(
            Evidence(
                "phase_seconds" if repetition.is_in_steps else "spans",
                "repeated preprocessing, share of all time",
                repetition.share,
                "share",
                limits.repeated_share,
                Side.ABOVE,
                release=limits.repeated_release_share,
            ),
            Evidence(
                "phase_seconds" if repetition.is_in_steps else "spans",
                "preprocessing per epoch, median",
                usual,
                "s",
            ),
        ),
        recommendations=(
            Recommendation(
                "Do it once, in a stage before training, and read its result; keep only"
                " random augmentation in the loop.",
                current=f"{number} times",
                suggested="once",
                code='run = agent.init("my run", stage="preprocess")',
            ),
            Recommendation(
                "Or keep the results of the first epoch, in memory or on a local disk."
            ),
        ),
        disproof=(
            "Compare the results of two epochs for one example: if they differ, this is"
            " augmentation and has to run each time."
        ),
        gain=expected_gain(
            repetition.total_seconds,
            (Floor(repetition.total_seconds - spent, "all other work"),),
            what="Training",
        ),
        explains=(
            (
                "preprocessing-is-cpu-bound",
                "images-are-decoded-on-the-cpu",
                "data-wait-dominates",
            )
            if repetition.is_in_steps
            else ()
        ),
        quality=MEASURED,
        margin=margin_above(repetition.share, limits.repeated_share),
    )
