"""Metric rules in the words of the pages."""

from __future__ import annotations

from typing import Protocol

from django.utils.translation import gettext

from web.texts import gettext_lazy

CONDITIONS = {
    "not-finite": gettext_lazy("is NaN or infinite"),
    "above": gettext_lazy("is above"),
    "below": gettext_lazy("is below"),
    "mean-above": gettext_lazy("mean is above"),
    "mean-below": gettext_lazy("mean is below"),
    "no-point": gettext_lazy("has no new points"),
}
UNITS = {"steps": gettext_lazy("steps"), "minutes": gettext_lazy("minutes")}


class Described(Protocol):
    @property
    def condition(self) -> str: ...
    @property
    def limit(self) -> float | None: ...
    @property
    def duration(self) -> float: ...
    @property
    def unit(self) -> str: ...


def condition_text(rule: Described) -> str:
    """Return the condition without the path, such as "is above 10 for 100 steps"."""
    sentence = {
        "not-finite": gettext("is NaN or infinite"),
        "above": gettext("is above %(limit)s"),
        "below": gettext("is below %(limit)s"),
        "mean-above": gettext("mean is above %(limit)s over %(duration)s"),
        "mean-below": gettext("mean is below %(limit)s over %(duration)s"),
        "no-point": gettext("has no new points for %(duration)s"),
    }[rule.condition]
    number = f"{rule.duration:,.10g}"
    duration = (
        gettext("%(number)s steps") % {"number": number}
        if rule.unit == "steps"
        else gettext("%(number)s min") % {"number": number}
    )
    limit = "" if rule.limit is None else f"{rule.limit:,.6g}"
    words = sentence % {"limit": limit, "duration": duration}
    if rule.condition in ("above", "below") and rule.duration:
        return gettext("%(condition)s for %(duration)s") % {
            "condition": words,
            "duration": duration,
        }
    return words
