"""Measured values with their units, as findings cite them."""

from __future__ import annotations

import math

from django import template

from web.templatetags.format import UNKNOWN, bytes_size, duration, number, percent

register = template.Library()

SHOWN_AS = {"%": percent, "s": duration, "B": bytes_size}

# From here on, cores are told with three digits.
MANY_CORES = 10
# Below this a factor is told with two digits after its point: 1.16×.
COARSE_FROM = 10


@register.filter
def quantity(value: float | None, unit: str) -> str:
    if value is None:
        return UNKNOWN
    if unit == "share":
        return percent(value * 100)
    if unit in SHOWN_AS:
        return SHOWN_AS[unit](value)
    if unit == "cores":
        digits = 2 if abs(value) < MANY_CORES else 3
        value = float(f"{value:.{digits}g}")
    return f"{number(float(value))} {unit}".rstrip()


@register.filter
def factor(value: float | None) -> str:
    """Show a factor of throughput: 1.16×."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    digits = 0 if value >= COARSE_FROM else 2
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}×"
