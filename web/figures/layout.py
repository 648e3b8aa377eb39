"""The frame around the lines of a figure: axes, margins, hover.

Fonts and the colors of axes belong to the theme, so the browser adds them.
"""

from __future__ import annotations

import math
from typing import Any

from web.figures.text import literal
from web.figures.texts import gettext, gettext_noop

# The values of tracker.queries.series.series.Axis, which figures must not import.
STEP, TIME, RELATIVE = "step", "time", "relative"
X_TITLES = {
    STEP: gettext_noop("step"),
    TIME: gettext_noop("time"),
    RELATIVE: gettext_noop("seconds since start"),
}

HOVER_FORMAT = ".5~g"
# All digits of a step, in groups.
X_HOVER_FORMAT = ",.9~r"
# To the right there is room for half of a usual label at the axis' end, so that Plotly need
# not measure each on the page, where every one of them makes the browser lay it all out.
MARGIN = {"l": 52, "r": 20, "t": 8, "b": 34}
LABELS = {"ticklabeloverflow": "allow"}
# Longer labels of a horizontal axis need fewer ticks; in pixels, of the narrowest chart.
USUAL_CHARACTERS = 8
CHARACTER_WIDTH, LABEL_GAP, NARROWEST_AXIS = 6.2, 10, 200
# From here on Plotly writes a power of ten instead of a letter.
BEYOND_PREFIXES = 1e15
# A logarithmic axis writes all zeros of larger numbers.
MANY_ZEROS = 1e6
# Below an axis of time stand the time, the date and the title.
DATED_BOTTOM = 54

# JSON about to leave.
Layout = dict[str, Any]


def x_axis(
    axis: str,
    *,
    low: float | None = None,
    high: float | None = None,
    log: bool = False,
    over: str = "",
) -> Layout:
    """Describe the horizontal axis; with both limits it shows exactly that range.

    `over` is the path of the series on the axis.
    """
    title = literal(over) if over else gettext(X_TITLES.get(axis, ""))
    described: Layout = {
        "type": "date" if axis == TIME else "log" if log else "linear",
        "title": {"text": title, "standoff": 6},
        "zeroline": False,
        "showspikes": True,
        "spikemode": "across",
        "spikesnap": "cursor",
        "spikethickness": 1,
        "spikedash": "solid",
        **LABELS,
    }
    if axis != TIME:
        # The browser writes times, in the user's time zone.
        described["hoverformat"] = X_HOVER_FORMAT
    if low is not None and high is not None and not log:
        described["range"] = [low, high]
    elif low is not None and high is not None and 0 < low < high:
        # Plotly takes the ends of a logarithmic axis as powers of ten.
        described["range"] = [math.log10(low), math.log10(high)]
    return described


def fit_ticks(layout: Layout, low: float, high: float) -> None:
    """Keep long labels of the horizontal axis, such as 1.000002B, apart and level."""
    xaxis = layout["xaxis"]
    if xaxis["type"] == "log":
        if high >= MANY_ZEROS:
            xaxis["exponentformat"] = "power"
        return
    if xaxis["type"] != "linear":
        return
    characters = _label_characters(low, high)
    if characters <= USUAL_CHARACTERS:
        return
    width = characters * CHARACTER_WIDTH
    xaxis["nticks"] = max(1, int(NARROWEST_AXIS / (width + LABEL_GAP)))
    xaxis["tickangle"] = 0
    layout["margin"]["r"] = max(layout["margin"]["r"], round(width / 2))


def _label_characters(low: float, high: float) -> int:
    """Estimate the length of the tick labels of this range."""
    largest = max(abs(low), abs(high))
    tick = (high - low) / 5
    if not (tick > 0 and math.isfinite(tick)):
        return 0
    digits = math.floor(math.log10(largest)) - math.floor(math.log10(tick)) + 1
    sign, point, letter = low < 0, digits > 1, 1
    return digits + sign + point + (6 if largest >= BEYOND_PREFIXES else letter)


def y_axis(*, log: bool = False, title: str = "", **more: Any) -> Layout:
    return {
        "type": "log" if log else "linear",
        "title": {"text": title, "standoff": 6},
        "zeroline": False,
        "showspikes": False,
        "hoverformat": HOVER_FORMAT,
        "exponentformat": "SI",
        "automargin": True,
        "nticks": 6,
        **LABELS,
        **more,
    }


def room_below(xaxis: Layout) -> int:
    return DATED_BOTTOM if xaxis["type"] == "date" else MARGIN["b"]


def framed(xaxis: Layout, yaxis: Layout, **more: Any) -> Layout:
    return {
        "margin": {**MARGIN, "b": room_below(xaxis)},
        "hovermode": "x unified",
        "dragmode": "zoom",
        "showlegend": False,
        "autosize": True,
        "xaxis": xaxis,
        "yaxis": yaxis,
        **more,
    }
