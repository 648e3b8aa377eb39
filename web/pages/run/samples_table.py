"""The readings of a group as numbers: lowest, mean, highest, and how good they are (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from tracker.queries.hardware.hardware import Summary
from web.figures.hardware import reading_name, scale_of
from web.figures.hardware_kinds import Group, Kind
from web.templatetags.format import UNKNOWN, number, percent
from web.texts import gettext_lazy

# A quality as a word, for readers without knowledge of the scale.
WORDS = (
    (1.0, gettext_lazy("counted")),
    (0.8, gettext_lazy("sampled")),
    (0.6, gettext_lazy("coarse")),
    (0.0, gettext_lazy("inferred")),
)
# Longer lists would need a separate page; the Attributes tab has the rest.
MAX_ROWS = 200
SLICES = re.compile(r"(?<=/)\d{1,4}(?=/)")


@dataclass(frozen=True, slots=True)
class ReadingRow:
    title: str
    name: str
    stage: str
    path: str
    unit: str
    minimum: str
    mean: str
    maximum: str
    count: int
    scope: str
    quality: str
    source: str


def reading_rows(summaries: Sequence[Summary], group: Group) -> list[ReadingRow]:
    """Return a row of each measure of each stage, in the order in which they are drawn."""
    by_kind: Mapping[str, list[Summary]] = {kind.title: [] for kind in group.kinds}
    for summary in summaries:
        for kind in group.kinds:
            if reading_name(kind, summary.measure):
                by_kind[kind.title].append(summary)
                break
    rows = [
        _row(kind, summary)
        for kind in group.kinds
        for summary in sorted(by_kind[kind.title], key=_order)
    ]
    return rows[:MAX_ROWS]


def _row(kind: Kind, summary: Summary) -> ReadingRow:
    row, described = summary.row, summary.description
    scale, unit = scale_of(kind.unit, abs(row.maximum or 0.0))
    return ReadingRow(
        title=gettext(kind.title),
        name=reading_name(kind, summary.measure),
        stage=summary.stage,
        path=row.path,
        unit=unit,
        minimum=_scaled(row.minimum, scale),
        mean=_scaled(row.mean, scale),
        maximum=_scaled(row.maximum, scale),
        count=row.count,
        scope=described.scope if described else "",
        quality=_quality(described.quality) if described else "",
        source=described.source if described else "",
    )


def _scaled(value: float | None, scale: float) -> str:
    return UNKNOWN if value is None else number(float(f"{value * scale:.3g}"))


def _quality(quality: float) -> str:
    word = next(word for least, word in WORDS if quality >= least)
    return f"{percent(quality * 100)}, {word}"


def _order(summary: Summary) -> tuple[list[int], str, str]:
    """Sort numbers of GPUs as numbers."""
    numbers = [int(each) for each in SLICES.findall(summary.measure)]
    return numbers, summary.measure, summary.stage
