"""One point for each run: any of its values against any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from web.figures.layout import HOVER_FORMAT, MARGIN, Layout, framed, y_axis
from web.figures.series import LEGEND
from web.figures.text import literal
from web.figures.texts import gettext, ngettext
from web.figures.traces import (
    RUN_COLOURS,
    Figure,
    Trace,
    run_colour,
    run_round,
    typed,
)

HEIGHT = 460
USUAL_SIZE, SMALLEST, LARGEST = 11.0, 7.0, 34.0
OTHERS_SIZE = 7.0
LONGEST_TITLE = 60
LONGEST_NAME = 40
# Symbols of the runs that share a color, as in the list of runs.
SYMBOLS = ("circle", "circle-open", "square", "square-open")
# More names would be a page of them.
MAX_NAMED = 5
# Color scale for numeric values, the same in both themes.
SCALE = [
    [0.0, "var(--scale-low)"],
    [0.5, "var(--scale-middle)"],
    [1.0, "var(--scale-high)"],
]
OTHERS_COLOUR = "color-mix(in srgb, var(--color-line-strong) 55%, transparent)"

Value = float | str | None


@dataclass(frozen=True, slots=True)
class ScatterRun:
    """A run as a point; without a slot it is one of the others, and gray."""

    id: str
    name: str
    slot: int | None
    x: Value
    y: Value
    size: Value = None
    colour: Value = None

    @property
    def is_placed(self) -> bool:
        return self.x is not None and self.y is not None


@dataclass(frozen=True, slots=True)
class Dimension:
    """`label` is the metric or parameter shown; empty if none was chosen."""

    label: str
    is_log: bool = False


def scatter_figure(
    runs: Sequence[ScatterRun],
    *,
    x: Dimension,
    y: Dimension,
    size: Dimension,
    colour: Dimension,
) -> Figure:
    """Draw the runs that have both values; the notes name those that have not."""
    placed = [run for run in runs if run.is_placed and _fits_log(run, x, y)]
    others = [run for run in placed if run.slot is None]
    chosen = [run for run in placed if run.slot is not None]
    sizes = _sizes([run.size for run in [*others, *chosen]])
    by_number = bool(colour.label) and any(
        isinstance(run.colour, float) for run in placed
    )
    parts = [None] if by_number or not colour.label else _parts(placed)
    hover = _hover(x, y, size, colour)
    traces: list[Trace] = []
    slots: list[list[int | None]] = []
    for group, group_sizes in (
        (others, sizes[: len(others)]),
        (chosen, sizes[len(others) :]),
    ):
        for part in parts:
            places = [
                place
                for place, run in enumerate(group)
                if part is None or run.colour in part.values
            ]
            if not places:
                continue
            members = [group[place] for place in places]
            of_members = [group_sizes[place] for place in places]
            marker = _marker(members, of_members, by_number=by_number)
            if part is not None:
                # Symbols separate runs of one color; here colors mean values.
                marker |= {"color": part.colour, "symbol": SYMBOLS[0]}
            trace = _trace(members, marker, hover)
            traces.append(trace if part is None else trace | _in_legend(part, traces))
            slots.append([run.slot for run in members])
    more: Layout = {"coloraxis": _colour_axis(colour)} if by_number else {}
    if parts != [None]:
        more |= {"showlegend": True, "legend": dict(LEGEND)}
    return {
        "data": traces,
        "layout": framed(
            _axis(x, [run.x for run in placed]),
            {**y_axis(), **_axis(y, [run.y for run in placed]), "automargin": True},
            height=HEIGHT,
            hovermode="closest",
            margin={**MARGIN, "l": 64, "b": 48, "r": 20},
            **more,
        ),
        "notes": _notes(runs, placed),
        # Run of each point of each trace, for the page's list of runs.
        "point_slots": slots,
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """Runs of one color, by value; the last part may combine several values."""

    name: str
    values: frozenset[Value]
    colour: str


def _parts(runs: Sequence[ScatterRun]) -> list[_Part]:
    """Return a part for each text; those beyond the colors there are share one."""
    texts = sorted({run.colour for run in runs if isinstance(run.colour, str)})
    parts = [
        _Part(literal(text, longest=LONGEST_NAME), frozenset([text]), run_colour(place))
        for place, text in enumerate(texts[:RUN_COLOURS])
    ]
    rest = texts[RUN_COLOURS:]
    if rest:
        template = ngettext(
            "%(count)s other value", "%(count)s other values", len(rest)
        )
        name = template % {"count": len(rest)}
        parts.append(_Part(name, frozenset(rest), OTHERS_COLOUR))
    if any(run.colour is None for run in runs):
        parts.append(_Part("–", frozenset([None]), OTHERS_COLOUR))
    return parts


def _in_legend(part: _Part, traces: Sequence[Trace]) -> Trace:
    """Name the part once, though the other runs of it are drawn by themselves."""
    is_first = all(trace["name"] != part.name for trace in traces)
    return {"name": part.name, "legendgroup": part.name, "showlegend": is_first}


def _fits_log(run: ScatterRun, x: Dimension, y: Dimension) -> bool:
    return not any(
        dimension.is_log and isinstance(value, float) and value <= 0
        for dimension, value in ((x, run.x), (y, run.y))
    )


def _trace(runs: Sequence[ScatterRun], marker: Trace, hover: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": _column([run.x for run in runs]),
        "y": _column([run.y for run in runs]),
        "text": [literal(run.name) for run in runs],
        "customdata": [
            [run.id, *map(_text, (run.size, run.colour, run.x, run.y))] for run in runs
        ],
        "marker": marker,
        "hovertemplate": hover,
        "showlegend": False,
    }


def _marker(
    runs: Sequence[ScatterRun],
    sizes: Sequence[float],
    *,
    by_number: bool,
) -> Trace:
    are_others = runs[0].slot is None
    marker: Trace = {
        "size": [
            OTHERS_SIZE if are_others and not size else size or USUAL_SIZE
            for size in sizes
        ],
        "opacity": 0.9,
        "line": {"width": 1, "color": "var(--color-surface)"},
        "symbol": [_symbol(run.slot) for run in runs],
    }
    if not by_number:
        marker["color"] = [
            OTHERS_COLOUR if run.slot is None else run_colour(run.slot) for run in runs
        ]
        return marker
    numbers = [run.colour if isinstance(run.colour, float) else np.nan for run in runs]
    return {
        **marker,
        "color": typed(np.array(numbers)),
        "coloraxis": "coloraxis",
    }


def _colour_axis(colour: Dimension) -> Layout:
    return {
        "colorscale": SCALE,
        "colorbar": {
            "title": {"text": _title(colour), "side": "right", "font": {"size": 11}},
            "thickness": 10,
            "outlinewidth": 0,
            "tickfont": {"size": 11},
        },
    }


def _symbol(slot: int | None) -> str:
    return SYMBOLS[0 if slot is None else run_round(slot)]


def _sizes(values: Sequence[Value]) -> list[float]:
    """Make areas follow the values; 0 where a run has none."""
    numbers = [value for value in values if isinstance(value, float)]
    if not numbers:
        return [0.0] * len(values)
    low, high = min(numbers), max(numbers)
    return [
        _size((value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5)
        if isinstance(value, float)
        else 0.0
        for value in values
    ]


def _size(share: float) -> float:
    area = SMALLEST**2 + share * (LARGEST**2 - SMALLEST**2)
    return round(float(np.sqrt(area)), 1)


def _column(values: Sequence[Value]) -> object:
    if all(isinstance(value, float) for value in values):
        return typed(np.array(values, dtype=np.float64))
    return [_text(value) for value in values]


def _axis(dimension: Dimension, values: Sequence[Value]) -> Layout:
    is_categorical = any(isinstance(value, str) for value in values)
    kind = "category" if is_categorical else "log" if dimension.is_log else "linear"
    return {
        "type": kind,
        "title": {
            "text": _title(dimension),
            "standoff": 8,
        },
        "zeroline": False,
        "hoverformat": HOVER_FORMAT,
        "exponentformat": "SI",
    }


def _title(dimension: Dimension) -> str:
    return literal(dimension.label, longest=LONGEST_TITLE)


def _text(value: Value) -> str:
    if value is None:
        return "–"
    return f"{value:.5g}" if isinstance(value, float) else literal(value)


def _hover(x: Dimension, y: Dimension, size: Dimension, colour: Dimension) -> str:
    rows = [
        (x, "%{customdata[3]}"),
        (y, "%{customdata[4]}"),
        (size, "%{customdata[1]}"),
        (colour, "%{customdata[2]}"),
    ]
    lines = {
        f"{_title(dimension).replace('%', '&#37;')}: {value}": None
        for dimension, value in rows
        if dimension.label
    }
    return "<br>".join(["<b>%{text}</b>", *lines]) + "<extra></extra>"


def _notes(runs: Sequence[ScatterRun], placed: Sequence[ScatterRun]) -> list[str]:
    missing = [run.name for run in runs if run.slot is not None and run not in placed]
    notes = []
    if missing:
        rest = len(missing) - MAX_NAMED
        template = (
            ngettext(
                "Not shown: %(names)s and %(count)s more. A value is missing, not a"
                " number, or not positive on a logarithmic axis.",
                "Not shown: %(names)s and %(count)s more. A value is missing, not a"
                " number, or not positive on a logarithmic axis.",
                rest,
            )
            if rest > 0
            else gettext(
                "Not shown: %(names)s. A value is missing, not a number, or not"
                " positive on a logarithmic axis."
            )
        )
        notes.append(
            template % {"names": ", ".join(missing[:MAX_NAMED]), "count": rest}
        )
    return notes
