"""Measured values with their units, as findings cite them."""

from __future__ import annotations

import math

from django import template
from django.utils.translation import gettext

from tracker.diagnosis.engine.finding import Evidence, Side
from tracker.diagnosis.signals import SIGNALS
from tracker.diagnosis.signals.signal import FLAG
from web.templatetags.format import UNKNOWN, bytes_size, duration, number, percent

register = template.Library()


def _yes_or_no(value: float) -> str:
    return gettext("yes") if value else gettext("no")


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_size(bytes_per_second)}/s"


SHOWN_AS = {
    "%": percent,
    "s": duration,
    "B": bytes_size,
    "B/s": _rate,
    FLAG: _yes_or_no,
}

# The name of a single one.
ONE = {
    "cores": "core",
    "processes": "process",
    "threads": "thread",
    "requests": "request",
    "errors": "error",
    "points": "point",
    "packets": "packet",
    "loads": "load",
    "cards": "card",
    "runs": "run",
    "times": "time",
}
BEYOND = {Side.ABOVE: "> ", Side.BELOW: "< "}
OR_EQUAL = str.maketrans({">": "≥", "<": "≤"})
# A factor of throughput below this is shown as no gain.
SMALLEST_GAIN = 1.01

# From here on, core counts have three digits.
MANY_CORES = 10
# Below this, a factor has two decimal places: 1.16×.
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
    text = number(float(value))
    return f"{text} {ONE.get(unit, unit) if text == '1' else unit}".rstrip()


@register.filter
def described(name: str) -> str:
    """Return the description of a signal; "" if it no longer exists."""
    return SIGNALS[name].description if name in SIGNALS else ""


@register.filter
def limit(cited: Evidence) -> str:
    """Show a limit with the side of it on which a value speaks for the finding."""
    if cited.limit is None:
        return ""
    beyond = BEYOND.get(cited.side, "") if cited.side else ""
    if beyond and cited.value == cited.limit:
        beyond = beyond.translate(OR_EQUAL)
    return f"{beyond}{quantity(cited.limit, cited.unit)}"


@register.filter
def clears_at(cited: Evidence) -> str:
    """Return the value at which a finding held open by hysteresis clears, or ""."""
    if not cited.is_held or cited.side is None:
        return ""
    back = BEYOND[Side.BELOW if cited.side is Side.ABOVE else Side.ABOVE]
    release = f"{back}{quantity(cited.release, cited.unit)}"
    return gettext("clears at %(release)s") % {"release": release}


@register.filter
def is_gain(factor: float) -> bool:
    """Return whether a throughput factor is large enough to be shown as a gain."""
    return factor >= SMALLEST_GAIN


@register.filter
def factor(value: float | None) -> str:
    """Show a factor of throughput: 1.16×."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    digits = 0 if value >= COARSE_FROM else 2
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}×"
