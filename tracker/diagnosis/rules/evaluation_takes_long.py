"""Evaluation takes much of the time.

## Detection
Phases named `evaluate`, `validate`, `test` or similar, between or within steps, that take
at least 15 % of the stage; or at least 5 %, with a GPU utilization below half of that in
training. Without such phases, slow steps that log evaluation metrics, such as `val/loss`,
are taken for evaluations. Otherwise, if evaluation metrics are logged: at least 15 % of the
samples of the code profile in functions that evaluate, by their names.

## Why it matters
An evaluation needs no gradients, so larger batches fit and an example takes less time than
in training. An evaluation as slow as training can usually be made faster.

## Limitations
Some tasks need frequent evaluation, or evaluation by text generation, which is slow.
A stage that only evaluates is not judged.

Catalogue: T5, evaluation cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.episodes import (
    MICROSECONDS,
    Episodes,
    find_episodes,
    is_during,
)
from tracker.diagnosis.analysis.outliers import are_logged, find_outliers, largest_of
from tracker.diagnosis.analysis.statistics import margin_above, margin_below
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
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
from tracker.diagnosis.engine.frameworks import no_gradients_line
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.engine.wording import count, duration, percent
from tracker.diagnosis.input.activities import CODE_PROFILE, find_activity
from tracker.diagnosis.signals import Array, Samples, Tracked

SPAN = Span.STAGE
DISPROOF = (
    "Evaluate once on the same data with a batch four times as large: if it takes as"
    " long, larger batches do not help."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    long_share: float = 0.15
    long_release_share: float = 0.12
    large_share: float = 0.30

    # Below this ratio to training's utilization, the evaluation does not load the GPU
    # enough.
    low_use_ratio: float = 0.50
    low_use_release_ratio: float = 0.60
    # Minimum share of the time for this finding.
    notable_share: float = 0.05

    fewest_readings: int = 10
    fewest_evaluations: int = 3
    # Below this utilization in training, the ratio is meaningless.
    min_use_percent: float = 20.0


def check(
    stage_seconds: float,
    step_end_seconds: Array,
    *,
    stage_name: str | None = None,
    spans: Mapping[str, Samples] | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    step_seconds: Array | None = None,
    evaluations: Mapping[str, Tracked] | None = None,
    busiest_gpu_percent: Samples | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if kind_of_phase(stage_name or "") is PhaseKind.EVALUATE or not stage_seconds > 0:
        return None
    episodes = find_episodes(PhaseKind.EVALUATE, spans, phase_seconds, step_end_seconds)
    if episodes is None and step_seconds is not None and evaluations:
        episodes = _logged(step_seconds, step_end_seconds, evaluations, limits)
    if episodes is None:
        return Abstention(("the time of evaluation, as a phase",))

    share = min(1.0, episodes.total / stage_seconds)
    ratio = _use_ratio(busiest_gpu_percent, episodes, limits)
    is_long = share >= (
        limits.long_release_share if already_open else limits.long_share
    )
    low = limits.low_use_release_ratio if already_open else limits.low_use_ratio
    is_badly_fed = ratio is not None and ratio < low and share >= limits.notable_share
    if not is_long and not is_badly_fed:
        return None

    number = len(episodes)
    each = f", {duration(episodes.total / number)} each" if number > 1 else ""
    beside = (
        f" GPU utilization was {percent(ratio)} of that in training."
        if ratio is not None
        else ""
    )
    return Finding(
        title="" if is_long else "Evaluation leaves the GPU idle",
        severity=Severity.WARNING if share >= limits.large_share else Severity.NOTICE,
        summary=(
            f"{count(number, 'evaluation', 'evaluations')} took"
            f" {duration(episodes.total)}{each}, {percent(share)} of the"
            f" stage.{beside}"
        ),
        evidence=_evidence(share, ratio, is_long=is_long, limits=limits),
        recommendations=_recommendations(batch_size, framework),
        disproof=DISPROOF,
        gain=_gain(share, ratio if is_badly_fed else None),
        explains=("gpu-utilization-is-low",) if is_badly_fed else (),
        margin=(
            margin_above(share, limits.long_share)
            if is_long
            else margin_below(ratio or 0.0, limits.low_use_ratio)
        ),
        corroboration=AGREEING if is_long and is_badly_fed else ALONE,
    )


def check_profile(
    code_profile: str,
    evaluations: Mapping[str, Tracked],
    *,
    stage_name: str | None = None,
    busiest_gpu_percent: Samples | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    # Without its own metrics, an evaluation may be what the loop is for.
    if kind_of_phase(stage_name or "") is PhaseKind.EVALUATE or not evaluations:
        return None
    found = find_activity(code_profile, busiest_gpu_percent, PhaseKind.EVALUATE)
    if found is None:
        return Abstention((CODE_PROFILE,))
    if found.least < limits.long_share:
        return None
    return Finding(
        severity=(
            Severity.WARNING if found.share >= limits.large_share else Severity.NOTICE
        ),
        summary=f"{found.sentence('evaluation')}.",
        evidence=(found.evidence("evaluations", limits.long_share),),
        recommendations=_recommendations(batch_size, framework),
        disproof=DISPROOF,
        gain=_gain(found.share, None),
        quality=SAMPLED,
        margin=margin_above(found.share, limits.long_share),
        corroboration=ALONE,
    )


def _logged(
    seconds: Array, ends: Array, evaluations: Mapping[str, Tracked], limits: Limits
) -> Episodes | None:
    """Return the extra time of slow steps in which evaluation metrics are logged."""
    outliers = find_outliers(seconds)
    slow = None if outliers is None else largest_of(outliers)
    if slow is None or len(slow.rows) < limits.fewest_evaluations:
        return None
    if not are_logged(slow, ends, seconds, evaluations):
        return None
    return Episodes(slow.excess, (ends[slow.rows] * MICROSECONDS).astype(np.int64))


def _use_ratio(
    busiest: Samples | None, episodes: Episodes, limits: Limits
) -> float | None:
    """Return GPU utilization in evaluations relative to training; None if unknown."""
    if busiest is None:
        return None
    during = is_during(busiest.times, episodes)
    inside, outside = busiest.values[during], busiest.values[~during]
    if min(len(inside), len(outside)) < limits.fewest_readings:
        return None
    training = float(np.median(outside))
    if training < limits.min_use_percent:
        return None
    return float(np.median(inside)) / training


def _gain(share: float, ratio: float | None) -> Gain:
    if ratio is None:
        return gain_of_share(share, "Evaluation")
    return gain_of_share(share * (1.0 - ratio), "Idleness of the GPU in evaluations")


def _evidence(
    share: float, ratio: float | None, *, is_long: bool, limits: Limits
) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            "spans",
            "evaluation, share of the stage",
            share,
            "share",
            limits.long_share if is_long else limits.notable_share,
            Side.ABOVE,
            release=limits.long_release_share if is_long else limits.notable_share,
        )
    ]
    if ratio is not None:
        evidence.append(
            Evidence(
                "busiest_gpu_percent",
                "GPU utilization in evaluations, share of that in training",
                ratio,
                "share",
                limits.low_use_ratio,
                Side.BELOW,
                release=limits.low_use_release_ratio,
            )
        )
    return tuple(evidence)


def _recommendations(
    batch_size: float | None, framework: str | None
) -> tuple[Recommendation, ...]:
    return (
        Recommendation(
            "Evaluate with larger batches: without gradients more examples fit.",
            current=f"{batch_size:g} in training" if batch_size else "",
            suggested=f"{4 * batch_size:g}" if batch_size else "four times as large",
        ),
        Recommendation(
            "Disable gradients during the evaluation.",
            code=no_gradients_line(framework),
        ),
        Recommendation(
            "Evaluate less often or on part of the data, and on all of it at the end."
        ),
    )
