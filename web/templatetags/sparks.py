"""Lines as small as a word, and how much a number differs from another."""

from __future__ import annotations

import math

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tracker.queries.series.series import Line
from web.figures.spark import HEIGHT, WIDTH, spark_path
from web.templatetags.format import MINUS, UNKNOWN, number, percent

register = template.Library()

# Larger changes are shown as more than this share.
MAX_CHANGE = 10


@register.simple_tag
def spark(line: Line | None) -> SafeString | str:
    """Draw a series as a sparkline; "" without a line."""
    path = "" if line is None else spark_path(line.x, line.mean)
    if not path:
        return ""
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true"><path d="{}"/></svg>',
        WIDTH,
        HEIGHT,
        path,
    )


@register.filter
def signed_share(value: float | None) -> str:
    """Show a change as a percentage with its sign: +4.2 %."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if abs(value) > MAX_CHANGE:
        compared, sign = (">", "+") if value > 0 else ("<", MINUS)
        return f"{compared} {sign}{number(MAX_CHANGE * 100)} %"
    text = percent(value * 100)
    if text.strip(f"{MINUS}0. %") == "":
        return "0 %"
    return text if text.startswith(MINUS) else f"+{text}"
