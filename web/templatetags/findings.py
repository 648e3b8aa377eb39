"""Anchors, dates and links of findings."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.translation import gettext

from tracker.diagnosis.engine.measurements import MICROSECONDS, Window
from tracker.queries.diagnoses.diagnoses import HistoryEntry
from web.pages.run.failure_text import error_line, frames_of, raised_at

register = template.Library()

MILLISECONDS = 1_000
# Margin around the analyzed window, as a share of its length.
MARGIN = 0.15


register.filter(raised_at)
register.filter(error_line)
register.filter(frames_of)


@register.filter
def of(by_id: Mapping[int, str], finding_id: int) -> str:
    """Look up a value by name; "" if missing."""
    return by_id.get(finding_id, "")


@register.filter
def change(entry: HistoryEntry) -> str:
    """Describe an event of a finding: "opened as critical, confirmed, the main cause"."""
    if entry.what == "cleared":
        return gettext("cleared")
    template = {
        "opened": gettext("opened as %(severity)s"),
        "changed": gettext("changed to %(severity)s"),
    }[entry.what]
    parts = [template % {"severity": entry.severity}, entry.label.value]
    return ", ".join([*parts, gettext("main cause")] if entry.is_primary else parts)


@register.filter
def zoom(window: Window) -> str:
    """Return the part of an address that zooms to a window and its surroundings."""
    around = window.seconds * MARGIN * MICROSECONDS
    low = (window.start - around) / MILLISECONDS
    high = (window.end + around) / MILLISECONDS
    return f"low={low:.0f}&high={high:.0f}"
