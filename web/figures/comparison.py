"""One series of several runs, laid over each other."""

from __future__ import annotations

from collections.abc import Sequence

from web.figures.layout import STEP
from web.figures.series import NamedLine, series_figure
from web.figures.traces import RUN_COLOURS, Figure


def overlay_figure(
    lines: Sequence[NamedLine],
    *,
    axis: str = STEP,
    low: float | None = None,
    high: float | None = None,
) -> Figure:
    """Draw a line for each run; the page above is its legend, hover has the names."""
    figure = series_figure(lines, axis=axis, low=low, high=high, legend=True)
    figure["layout"]["showlegend"] = False
    # Colours repeat after the last; a second round of runs is dashed.
    second_round = {
        str(line.position) for line in lines if line.position >= RUN_COLOURS
    }
    for trace in figure["data"]:
        if trace.get("legendgroup") in second_round:
            trace["line"] = {**trace["line"], "dash": "dash"}
    return figure
