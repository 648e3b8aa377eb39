"""Names and values of run fields other than attributes, for widgets."""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.utils.translation import gettext

from tracker.queries.runs.filter.fields import FIELDS, FieldValue
from web.templatetags.format import UNKNOWN, duration, number, percent
from web.texts import gettext_lazy

LABELS: Mapping[str, str] = {
    "duration": gettext_lazy("Duration"),
    "wall_time": gettext_lazy("Wall time"),
    "gpu": gettext_lazy("GPU (run)"),
    "cpu": gettext_lazy("CPU (run)"),
    "gpu_idle": gettext_lazy("GPU idle"),
    "gpu_hours": gettext_lazy("GPU hours"),
    "energy": gettext_lazy("Energy"),
    "finding": gettext_lazy("Main finding"),
    "made_by": gettext_lazy("Created by"),
}
SHARES = ("gpu", "cpu", "gpu_idle")
# From here on, decimals are not significant.
THREE_DIGITS = 1_000
QUOTED = re.compile(r'"(.+)"', re.DOTALL)


def field_of(name: str) -> str | None:
    """Return the field that a name stands for; None: it is the path of an attribute."""
    return name if name in FIELDS else None


def path_of(name: str) -> str:
    """Return a path, which stands in quotes if it is called as a field."""
    quoted = QUOTED.fullmatch(name)
    return quoted[1] if quoted and quoted[1] in FIELDS else name


def field_text(field: str, value: FieldValue) -> str:
    match value:
        case None:
            return UNKNOWN
        case str():
            return value
    if field in SHARES:
        return percent(value)
    if field in ("duration", "wall_time"):
        return duration(value)
    text = number(_rounded(value))
    return f"{text} kWh" if field == "energy" else text


def field_change(field: str, value: float, reference: float) -> str:
    """Format the difference of two numbers; shares in percentage points."""
    amount = value - reference
    if not amount:
        return ""
    text = (
        gettext("%(count)s points") % {"count": number(_rounded(amount))}
        if field in SHARES
        else field_text(field, amount)
    )
    return f"+{text}" if amount > 0 else text


def _rounded(value: float) -> float:
    return float(f"{value:.3g}") if abs(value) < THREE_DIGITS else value
