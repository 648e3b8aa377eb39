"""The frame around the lines of a figure: axes, margins, hover.

Fonts and the colours of axes belong to the theme, so the browser adds them.
"""

from __future__ import annotations

from typing import Any

# The values of tracker.queries.series.Axis, which figures must not import.
STEP, TIME, RELATIVE = "step", "time", "relative"
X_TITLES = {STEP: "step", TIME: "time (UTC)", RELATIVE: "seconds since the start"}

HOVER_FORMAT = ".5~g"
# All digits of a step, in groups.
X_HOVER_FORMAT = ",.9~r"
MARGIN = {"l": 52, "r": 12, "t": 8, "b": 34}

# JSON about to leave.
Layout = dict[str, Any]


def x_axis(axis: str, *, low: float | None = None, high: float | None = None) -> Layout:
    """Describe the horizontal axis; both limits given, it shows exactly that range."""
    described: Layout = {
        "type": "date" if axis == TIME else "linear",
        "title": {"text": X_TITLES.get(axis, ""), "standoff": 6},
        "zeroline": False,
        "showspikes": True,
        "spikemode": "across",
        "spikesnap": "cursor",
        "spikethickness": 1,
        "spikedash": "solid",
    }
    if axis != TIME:
        described["hoverformat"] = X_HOVER_FORMAT
    if low is not None and high is not None:
        described["range"] = [low, high]
    return described


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
        **more,
    }


def framed(xaxis: Layout, yaxis: Layout, **more: Any) -> Layout:
    return {
        "margin": dict(MARGIN),
        "hovermode": "x unified",
        "dragmode": "zoom",
        "showlegend": False,
        "autosize": True,
        "xaxis": xaxis,
        "yaxis": yaxis,
        **more,
    }
