"""Loss stopped improving.

## Detection
A training loss, in 20 blocks of its points, whose drop from the third quarter to the last is
below 1 % of its total drop, over at least half an hour; or a loss of at least 200 points that
does not change at all.

## Why it matters
The GPUs work without progress. Often the learning rate is too high or too low, or some of the
weights are not trained.

## Limitations
Training that is nearly done improves slowly, and other metrics may still improve. Some losses,
such as adversarial ones, need not fall. Losses are recognized by their names, and validation
losses are ignored if there are others.

Catalogue: T7, no progress of the loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_below
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.engine.finding import (
    COARSE,
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
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.signals import Array, Tracked

SPAN = Span.STAGE

TOO_EARLY = "a loss over at least an hour"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    flat_share: float = 0.01
    flat_release_share: float = 0.02
    # The last quarter is compared with the third, which together are half of the run.
    flat_seconds: float = 1800.0

    # Rounding changes a constant loss by a smaller share.
    largest_rounding: float = 1e-5

    fewest_points: int = 200
    blocks: int = 20
    # For a loss that never fell: share of its own level.
    never_fell_share: float = 0.01


@dataclass(frozen=True, slots=True)
class _Course:
    path: str
    seconds: float  # of the second half
    first: float
    before: float  # third quarter
    last: float  # last quarter
    is_constant: bool  # in the second half
    never_changed: bool
    limits: Limits

    @property
    def fallen(self) -> float:
        """Return the drop from the third quarter to the last, relative to the earlier drop."""
        whole = max(
            self.first - self.before, self.limits.never_fell_share * abs(self.before)
        )
        return (self.before - self.last) / whole if whole > 0 else 0.0


def check(
    losses: Mapping[str, Tracked],
    *,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    training = {
        path: series
        for path, series in losses.items()
        if kind_of_phase(path) is not PhaseKind.EVALUATE
    }
    courses = [_course(path, s, limits) for path, s in (training or losses).items()]
    known = [course for course in courses if course is not None]
    if not known:
        return Abstention((f"a loss of at least {limits.fewest_points} points",))

    limit = limits.flat_release_share if already_open else limits.flat_share
    # One falling loss among several is progress. A rising loss is none.
    if any(not (c.is_constant or c.fallen < limit) for c in known):
        return None
    # A loss may be 0 for a reason; any other constant is clear at once.
    if never := [c for c in known if c.never_changed and c.last != 0]:
        return _finding(never[0], limits)
    if any(course.seconds < limits.flat_seconds for course in known):
        return Abstention((TOO_EARLY,))
    return _finding(known[0], limits)


def _course(path: str, series: Tracked, limits: Limits) -> _Course | None:
    good = np.isfinite(series.values) & np.isfinite(series.steps)
    order = np.argsort(series.steps[good], kind="stable")
    values: Array = series.values[good][order]
    times = series.times[good][order]
    if len(values) < limits.fewest_points:
        return None

    levels = np.array(
        [np.median(part) for part in np.array_split(values, limits.blocks)]
    )
    quarter = limits.blocks // 4
    return _Course(
        path,
        seconds=float(times.max() - times[len(times) // 2]) / 1e6,
        first=float(levels[0]),
        before=float(np.median(levels[-2 * quarter : -quarter])),
        last=float(np.median(levels[-quarter:])),
        is_constant=_is_constant(values[len(values) // 2 :], limits),
        never_changed=_is_constant(values, limits),
        limits=limits,
    )


def _is_constant(values: Array, limits: Limits) -> bool:
    return bool(np.ptp(values) <= limits.largest_rounding * np.abs(values).max())


def _finding(course: _Course, limits: Limits) -> Finding:
    if course.never_changed:
        summary = f"{course.path} is {course.last:.4g} at every logged point."
    else:
        how = (
            f"stayed at {course.last:.4g}"
            if course.is_constant
            else f"went from {course.before:.4g} to {course.last:.4g}"
        )
        summary = (
            f"In {duration(course.seconds)}, {course.path} {how}:"
            f" {percent(max(0.0, course.fallen))} of its earlier drop."
        )
    return Finding(
        title="Loss does not change" if course.is_constant else "",
        severity=Severity.WARNING if course.is_constant else Severity.NOTICE,
        summary=summary,
        evidence=(
            Evidence(
                "losses",
                f"drop of {course.path}, relative to all of its earlier drop",
                course.fallen,
                "share",
                limits.flat_share,
                Side.BELOW,
                release=limits.flat_release_share,
            ),
            Evidence(
                "losses",
                "time without improvement",
                course.seconds,
                "s",
                None if course.never_changed else limits.flat_seconds,
                None if course.never_changed else Side.ABOVE,
            ),
        ),
        recommendations=(
            Recommendation(
                "Stop the run, or lower the learning rate and check whether the loss falls"
                " again."
            ),
            Recommendation(
                "If it never fell, check that gradients reach all weights, that the"
                " optimizer has all weights, and that labels match their inputs."
            ),
        ),
        disproof=(
            "Continue from here with a tenth of the learning rate for a few hundred steps:"
            " if the loss falls, more progress was possible."
        ),
        spoils_the_run=course.never_changed,
        quality=MEASURED if course.is_constant else COARSE,
        margin=(
            1.0
            if course.is_constant
            else margin_below(max(0.0, course.fallen), limits.flat_share)
        ),
    )
