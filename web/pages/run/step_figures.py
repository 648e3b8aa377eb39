"""The figures of a stage's steps as pages show them (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from tracker.diagnosis.breakdown.step import DATA_WAIT, StepBreakdown
from tracker.queries.diagnoses.diagnoses import StageDiagnosis
from web.templatetags.format import UNKNOWN, duration, number, percent


@dataclass(frozen=True, slots=True)
class StepFigures:
    """Texts about the steady part of a stage; None: not measured.

    The step time is the mean, as throughput is its inverse, and the parts add up to it.
    """

    steps_per_second: float | None = None
    mean_seconds: float | None = None
    median_seconds: float | None = None
    examples: float | None = None  # per step
    data_wait_share: float | None = None

    @property
    def per_second(self) -> float | None:
        if self.steps_per_second is None:
            return None
        return self.steps_per_second * (self.examples or 1.0)

    @property
    def throughput(self) -> str:
        value = self.per_second
        return UNKNOWN if value is None else number(float(f"{value:.3g}"))

    @property
    def throughput_unit(self) -> str:
        if self.steps_per_second is None:
            return ""
        return gettext("steps/s") if self.examples is None else gettext("examples/s")

    @property
    def step_time(self) -> str:
        return UNKNOWN if self.mean_seconds is None else duration(self.mean_seconds)

    @property
    def median(self) -> str:
        if self.median_seconds is None:
            return ""
        return gettext("median %(time)s") % {"time": duration(self.median_seconds)}

    @property
    def batch(self) -> str:
        """Return the number of examples per step as text, if known."""
        if self.examples is None:
            return ""
        count = float(f"{self.examples:.4g}")
        template = ngettext(
            "%(count)s example", "%(count)s examples", 1 if count == 1 else 2
        )
        return template % {"count": number(count)}

    @property
    def data_wait(self) -> str:
        if self.data_wait_share is None:
            return UNKNOWN
        return percent(self.data_wait_share * 100)


def of_breakdown(step: StepBreakdown | None) -> StepFigures:
    if step is None:
        return StepFigures()
    has_wait = any(part.name == DATA_WAIT for part in step.parts)
    return StepFigures(
        steps_per_second=step.steps_per_second,
        mean_seconds=step.mean_step_seconds,
        median_seconds=step.median_step_seconds,
        examples=step.examples_per_step,
        data_wait_share=step.data_wait_share if has_wait else None,
    )


def of_diagnosis(diagnosis: StageDiagnosis | None) -> StepFigures | None:
    """Return the step statistics of a diagnosis; None without steps."""
    if diagnosis is None or not diagnosis.steps_per_second:
        return None
    steps, examples = diagnosis.steps_per_second, diagnosis.examples_per_second
    return StepFigures(
        steps_per_second=steps,
        mean_seconds=1.0 / steps,
        median_seconds=diagnosis.median_step_seconds,
        examples=None if examples is None else examples / steps,
        data_wait_share=diagnosis.data_wait_share,
    )
