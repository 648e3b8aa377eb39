"""Formats numbers, durations, sizes and timestamps for people.

Unknown values are shown as a dash, never as 0.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from web.run_names import RunNames

register = template.Library()

UNKNOWN = "–"
MINUS = "\u2212"

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# Older times are shown as dates.
MAX_AGO = 60 * DAY
SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
SIZE_STEP = 1024
# Beyond these a number is easier to read with an exponent.
LARGEST_PLAIN, SMALLEST_PLAIN = 1e9, 1e-4
SIGNIFICANT_DIGITS = 4
# Up to this value, floats represent every integer exactly.
LARGEST_EXACT = 2**53 - 1
# Below this, a quantity is shown with one digit after the point.
ONE_DIGIT_BELOW = 10
SIZE_DIGIT_BELOW = 100  # 23.5 GiB of memory must not become 24
MILLISECONDS_BELOW = 1.0


@register.filter
def number(value: float | bool | None) -> str:
    """Show four significant digits, all digits of an integer, NaN and infinities."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    return _minus(f"{value:,d}")


def _float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    size = abs(value)
    if value.is_integer() and size <= LARGEST_EXACT:
        return _minus(f"{int(value):,d}")
    if not SMALLEST_PLAIN <= size < LARGEST_PLAIN:
        mantissa, exponent = f"{value:.{SIGNIFICANT_DIGITS - 1}e}".split("e")
        return f"{_trimmed(mantissa)}e{int(exponent)}".replace("-", MINUS)
    digits = max(0, SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(size)))
    return _minus(_trimmed(f"{value:,.{digits}f}"))


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _minus(text: str) -> str:
    return text.replace("-", MINUS)


@register.filter
def breakable(path: str) -> SafeString:
    """Let a path's line break after its separators rather than within a word."""
    return format_html_join(
        "", "{}<wbr>", ((part,) for part in re.split(r"(?<=[/_.])", path))
    )


@register.filter
def cut_among(name: str, names: RunNames | str = "") -> SafeString:
    """Show a run's name; in little room, what it shares with `names` is cut first."""
    known = names if isinstance(names, RunNames) else RunNames()
    parts = (("common" if cut else "own", text) for text, cut in known.parts(name))
    spans = format_html_join("", '<span class="cut__{}">{}</span>', parts)
    return format_html('<bdi class="cut" data-behaviour="cut-name">{}</bdi>', spans)


@register.filter
def share(value: float | None) -> str:
    """Show a share from 0 to 1 as a percentage."""
    return percent(None if value is None else value * 100)


@register.filter
def percent(value: float | None) -> str:
    """Show a value that already is a percentage."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    digits = 1 if 0 < abs(value) < ONE_DIGIT_BELOW else 0
    return f"{_trimmed(f'{value:.{digits}f}')} %".replace("-", MINUS)


@register.filter
def duration(value: float | timedelta | None) -> str:
    """Show seconds in the two units that matter: 180 ms, 3.4 s, 5 min 12 s, 2 h 5 min."""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0:
        return f"{MINUS}{duration(-seconds)}"
    if seconds < MILLISECONDS_BELOW:
        return f"{number(float(f'{seconds * 1000:.3g}'))} ms"
    if round(seconds, 1) < MINUTE:
        return f"{_trimmed(f'{seconds:.1f}')} s"
    return _two_units(round(seconds))


def _two_units(seconds: int) -> str:
    if seconds < HOUR:
        return _joined((seconds // MINUTE, "min"), (seconds % MINUTE, "s"))
    if seconds < DAY:
        return _joined((seconds // HOUR, "h"), (seconds % HOUR // MINUTE, "min"))
    return _joined((seconds // DAY, "d"), (seconds % DAY // HOUR, "h"))


def _joined(*parts: tuple[int, str]) -> str:
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


@register.filter
def bytes_size(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return UNKNOWN
    size = abs(value)
    power = 0
    while size >= SIZE_STEP and power < len(SIZES) - 1:
        size /= SIZE_STEP
        power += 1
    digits = 1 if power and size < SIZE_DIGIT_BELOW else 0
    sign = MINUS if value < 0 else ""
    return f"{sign}{_trimmed(f'{size:.{digits}f}')} {SIZES[power]}"


@register.filter
def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """Format the age of a timestamp; one in the near future means clock skew."""
    if moment is None:
        return UNKNOWN
    seconds = ((now or timezone.now()) - moment).total_seconds()
    if seconds < MINUTE:
        return gettext("just now")
    if seconds < HOUR:
        return gettext("%(count)s min ago") % {"count": int(seconds // MINUTE)}
    if seconds < 2 * DAY:
        return gettext("%(count)s h ago") % {"count": int(seconds // HOUR)}
    if seconds < MAX_AGO:
        days = int(seconds // DAY)
        template = ngettext("%(count)s day ago", "%(count)s days ago", days)
        return template % {"count": days}
    return moment.astimezone(UTC).strftime("%-d %b %Y")


@register.simple_tag
def counted(lasted: timedelta | None) -> SafeString | str:
    """Show the duration of a state; a script on the page keeps counting."""
    if lasted is None:
        return UNKNOWN
    seconds = int(lasted.total_seconds())
    return format_html(
        '<span role="timer" data-behaviour="elapsed-time" data-seconds="{}" hx-morph-skip-children>{}</span>',
        seconds,
        duration(seconds),
    )


# Scripts replace the text of both tags. A morph that restored the server's text would
# lay out a refreshing page twice each time.
@register.simple_tag
def moment(when: datetime | None) -> SafeString | str:
    """Show an instant in UTC; the browser converts it to the user's time zone."""
    return UNKNOWN if when is None else _time(when, "minute", "%-d %b %Y, %H:%M UTC")


@register.simple_tag
def exact_moment(when: datetime | None) -> SafeString | str:
    """Show an instant with its seconds."""
    return UNKNOWN if when is None else _time(when, "second", "%-d %b %Y, %H:%M:%S UTC")


def _time(when: datetime, precision: str, form: str) -> SafeString:
    utc = when.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-behaviour="local-time" data-precision="{}" hx-morph-skip-children>{}</time>',
        utc.isoformat(),
        precision,
        utc.strftime(form),
    )


@register.simple_tag
def moment_ago(when: datetime | None) -> SafeString | str:
    """Show how long ago a moment was, with the moment itself on hover."""
    if when is None:
        return UNKNOWN
    if (timezone.now() - when).total_seconds() >= MAX_AGO:
        return _time(when, "day", "%-d %b %Y")
    return format_html(
        '<time datetime="{}" data-behaviour="local-time">{}</time>',
        when.astimezone(UTC).isoformat(),
        ago(when),
    )
