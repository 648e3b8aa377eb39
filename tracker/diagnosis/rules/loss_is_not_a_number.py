"""Loss became NaN.

## Detection
A loss that is NaN or infinite at its latest points. A single such point followed by numbers is
a skipped step. If the loss rose or swung increasingly before, the learning rate is too high,
and the finding shows the logged rate.

## Why it matters
NaN weights stay NaN, so all further training is lost.

## Limitations
Some losses are infinite by design if a batch has no example of a class. Losses are recognized
by their names.

Catalogue: T7, divergence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import count
from tracker.diagnosis.signals import Array, Tracked

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Number of consecutive points at the end, or all points of a shorter series.
    fewest_in_a_row: int = 3

    # Signs of divergence: a rise above the lowest level, or growing swings.
    fewest_before: int = 20
    blocks: int = 10
    quarters: int = 4
    last_points: int = 5
    rise_share: float = 0.50
    swing_factor: float = 3.0
    # First attempt: divide the learning rate by this.
    lower: float = 10.0


@dataclass(frozen=True, slots=True)
class _Broken:
    path: str
    since: float  # step
    points: int
    last_number: float | None
    course: str = ""  # sentence about a course that shows too high a learning rate


def check(
    losses: Mapping[str, Tracked],
    *,
    learning_rates: Mapping[str, Tracked] | None = None,
    torch_autocast: str | None = None,
    framework: str | None = None,
    stage_state: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    found = [_broken(path, series, limits) for path, series in losses.items()]
    broken = [one for one in found if one is not None]
    if not broken:
        return None

    first = min(broken, key=lambda one: one.since)
    rate = _rate_at(learning_rates or {}, first.since)
    before = _before(first, rate)
    others = (
        f" {count(len(broken) - 1, 'other loss is', 'other losses are')} NaN, too."
        if len(broken) > 1
        else ""
    )
    return Finding(
        title=(
            "Learning rate is too high: the loss became NaN" if first.course else ""
        ),
        spoils_the_run=True,
        severity=Severity.CRITICAL,
        summary=(
            f"{first.path} is NaN or infinite since step {first.since:g}, for"
            f" {count(first.points, 'point', 'points')} in a row.{before}{others}"
        ),
        evidence=(
            Evidence(
                "losses",
                f"consecutive NaN or infinite points of {first.path}",
                float(first.points),
                "points",
                # For a series that was never a number, a single point is enough.
                1.0 if first.last_number is None else float(limits.fewest_in_a_row),
                Side.ABOVE,
            ),
            Evidence("losses", "first step with NaN or infinity", first.since, "step"),
            *(
                (Evidence("learning_rates", "learning rate before it", rate, ""),)
                if rate is not None
                else ()
            ),
        ),
        recommendations=_recommendations(
            first, rate, torch_autocast, framework, stage_state, limits=limits
        ),
        disproof=(
            "Inspect the weights: if all of them are numbers, only the loss is computed"
            " wrongly."
        ),
        corroboration=AGREEING if first.points >= limits.fewest_in_a_row else ALONE,
    )


def _broken(path: str, series: Tracked, limits: Limits) -> _Broken | None:
    order = np.argsort(series.steps, kind="stable")
    steps, is_number = series.steps[order], np.isfinite(series.values[order])
    numbers = np.flatnonzero(is_number)
    begin = int(numbers[-1]) + 1 if len(numbers) else 0
    points = len(steps) - begin
    if not points or (len(numbers) and points < limits.fewest_in_a_row):
        return None
    if not np.isfinite(steps[begin]):
        return None
    values = series.values[order]
    last = float(values[numbers[-1]]) if len(numbers) else None
    course = _course(values[numbers], limits)
    return _Broken(path, float(steps[begin]), points, last, course)


def _course(values: Array, limits: Limits) -> str:
    """Return how a loss diverged before it became NaN; "" if it did not diverge."""
    if len(values) < limits.fewest_before:
        return ""
    levels = [float(np.median(part)) for part in np.array_split(values, limits.blocks)]
    lowest, last = min(levels[:-1]), float(np.median(values[-limits.last_points :]))
    spread = float(np.median(np.abs(values[: -limits.last_points] - np.median(values))))
    if last > lowest + max(limits.rise_share * abs(lowest), 2 * spread):
        return f"It rose from {lowest:.4g} to {last:.4g} before"
    swings = [
        float(np.std(np.diff(part))) for part in np.array_split(values, limits.quarters)
    ]
    if swings[-1] > limits.swing_factor * max(swings[1], np.finfo(float).tiny):
        return "It oscillated more and more before"
    return ""


def _rate_at(rates: Mapping[str, Tracked], step: float) -> float | None:
    """Return the last logged learning rate before a step."""
    for series in rates.values():
        known = np.isfinite(series.values) & (series.steps <= step)
        if np.any(known):
            place = int(np.argmax(np.where(known, series.steps, -np.inf)))
            return float(series.values[place])
    return None


def _before(broken: _Broken, rate: float | None) -> str:
    if broken.last_number is None:
        return " It was never a number."
    if not broken.course:
        return f" It was {broken.last_number:.4g} before."
    at = f" The learning rate was {rate:.4g}." if rate is not None else ""
    return f" {broken.course}, typical of too high a learning rate.{at}"


def _recommendations(
    broken: _Broken,
    rate: float | None,
    torch_autocast: str | None,
    framework: str | None,
    stage_state: str | None,
    *,
    limits: Limits,
) -> tuple[Recommendation, ...]:
    recommendations = [
        Recommendation(
            "Restart from the last checkpoint before that step, with a lower learning"
            " rate, a longer warm-up, or clipped gradients.",
            current=f"{rate:.4g}" if rate and broken.course else "",
            suggested=f"{rate / limits.lower:.4g}" if rate and broken.course else "",
            code=(
                "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
                if framework == "pytorch"
                else ""
            ),
        )
    ]
    if stage_state == "running":
        recommendations.insert(0, Recommendation("Stop the run: it will not recover."))
    if torch_autocast == "float16":
        recommendations.append(
            Recommendation(
                "Large numbers overflow in float16: scale the loss, or use bfloat16.",
                current="float16",
                suggested="bfloat16",
                code='with torch.autocast("cuda", dtype=torch.bfloat16):',
            )
        )
    recommendations.append(
        Recommendation(
            "Inspect the batch of that step: typical causes are an empty batch, a division by 0,"
            " or the logarithm of 0."
        )
    )
    return tuple(recommendations)
