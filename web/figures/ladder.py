"""The time breakdown of a step, as one stacked bar per optimization step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from web.figures.layout import framed
from web.figures.text import literal
from web.figures.texts import gettext, gettext_noop
from web.figures.traces import Figure, Trace, typed

MILLISECONDS = 1_000
# Unit of a bar, besides a step.
EXAMPLE = "example"

# Names and colors of the two parts that every loop has; phases lie between them.
DATA_WAIT, OTHER = "data wait", "other"
PHASE_COLOURS = 6
SHOWN_NAMES = {
    DATA_WAIT: gettext_noop("waiting for data"),
    OTHER: gettext_noop("everything else"),
}

# The usual phases in the order they happen; others follow by name.
PHASE_ORDER = ("copy", "forward", "loss", "backward", "communication", "optimizer")

ROW_HEIGHT = 50
FRAME_HEIGHT = 46
LONGEST_LABEL = 44
ROOM_FOR_TOTAL = 62
NARROWEST_TEXT = 10


@dataclass(frozen=True, slots=True)
class Bar:
    """One optimization step; `parts` are seconds by name, and empty if unknown."""

    label: str
    parts: Sequence[tuple[str, float]]
    unknown: str = ""

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds in self.parts)


def step_time_figure(bars: Sequence[Bar], *, unit: str) -> Figure:
    """Draw bars, the first on top; `unit` is the denominator of the milliseconds."""
    longest = max((bar.seconds for bar in bars), default=0.0) * MILLISECONDS
    traces = [
        _trace(name, colour, bars)
        for name, colour in part_colours(bar.parts for bar in bars)
    ]
    return {
        "data": traces,
        "layout": framed(
            {
                "type": "linear",
                "title": {"text": _title(unit), "standoff": 6},
                "range": [0, longest or 1],
                "visible": longest > 0,  # without data the numbers have no meaning
                "zeroline": False,
                "fixedrange": True,
            },
            _rungs_axis(bars),
            barmode="stack",
            bargap=0.56,
            height=FRAME_HEIGHT + ROW_HEIGHT * len(bars),
            hovermode="closest",
            margin={"l": 1, "r": ROOM_FOR_TOTAL, "t": 6, "b": 40},
            annotations=[
                note
                for row, bar in enumerate(bars)
                for note in (_label(row, bar), _total(row, bar))
            ],
            uniformtext={"minsize": NARROWEST_TEXT, "mode": "hide"},
        ),
    }


def _title(unit: str) -> str:
    # Two whole texts, because some languages change more than one word.
    if unit == EXAMPLE:
        return gettext("milliseconds per example")
    return gettext("milliseconds per step")


def part_colours(
    bars: Iterable[Sequence[tuple[str, float]]],
) -> list[tuple[str, str]]:
    """Return the name and color of each part: data wait first, the rest last."""
    names = list(dict.fromkeys(name for parts in bars for name, _ in parts))
    phases = sorted(set(names) - {DATA_WAIT, OTHER}, key=_order)
    coloured = [
        (name, f"var(--part-{index % PHASE_COLOURS})")
        for index, name in enumerate(phases)
    ]
    if DATA_WAIT in names:
        coloured.insert(0, (DATA_WAIT, "var(--part-wait)"))
    if OTHER in names:
        coloured.append((OTHER, "var(--part-other)"))
    return coloured


def shown_name(part: str) -> str:
    """Return the displayed name of a part of a step."""
    return gettext(SHOWN_NAMES[part]) if part in SHOWN_NAMES else part


def milliseconds_text(milliseconds: float) -> str:
    """Show three digits, as no clock of a training loop is better."""
    if milliseconds < 1:
        return f"{milliseconds:.2g} ms"
    decimals = max(0, 3 - len(str(int(milliseconds))))
    return f"{milliseconds:.{decimals}f} ms"


def _trace(name: str, colour: str, bars: Sequence[Bar]) -> Trace:
    lengths = [dict(bar.parts).get(name, 0.0) * MILLISECONDS for bar in bars]
    shares = [
        length / (bar.seconds * MILLISECONDS) if bar.seconds else 0.0
        for length, bar in zip(lengths, bars, strict=True)
    ]
    return {
        "type": "bar",
        "orientation": "h",
        "name": literal(shown_name(name)),
        "x": typed(np.array(lengths)),
        "y": typed(np.arange(len(bars))),
        "marker": {"color": colour},
        "text": [milliseconds_text(length) if length else "" for length in lengths],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "insidetextfont": {"color": colour.replace("--", "--on-")},
        "textangle": 0,
        "customdata": typed(np.array(shares)),
        "hovertemplate": gettext("%{x:.3~g} ms, %{customdata:.0%} of the step"),
    }


def _order(phase: str) -> tuple[int, str]:
    known = phase in PHASE_ORDER
    return (PHASE_ORDER.index(phase) if known else len(PHASE_ORDER), phase)


def _rungs_axis(bars: Sequence[Bar]) -> dict[str, Any]:
    # Numbers, not names, place the bars: two rungs may have the same name.
    return {
        "type": "linear",
        "range": [len(bars) - 0.5, -0.6],
        "showticklabels": False,
        "zeroline": False,
        "showgrid": False,
        "fixedrange": True,
    }


def _label(row: int, bar: Bar) -> dict[str, Any]:
    """Name the rung above its bar, where a phone has room for it, too."""
    return {
        "x": 0,
        "y": row,
        "text": f"{row}  {literal(bar.label, longest=LONGEST_LABEL)}",
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 10,
        "xshift": -3,
        "showarrow": False,
    }


def _total(row: int, bar: Bar) -> dict[str, Any]:
    milliseconds = bar.seconds * MILLISECONDS
    known = bool(bar.parts)
    return {
        "x": milliseconds if known else 0,
        "y": row,
        "text": milliseconds_text(milliseconds) if known else literal(bar.unknown),
        "xanchor": "left",
        "xshift": 6,
        "showarrow": False,
    }
