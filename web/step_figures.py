"""The figures of a stage's steps as pages show them (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.breakdown import DATA_WAIT, StepBreakdown
from web.templatetags.format import UNKNOWN, duration, number, percent


@dataclass(frozen=True, slots=True)
class StepFigures:
    """Texts about the steady part of a stage; None: its steps were not measured.

    The step's time is the mean, as throughput is its inverse; parts add up to it.
    """

    step: StepBreakdown | None

    @property
    def per_second(self) -> float | None:
        if self.step is None:
            return None
        return self.step.examples_per_second or self.step.steps_per_second

    @property
    def throughput(self) -> str:
        value = self.per_second
        return UNKNOWN if value is None else number(float(f"{value:.3g}"))

    @property
    def throughput_unit(self) -> str:
        if self.step is None:
            return ""
        return "steps/s" if self.step.examples_per_second is None else "examples/s"

    @property
    def step_time(self) -> str:
        return UNKNOWN if self.step is None else duration(self.step.mean_step_seconds)

    @property
    def median(self) -> str:
        if self.step is None:
            return ""
        return f"median {duration(self.step.median_step_seconds)}"

    @property
    def batch(self) -> str:
        """Say how many examples a step has, where that is known."""
        if self.step is None or self.step.examples_per_step is None:
            return ""
        return f"{number(float(f'{self.step.examples_per_step:.4g}'))} examples"

    @property
    def data_wait(self) -> str:
        if self.step is None or not any(p.name == DATA_WAIT for p in self.step.parts):
            return UNKNOWN
        return percent(self.step.data_wait_share * 100)
