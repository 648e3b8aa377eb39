"""A timeline of a few traced steps: a figure in Plotly's JSON format (pure)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from seamark.importers.intervals import Interval

SHOWN_STEPS = 3
MAX_BARS = 4_000  # per lane; browsers draw this many within a second
MAX_LANES = 40
# Initial bars per lane: more would merge into one, although the GPU idles between them.
FIRST_BARS = 150
_MAX_NAMES = 20_000
_NAME_CHARACTERS = 120
_MILLISECOND = 1_000.0  # microseconds
_HOST_LANES = ("Steps", "Script", "CUDA calls")
# Readable on a light page and on a dark one.
_TEXT, _LINES, _TRANSPARENT = "#7d8590", "rgba(125, 133, 144, 0.3)", "rgba(0, 0, 0, 0)"
_LANE_HEIGHT, _MARGINS_HEIGHT = 44, 110  # pixels


@dataclass
class NamedSpans:
    """Spans of one lane with their names, 20 bytes each."""

    bounds: array[float] = field(default_factory=lambda: array("d"))
    names: array[int] = field(default_factory=lambda: array("I"))

    def between(self, start: float, end: float) -> list[tuple[float, float, int]]:
        """Return (start, end, name) of the spans in an interval, cut at its bounds."""
        pairs = zip(self.bounds[::2], self.bounds[1::2], self.names, strict=True)
        return sorted(
            (max(since, start), min(until, end), name)
            for since, until, name in pairs
            if until > start and since < end
        )


@dataclass
class Lanes:
    """Spans by lane: GPUs with their streams, and the main thread of the script."""

    spans: dict[str, NamedSpans] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, lane: str, start: float, end: float, name: str) -> None:
        if lane not in self.spans:
            if len(self.spans) >= MAX_LANES:
                return
            self.spans[lane] = NamedSpans()
        spans = self.spans[lane]
        spans.bounds.extend((start, end))
        spans.names.append(self._number(name[:_NAME_CHARACTERS]))

    def names(self) -> list[str]:
        return list(self._numbers)

    def end_of_first(self, count: int, start: float, end: float) -> float:
        """Return the time until which no lane has more spans; `end` if none has."""
        starts = [
            spans[count][0]
            for lane in self.spans.values()
            if len(spans := lane.between(start, end)) > count
        ]
        return min(starts, default=end)

    def _number(self, name: str) -> int:
        if name not in self._numbers and len(self._numbers) >= _MAX_NAMES:
            name = "(other)"
        return self._numbers.setdefault(name, len(self._numbers))


def shown_interval(steps: Sequence[Interval], lanes: Lanes) -> Interval | None:
    """Return the interval of up to three steps in the middle; the first ones are slower.

    If a browser cannot draw so many spans, it is one step, or the beginning of one.
    """
    if not steps:
        return None
    for count in (SHOWN_STEPS, 1):
        first = max(0, (len(steps) - count) // 2)
        shown = steps[first : first + count]
        start, end = shown[0][0], shown[-1][1]
        drawable = lanes.end_of_first(MAX_BARS, start, end)
        if drawable == end:
            break
    return start, drawable


# Any: JSON to send.
def timeline(lanes: Lanes, interval: Interval, name: str) -> dict[str, Any]:
    """Return a figure with one row per lane, in milliseconds from the interval's start."""
    start, end = interval
    names = lanes.names()
    rows = {
        lane: bars
        for lane, spans in sorted(lanes.spans.items(), key=_order)
        if (bars := spans.between(start, end))
    }
    first_end = lanes.end_of_first(FIRST_BARS, start, end)
    hint = "" if first_end == end else " (double-click to zoom out)"
    return {
        "data": [_lane(lane, bars, names, start) for lane, bars in rows.items()],
        "layout": {
            "title": {"text": f"{name}{hint}", "font": {"size": 13}},
            "barmode": "overlay",
            "bargap": 0.25,
            "dragmode": "zoom",
            "height": _MARGINS_HEIGHT + _LANE_HEIGHT * len(rows),
            "showlegend": False,
            "hovermode": "closest",
            "paper_bgcolor": _TRANSPARENT,
            "plot_bgcolor": _TRANSPARENT,
            "font": {"color": _TEXT, "size": 12},
            "margin": {"t": 44, "b": 44, "l": 20, "r": 16},
            "xaxis": {
                "title": {"text": "ms"},
                "range": [0, (first_end - start) / _MILLISECOND],
                "gridcolor": _LINES,
                "zeroline": False,
            },
            "yaxis": {
                "autorange": "reversed",
                "fixedrange": True,
                "automargin": True,
                "gridcolor": _TRANSPARENT,
            },
        },
    }


# Any: JSON to send.
def _lane(
    lane: str,
    bars: Sequence[tuple[float, float, int]],
    names: Sequence[str],
    origin: float,
) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": lane,
        "y": [lane] * len(bars),
        "base": [round((start - origin) / _MILLISECOND, 4) for start, _, _ in bars],
        "x": [round((end - start) / _MILLISECOND, 4) for start, end, _ in bars],
        "text": [names[number] for _, _, number in bars],
        "textposition": "none",
        "hovertemplate": "%{text}<br>%{x:.3f} ms, from %{base:.3f} ms<extra></extra>",
        "marker": {"line": {"width": 0}},
    }


def _order(lane: tuple[str, NamedSpans]) -> tuple[int, str]:
    """Sort the lanes of the script before those of GPUs."""
    name = lane[0]
    is_host = name in _HOST_LANES
    return (_HOST_LANES.index(name) if is_host else len(_HOST_LANES)), name
