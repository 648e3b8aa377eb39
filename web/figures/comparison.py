"""One series of several runs, laid over each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from web.figures.layout import STEP
from web.figures.series import Line, NamedLine, series_figure
from web.figures.smoothing import NO_SMOOTHING, Smoothing
from web.figures.texts import gettext, ngettext
from web.figures.traces import Figure, Floats, run_dash
from web.figures.writers import writers_words

# With more runs, bands overlap and hide the lines, and double the browser's work; the
# hover text still shows them.
MAX_WITH_BANDS = 5
# Names of left-out runs in the note below each chart.
MAX_NAMED = 6
# Free share of the height above and below lines.
MARGIN = 0.05


def overlay_figure(
    lines: Sequence[NamedLine],
    *,
    axis: str = STEP,
    log: bool = False,
    smoothing: Smoothing = NO_SMOOTHING,
    low: float | None = None,
    high: float | None = None,
    legend: bool = False,
) -> Figure:
    """Draw one line per run; the page's list of runs is the legend.

    Lines that are not runs need a legend of their own.
    """
    figure = series_figure(
        [replace(line, dash=_dash(line)) for line in lines],
        axis=axis,
        log=log,
        smoothing=smoothing,
        low=low,
        high=high,
        legend=legend,
        has_bands=len(lines) <= MAX_WITH_BANDS,
    )
    # The last trace of each line.
    ends = [max(read["trace"], read.get("smooth", 0)) for read in figure["lines"]]
    owners = [lines[bisect_left(ends, place)] for place in range(len(figure["data"]))]
    figure["slots"] = [line.slots or (line.position,) for line in owners]
    return figure


def with_common_range(
    figure: Figure, lines: Sequence[NamedLine], *, log: bool
) -> Figure:
    """Give a chart that holds some of the lines the height of all: they are compared."""
    columns = [column for each in lines for column in _drawn(each.line)]
    values = np.concatenate([np.empty(0), *columns])
    values = values[np.isfinite(values)]
    if log:
        values = np.log10(values[values > 0])
    if not values.size:
        return figure
    low, high = float(values.min()), float(values.max())
    room = (high / 2 - low / 2) * 2 * MARGIN or abs(high) * MARGIN or MARGIN
    axis = figure["layout"]["yaxis"]
    if np.isfinite([low - room, high + room]).all():
        axis["range"] = [low - room, high + room]
    return figure


def lacking_note(names: Sequence[str], path: str) -> str:
    """Name the runs without the series of the axis."""
    template = ngettext(
        "Not shown (no values of %(path)s): %(names)s.",
        "Not shown (no values of %(path)s): %(names)s.",
        len(names),
    )
    return template % {"path": path, "names": _listed(names)}


def left_out_note(paths: Sequence[str], most: int) -> str:
    """Name the series that are omitted because the chart has too many lines."""
    template = gettext("Not shown (limit of %(count)s lines per chart): %(names)s.")
    return template % {"count": most, "names": _listed(paths)}


def writers_note(runs: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Return a note on runs in which several processes log to one series.

    Each entry is a run's name and the ranks of its processes; at least one run.
    """
    names = [name for name, _ in runs]
    if len(runs) == 1:
        template = gettext(
            "Logged by %(writers)s in parallel, so a step may have several points:"
            " %(names)s."
        )
    else:
        template = gettext(
            "Logged by several processes in parallel, so a step may have several"
            " points: %(names)s."
        )
    return template % {"writers": writers_words(runs[0][1]), "names": _listed(names)}


def _listed(names: Sequence[str]) -> str:
    named = ", ".join(names[:MAX_NAMED])
    if len(names) <= MAX_NAMED:
        return named
    both = {"names": named, "count": len(names) - MAX_NAMED}
    return gettext("%(names)s and %(count)s more") % both


def _drawn(line: Line) -> tuple[Floats, ...]:
    return (line.mean,) if line.exact else (line.mean, line.minimum, line.maximum)


def _dash(line: NamedLine) -> str:
    if line.dash:
        return line.dash
    # If colors belong to values, lines with the same value look the same.
    return "solid" if line.colour else run_dash(line.position)
