"""Faster than the previous run, but learns worse.

## Detection
A run on a ladder that processes more examples per second than the run before it, and whose
loss at equal time is higher, beyond the noise of both losses and by more than 2 %.
A validation loss is compared if both runs have one.

## Why it matters
The goal is a short time to a good model. Larger batches, lower precision and another learning
rate change how much an example teaches, and can cost more than they save.

## Limitations
The noise is measured within each run; another seed can differ by more. Two runs of each
configuration give a better estimate.
A loss that is computed differently, such as a mean over another batch or with another
regularization, has another level without a loss of quality.
A schedule that lowers the learning rate towards the end is at another point after equal time.

Catalogue: P8, faster but worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.quality import (
    BEYOND_NOISE,
    FEWEST_VALUES,
    NOTABLE_SHARE,
    Level,
    QualityChange,
    common_loss,
    compare_quality,
    curve_of,
)
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.engine.finding import (
    AGREEING,
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
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.signals import Array, EarlierRun, Times, Tracked

SPAN = Span.STAGE

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    beyond_noise: float = BEYOND_NOISE
    fewest_values: int = FEWEST_VALUES
    notable_share: float = NOTABLE_SHARE

    # Ratio of throughput; a smaller ratio does not count as faster.
    faster_ratio: float = 1.03


def check(
    step_seconds: Array,
    step_examples: Array,
    step_times: Times,
    losses: Mapping[str, Tracked],
    rung_before: EarlierRun,
    *,
    limits: Limits = Limits(),
) -> Answer:
    ratio = _ratio(step_seconds, step_examples, rung_before)
    path = common_loss(losses, rung_before.losses)
    if ratio is None or path is None:
        return Abstention(("a loss and counted examples in both runs",))
    before = curve_of(
        rung_before.losses[path],
        rung_before.step_times,
        rung_before.step_examples,
        fewest_values=limits.fewest_values,
    )
    after = curve_of(
        losses[path], step_times, step_examples, fewest_values=limits.fewest_values
    )
    if before is None or after is None:
        return Abstention(
            (f"at least {limits.fewest_values} values of a loss in both runs",)
        )

    change = compare_quality(
        path,
        before,
        after,
        fewest_values=limits.fewest_values,
        beyond_noise=limits.beyond_noise,
        notable_share=limits.notable_share,
    )
    level = change.at_equal_time or change.at_equal_examples
    if level is None:
        return Abstention(("runs of comparable length",))
    if ratio < limits.faster_ratio or not change.is_worse:
        return None
    return _finding(rung_before.name, ratio, change, level)


def _ratio(
    step_seconds: Array, step_examples: Array, earlier: EarlierRun
) -> float | None:
    seconds, before = float(step_seconds.sum()), earlier.examples_per_second
    if not seconds > 0 or not before > 0 or not np.isfinite(before):
        return None
    return float(step_examples.sum()) / seconds / before


def _finding(name: str, ratio: float, change: QualityChange, level: Level) -> Finding:
    by_time = level is change.at_equal_time
    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"This run processes {ratio:.2f} times as many examples per second as"
            f" {name}. {change.path} is {level.after:.4g} after"
            f" {'equal time' if by_time else 'equally many examples'}; it was"
            f" {level.before:.4g}."
        ),
        evidence=tuple(_evidence(change)),
        recommendations=(
            Recommendation(
                "With a larger batch, raise the learning rate with it and warm it up; for"
                " very large batches use an optimizer made for them, such as LAMB."
            ),
            Recommendation(
                "With lower precision, keep sensitive parts in 32 bits: the loss,"
                " normalization, and the weights that the optimizer updates."
            ),
            Recommendation(
                "Compare the time to the target loss, and revert the change if it is"
                " longer."
            ),
        ),
        disproof=(
            "Run both again with another seed: if the order of the losses changes, it was"
            " chance."
        ),
        quality=MEASURED,
        margin=margin_above(abs(level.change), level.margin),
        corroboration=AGREEING if change.costs_examples and by_time else ALONE,
    )


def _evidence(change: QualityChange) -> list[Evidence]:
    named = (
        ("after equal time", change.at_equal_time),
        ("after equally many examples", change.at_equal_examples),
    )
    return [
        Evidence(
            "losses",
            f"{change.path} {where}, higher than in the previous run"
            f" ({percent(level.change / abs(level.before))})"
            if level.before
            else f"{change.path} {where}, higher than in the previous run",
            level.change,
            "",
            level.margin,
            Side.ABOVE,
        )
        for where, level in named
        if level is not None
    ]
