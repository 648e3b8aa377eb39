"""GPU is launch-bound: a trace shows gaps between its kernels.

## Detection
Steps in a torch.profiler trace that start at least 100 kernels, or at least 10 with gaps of
at most 2 ms on average, with the GPU idle for at least 30 % of the step. No single gap is
more than a quarter of the idle time: the GPU waits briefly before most kernels.

## Why it matters
Python starts small kernels one after the other. If a kernel ends before the next one starts,
Python limits the speed of the GPU.

## Limitations
The profiler slows down each launch, so the gaps in a trace are longer than without it. Many
short waits for data in one step look the same.

Catalogue: C8, launch and Python overhead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_towards
from tracker.diagnosis.engine.finding import (
    AGREEING,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import compile_line, fused_optimizer_line
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.signals import Array

UNTRACED = "traced steps with kernels"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    kernels: int = 100
    # Or fewer kernels, if the gaps between them are as short as launches in Python.
    fewest_kernels: int = 10
    short_gap_seconds: float = 0.002
    idle_share: float = 0.30
    idle_release_share: float = 0.25
    longest_gap_share: float = 0.25


def check(
    step_seconds: Array,
    traced_kernels: Array,
    traced_idle_seconds: Array,
    traced_longest_gap_seconds: Array,
    *,
    model_is_compiled: float | None = None,
    optimizer_is_fused: float | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    traced = _Traced.of(
        step_seconds,
        traced_kernels,
        traced_idle_seconds,
        traced_longest_gap_seconds,
        limits,
    )
    if traced is None:
        return Abstention((UNTRACED,))
    least = limits.idle_release_share if already_open else limits.idle_share
    if traced.idle_share < least or not traced.has_many_gaps:
        return None
    return traced.finding(
        _recommendations(
            framework,
            is_compiled=bool(model_is_compiled),
            is_fused=bool(optimizer_is_fused),
        )
    )


@dataclass(frozen=True, slots=True)
class _Traced:
    """Mean values of the steps in a profiler trace."""

    step_seconds: float
    kernels: float
    idle_seconds: float
    longest_gap_seconds: float
    limits: Limits

    @classmethod
    def of(
        cls,
        step_seconds: Array,
        kernels: Array,
        idle: Array,
        longest_gap: Array,
        limits: Limits,
    ) -> Self | None:
        """Return None if no traced step has kernels."""
        is_traced = kernels > 0
        if not np.any(is_traced):
            return None

        def mean(column: Array) -> float:
            return float(column[is_traced].mean())

        return cls(
            mean(step_seconds), mean(kernels), mean(idle), mean(longest_gap), limits
        )

    @property
    def idle_share(self) -> float:
        return self.idle_seconds / self.step_seconds

    @property
    def has_many_gaps(self) -> bool:
        """Return whether many short gaps make up the idle time, not one long wait."""
        limits = self.limits
        are_short = (
            self.kernels >= limits.fewest_kernels
            and self.idle_seconds <= self.kernels * limits.short_gap_seconds
        )
        return (
            self.kernels >= limits.kernels or are_short
        ) and self.longest_gap_seconds <= limits.longest_gap_share * self.idle_seconds

    def finding(self, advice: tuple[Recommendation, ...]) -> Finding:
        work = self.step_seconds - self.idle_seconds
        return Finding(
            severity=Severity.WARNING,
            summary=(
                f"Each {duration(self.step_seconds)} step starts {self.kernels:,.0f}"
                f" kernels, and the GPU is idle between them for"
                f" {percent(self.idle_share)} of the step."
            ),
            evidence=(
                Evidence("traced_kernels", "kernels per step", self.kernels, "kernels"),
                Evidence(
                    "traced_idle_seconds",
                    "idle GPU, share of step time",
                    self.idle_share,
                    "share",
                    self.limits.idle_share,
                    Side.ABOVE,
                    release=self.limits.idle_release_share,
                ),
                Evidence(
                    "traced_longest_gap_seconds",
                    "longest gap between kernels, share of the idle time",
                    self.longest_gap_seconds / self.idle_seconds,
                    "share",
                    self.limits.longest_gap_share,
                    Side.BELOW,
                ),
            ),
            recommendations=advice,
            disproof=(
                "Train a few hundred steps with twice the batch: if they take twice as"
                " long, the GPU is the limit and not the kernel launches."
            ),
            gain=expected_gain(self.step_seconds, (Floor(work, "the GPU's own work"),)),
            explains=(
                "gpu-and-cpu-are-both-idle",
                "gpu-is-busy-with-little-work",
                "gpu-utilization-is-low",
                "gpu-reaches-little-of-its-peak",
            ),
            comes_after=("data-wait-dominates", "copies-to-the-gpu-take-long"),
            quality=MEASURED,
            margin=margin_towards(self.idle_share, self.limits.idle_share, 1.0),
            corroboration=AGREEING,
        )


def _recommendations(
    framework: str | None, *, is_compiled: bool, is_fused: bool
) -> tuple[Recommendation, ...]:
    advice = [
        Recommendation(
            "Capture the compiled step into a CUDA graph, so that one launch starts all"
            " its kernels."
            if is_compiled
            else "Compile the model, so that one launch starts many kernels. Keep the"
            " batch shapes constant.",
            code=compile_line(framework),
        )
    ]
    if not is_fused and framework in (None, "pytorch"):
        advice.append(
            Recommendation(
                "Update all parameters in one kernel: use a fused optimizer.",
                code=fused_optimizer_line(framework),
            )
        )
    advice.append(
        Recommendation("Try a larger batch: the same number of kernels does more work.")
    )
    return tuple(advice)
