"""Formats cells of the side-by-side table (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.translation import gettext, ngettext

from tracker.queries.compare.comparison import (
    Difference,
    difference,
    difference_between,
    same,
)
from tracker.queries.run.attributes import AttributeRow, Value
from web.templatetags.format import UNKNOWN, number, percent

TEXT_LENGTH = 300
# Beyond ten times the reference, numbers are clearer than a percentage.
MAX_SHARE = 10
SERIES, NONE = "float_series", "none"
RECORDS = ("text_series", "histogram_series")


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    change: str  # against the reference: +0.12 (+14 %)
    is_changed: bool
    title: str  # text of the tooltip: the full value


def make_cell(row: AttributeRow | None, reference: AttributeRow | None) -> Cell:
    """Show a value, and how it differs from the reference run's."""
    return Cell(
        text="" if row is None else row_text(row),
        change=change_text(row, reference),
        is_changed=not same(row, reference),
        title="" if row is None else _title(row),
    )


def row_text(row: AttributeRow) -> str:
    return "None" if row.kind == NONE else value_text(row.value)


def value_text(value: Value | None) -> str:
    match value:
        case None:
            return UNKNOWN
        case datetime():
            return value.astimezone(UTC).strftime("%-d %b %Y, %H:%M:%S UTC")
        case list():
            return _cut(", ".join(value))
        case str():
            return _cut(value)
        case _:
            return number(value)


def change_text(row: AttributeRow | None, reference: AttributeRow | None) -> str:
    """Return the difference of a metric; "" for a parameter, a fact or an id."""
    if row is None or not row.is_metric:
        return ""
    return _change(difference(row, reference))


def change_between(value: float, reference: float) -> str:
    return _change(difference_between(value, reference))


def _change(found: Difference | None) -> str:
    if found is None:
        return ""
    amount = _signed(number(_rounded(found.amount)), found.amount)
    if found.share is None or abs(found.share) > MAX_SHARE:
        return amount
    return f"{amount} ({_signed(percent(found.share * 100), found.share)})"


def _rounded(amount: float) -> float:
    """Round a fraction to three digits; keep all digits before the point."""
    return float(f"{amount:.3g}") if abs(amount) < 1 else amount


def _signed(text: str, value: float) -> str:
    return f"+{text}" if value > 0 else text


def _title(row: AttributeRow) -> str:
    if row.kind in RECORDS:
        return gettext("last of %(count)s") % {"count": number(row.count)}
    if row.kind != SERIES:
        return repr(row.value) if isinstance(row.value, float) else ""
    template = ngettext(
        "last of %(count)s point; min %(lowest)s, max %(highest)s, mean %(mean)s",
        "last of %(count)s points; min %(lowest)s, max %(highest)s, mean %(mean)s",
        row.count,
    )
    return template % {
        "count": number(row.count),
        "lowest": number(row.minimum),
        "highest": number(row.maximum),
        "mean": number(row.mean),
    }


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LENGTH else text[: TEXT_LENGTH - 1] + "…"
