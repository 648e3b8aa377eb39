"""A timeline of a few traced steps: a figure in Plotly's JSON format (pure)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from seamark.importers.intervals import Interval

SHOWN_STEPS = 3
MAX_BARS = 4_000  # of a lane; browsers draw this many within a second
MAX_LANES = 40
# Bars of a lane at first: more would look like one, though the GPU idles between them.
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

    def most_between(self, start: float, end: float) -> int:
        """Return the number of spans in the lane with the most of them."""
        counts = (len(lane.between(start, end)) for lane in self.spans.values())
        return max(counts, default=0)

    def _number(self, name: str) -> int:
        if name not in self._numbers and len(self._numbers) >= _MAX_NAMES:
            name = "(other)"
        return self._numbers.setdefault(name, len(self._numbers))


def shown_interval(steps: Sequence[Interval], lanes: Lanes) -> Interval | None:
    """Return the interval of up to three steps in the middle; the first ones are slower.

    One step alone is shown if three have more spans than a browser can draw.
    """
    if not steps:
        return None
    for count in (SHOWN_STEPS, 1):
        first = max(0, (len(steps) - count) // 2)
        shown = steps[first : first + count]
        interval = shown[0][0], shown[-1][1]
        if lanes.most_between(*interval) <= MAX_BARS:
            break
    return interval


# Any: JSON about to leave.
def timeline(lanes: Lanes, interval: Interval, name: str) -> dict[str, Any]:
    """Return a figure with one row per lane, in milliseconds from the interval's start."""
    start, end = interval
    names = lanes.names()
    rows = {
        lane: _merged(spans.between(start, end), names, end - start)
        for lane, spans in sorted(lanes.spans.items(), key=_order)
    }
    rows = {lane: bars for lane, bars in rows.items() if bars}
    first_end = min(
        [end, *(bars[FIRST_BARS][0] for bars in rows.values() if bars[FIRST_BARS:])]
    )
    hint = "" if first_end == end else " (double-click to zoom out)"
    return {
        "data": [_lane(lane, bars, start) for lane, bars in rows.items()],
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


_Bar = tuple[float, float, str]


def _merged(
    spans: Sequence[tuple[float, float, int]], names: Sequence[str], length: float
) -> list[_Bar]:
    """Join neighbors that are too close to be told apart on a screen."""
    nearest = 0.0
    bars = list(_joined(spans, names, nearest))
    while len(bars) > MAX_BARS:
        nearest = nearest * 2 or length / (8 * MAX_BARS)
        bars = list(_joined(spans, names, nearest))
    return bars


def _joined(
    spans: Sequence[tuple[float, float, int]], names: Sequence[str], nearest: float
) -> Iterator[_Bar]:
    since = until = 0.0
    held: dict[str, int] = {}
    for start, end, number in spans:
        if held and (start - until > nearest or not nearest):
            yield since, until, _label(held)
            held = {}
        if not held:
            since, until = start, end
        until = max(until, end)
        held[names[number]] = held.get(names[number], 0) + 1
    if held:
        yield since, until, _label(held)


def _label(held: dict[str, int]) -> str:
    most = max(held, key=lambda name: held[name])
    count = sum(held.values())
    return most if count == 1 else f"{count} spans, most of them {most}"


# Any: JSON about to leave.
def _lane(lane: str, bars: Sequence[_Bar], origin: float) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": lane,
        "y": [lane] * len(bars),
        "base": [round((start - origin) / _MILLISECOND, 4) for start, _, _ in bars],
        "x": [round((end - start) / _MILLISECOND, 4) for start, end, _ in bars],
        "text": [label for _, _, label in bars],
        "textposition": "none",
        "hovertemplate": "%{text}<br>%{x:.3f} ms, from %{base:.3f} ms<extra></extra>",
        "marker": {"line": {"width": 0}},
    }


def _order(lane: tuple[str, NamedSpans]) -> tuple[int, str]:
    """Sort the lanes of the script before those of GPUs."""
    name = lane[0]
    is_host = name in _HOST_LANES
    return (_HOST_LANES.index(name) if is_host else len(_HOST_LANES)), name
