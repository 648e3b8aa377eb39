"""Formats time, money and energy of a time breakdown for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template

from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.limit_labels import limit_label
from tracker.queries.diagnoses.diagnoses import StageDiagnosis
from tracker.queries.ladders.savings import Worth, worth_of
from web.templatetags.format import UNKNOWN, duration, number

register = template.Library()
register.filter(limit_label)

MINUTE, HOUR = 60, 3_600
GRAMS = 1_000  # grams per kilogram
CENT_DIGITS = 2
# Above this amount, cents are not shown.
WHOLE_FROM = 1_000
SIGNIFICANT_DIGITS = 3


@register.filter
def place(share: float) -> str:
    """Format a share for SVG, independent of the page's language."""
    return f"{share:.4f}"


@register.filter
def tenths(share: float) -> str:
    """Show a percentage with one decimal, so that those of a breakdown add up to 100."""
    return f"{share * 100:.1f} %"


@register.filter
def gpu_time(seconds: float | None, is_of_gpus: bool) -> str:
    """Show GPU-seconds in a unit that fits: 7.2 GPU-s, 24 GPU-min, 12.5 GPU-h."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    return gpu_time_of(seconds, seconds) if is_of_gpus else duration(seconds)


@register.filter
def gpu_time_of(seconds: float | None, whole: float) -> str:
    """Show GPU-seconds in the unit that fits the whole, so that a column has one unit."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    unit = gpu_unit(whole)
    return f"{number(_rounded(seconds / unit.seconds))} {unit.name}"


@dataclass(frozen=True, slots=True)
class GpuUnit:
    name: str
    seconds: float


def gpu_unit(whole: float) -> GpuUnit:
    """Return the unit that fits this many GPU-seconds."""
    if whole < MINUTE:
        return GpuUnit("GPU-s", 1.0)
    if whole < HOUR:
        return GpuUnit("GPU-min", MINUTE)
    return GpuUnit("GPU-h", HOUR)


@register.filter
def money(amount: float | None, currency: str) -> str:
    if amount is None or not math.isfinite(amount):
        return UNKNOWN
    if abs(amount) >= WHOLE_FROM:
        return f"{number(round(amount))} {currency}".rstrip()
    return f"{amount:.{CENT_DIGITS}f} {currency}".rstrip()


@register.filter
def kilowatt_hours(amount: float | None) -> str:
    if amount is None or not math.isfinite(amount):
        return UNKNOWN
    return f"{number(_rounded(amount))} kWh"


@register.filter
def kilograms(amount: float | None) -> str:
    if amount is None or not math.isfinite(amount):
        return UNKNOWN
    if amount < 1:
        return f"{number(_rounded(amount * GRAMS))} g"
    return f"{number(_rounded(amount))} kg"


# Any: a row of the projects table, which pages do not import.
@register.simple_tag
def worth(gain: Gain | None, diagnosis: StageDiagnosis, project: Any) -> Worth | None:
    """Return the expected savings of a fix; None without a prediction."""
    return worth_of(
        gain,
        diagnosis.ledger,
        diagnosis.steps_per_second,
        project.gpu_hour_price,
        project.currency,
    )


@register.filter
def typed(value: float) -> str:
    """Write a number as a field takes it, with all of its digits."""
    return f"{value:d}" if isinstance(value, int) else f"{value:.15g}"


@register.filter
def of_name(typed: Mapping[str, str], name: str) -> str:
    """Return the submitted value of the field with this name."""
    return typed.get(name, "")


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
