"""A thin strip of how busy something was, as rectangles of one color (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext

from web.templatetags.format import percent

LEVELS = 10
WHOLE = 100.0


@dataclass(frozen=True, slots=True)
class StripPart:
    """Neighboring parts of about the same value; `opacity` is how busy they were."""

    start: int
    length: int
    opacity: str


@dataclass(frozen=True, slots=True)
class ShownStrip:
    name: str
    length: int
    parts: tuple[StripPart, ...]
    summary: str  # the same in words


def shown_strip(name: str, values: Sequence[float | None]) -> ShownStrip | None:
    """Return a strip, or None without measurements."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    parts, start = [], 0
    for level, group in groupby(values, key=_level):
        length = len(list(group))
        if level is not None:
            parts.append(StripPart(start, length, f"{level / LEVELS:g}"))
        start += length
    mean = sum(known) / len(known)
    note = gettext(
        "%(name)s over the stage: mean %(mean)s, min %(lowest)s, max %(highest)s"
    ) % {
        "name": name,
        "mean": percent(mean),
        "lowest": percent(min(known)),
        "highest": percent(max(known)),
    }
    return ShownStrip(name, len(values), tuple(parts), note)


def _level(value: float | None) -> int | None:
    return None if value is None else round(LEVELS * value / WHOLE)
