"""Logs by stage, rank and stream, where there are too many to stand side by side (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from web.texts import gettext_lazy

CAPTURED = re.compile(
    r"monitoring/(?P<stage>.+?)/(?:rank-(?P<rank>\d{1,9})/)?(?P<stream>[^/]+)"
)
LABELS = {
    "stage": gettext_lazy("Stage"),
    "rank": gettext_lazy("Rank"),
    "stream": gettext_lazy("Stream"),
}


@dataclass(frozen=True, slots=True)
class LogPlace:
    """The process and stream of a log; for other texts the stream is the path."""

    stage: str
    rank: str
    stream: str


@dataclass(frozen=True, slots=True)
class Choice:
    name: str
    label: str
    values: tuple[str, ...]
    chosen: str


def place_of(path: str) -> LogPlace:
    match = CAPTURED.fullmatch(path)
    if match is None:
        return LogPlace("", "0", path)
    return LogPlace(match["stage"], match["rank"] or "0", match["stream"])


def choices(places: Sequence[LogPlace], path: str) -> list[Choice]:
    """Return the properties in which the logs differ, with the selected one."""
    shown = place_of(path)
    found = []
    for name, label in LABELS.items():
        values = sorted({getattr(place, name) for place in places}, key=_as_number)
        if len(values) > 1:
            found.append(Choice(name, label, tuple(values), getattr(shown, name)))
    return found


def nearest(places: Sequence[LogPlace], labels: Mapping[str, str]) -> int:
    """Return the index of the log that matches best, the stage first."""
    order = list(range(len(places)))
    for name in LABELS:
        fitting = [n for n in order if getattr(places[n], name) == labels.get(name)]
        order = fitting or order
    return order[0]


def _as_number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else -1), text
