"""When each stage's processes ran, as bars on one axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from web.figures.layout import (
    MARGIN,
    TIME,
    Layout,
    framed,
    room_below,
    x_axis,
    y_axis,
)
from web.figures.text import literal
from web.figures.traces import Figure, faint, typed

# With more bars than FEW, each is lower to fit them on the screen.
BAR_HEIGHT, LOW_BAR_HEIGHT, FEW = 34, 22, 12
TOP, SLACK = 6, 10
# Minimum width, so that even short stages are visible.
SHORTEST_SHARE = 0.004
# Milliseconds shown if no stage took any time.
SPAN_OF_NOTHING = 1_000.0
LONGEST_NAME = 24
# Width of a letter of a note as a share of the axis, on the narrow card.
LETTER_SHARE = 0.021
FINISHED = "finished"
INSIDE, RIGHT, LEFT = "inside", "right", "left"


@dataclass(frozen=True, slots=True)
class StageBar:
    """One process of a stage; times in milliseconds since 1970."""

    name: str
    state: str  # running, finished, failed, crashed or preempted
    start: float
    end: float
    note: str  # text of the bar: state, duration, GPU utilization

    @property
    def notes(self) -> list[str]:
        """Return the note and ever shorter ones; how a bar ended is in its color, too."""
        parts = self.note.split(", ")
        less = parts[1:] if parts[0] == FINISHED else parts
        shorter = [", ".join(less[:count]) for count in range(len(less), 0, -1)]
        return list(dict.fromkeys([self.note, *shorter]))


def stages_figure(bars: Sequence[StageBar]) -> Figure:
    """Draw the bars in order, first on top; state is in the color and in the note."""
    starts = np.array([bar.start for bar in bars])
    lengths = np.array([bar.end - bar.start for bar in bars])
    span = float((starts + lengths).max() - starts.min()) if bars else 0.0
    span = span or SPAN_OF_NOTHING
    shown = np.maximum(lengths, span * SHORTEST_SHARE)
    names = [literal(bar.name, longest=LONGEST_NAME) for bar in bars]
    colours = [f"var(--color-{bar.state})" for bar in bars]

    xaxis = x_axis(TIME)
    xaxis["showspikes"] = False
    start = float(starts.min()) if bars else 0.0
    places = [_roomiest(bar, start, start + span) for bar in bars]
    notes = _notes(bars, start, start + span)
    # Plotly shows arbitrary dates on an axis without bars.
    xaxis["visible"] = bool(bars)
    if bars:
        xaxis["range"] = [start - span * 0.01, start + span * 1.02]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "base": typed(starts),
                "x": typed(shown),
                "y": list(range(len(bars))),
                "text": list(map(literal, notes)),
                "hovertext": [literal(bar.note) for bar in bars],
                "textposition": [
                    "inside" if place == INSIDE else "none" for place in places
                ],
                "constraintext": "none",
                "insidetextanchor": "start",
                "cliponaxis": False,
                "textfont": {"color": "var(--color-text)", "size": 12},
                "marker": {
                    "color": [faint(colour, 30) for colour in colours],
                    "line": {"color": colours, "width": 1.5},
                },
                "width": 0.62,
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        ],
        "layout": framed(
            xaxis,
            y_axis(
                tickvals=list(range(len(bars))),
                ticktext=names,
                autorange="reversed",
                fixedrange=True,
                showgrid=False,
            ),
            height=_bars_height(len(bars)) + TOP + SLACK + room_below(xaxis),
            margin={"l": 12, "r": MARGIN["r"], "t": TOP, "b": room_below(xaxis)},
            hovermode="closest",
            dragmode=False,
            annotations=[
                _note_beside(bar, notes[index], index, is_right=place == RIGHT)
                for index, (bar, place) in enumerate(zip(bars, places, strict=True))
                if place != INSIDE
            ],
        ),
        "notes": [],
    }


def _bars_height(count: int) -> int:
    return max(1, count) * (BAR_HEIGHT if count <= FEW else LOW_BAR_HEIGHT)


def _roomiest(bar: StageBar, start: float, end: float) -> str:
    """Return where the bar's note has most room: in the bar, or at a side of it."""
    rooms = _rooms(bar, start, end)
    return max(rooms, key=lambda place: rooms[place])


def _notes(bars: Sequence[StageBar], start: float, end: float) -> list[str]:
    """Return a common label if all bars have the same state and it fits each of them."""
    notes = [_note_for(bar, bar.notes, start, end) for bar in bars]
    if notes == [bar.note for bar in bars]:
        return notes
    return [
        _note_for(bar, bar.notes[bar.state == FINISHED :] or bar.notes, start, end)
        for bar in bars
    ]


def _note_for(bar: StageBar, notes: Sequence[str], start: float, end: float) -> str:
    """Return the version of the note that fits; a third of the axis always fits."""
    letters = max(_rooms(bar, start, end).values()) / (LETTER_SHARE * (end - start))
    return next((note for note in notes if len(note) <= letters), notes[-1])


def _rooms(bar: StageBar, start: float, end: float) -> dict[str, float]:
    return {
        INSIDE: bar.end - bar.start,
        RIGHT: end - bar.end,
        LEFT: bar.start - start,
    }


def _note_beside(bar: StageBar, note: str, index: int, *, is_right: bool) -> Layout:
    return {
        "text": literal(note),
        "x": bar.end if is_right else bar.start,
        "y": index,
        "xanchor": "left" if is_right else "right",
        "xshift": 6 if is_right else -6,
        "showarrow": False,
        "font": {"size": 12},
    }
