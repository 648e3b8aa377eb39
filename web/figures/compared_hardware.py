"""Hardware use of several runs in one figure: a row for each kind of measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from web.figures.hardware import Measurement, fits, scaled_row
from web.figures.hardware_kinds import Group, Kind
from web.figures.layout import RELATIVE, STEP
from web.figures.rows import Frame, Reading, Row, rows_figure
from web.figures.series import Line
from web.figures.texts import gettext, gettext_noop
from web.figures.traces import Figure, Floats, run_colour, run_dash

# Places at which lines of several GPUs are averaged.
POINTS = 300
ALIGNED = {
    "run": (RELATIVE, gettext_noop("seconds since run start")),
    "stage": (RELATIVE, gettext_noop("seconds since stage start")),
    "step": (STEP, gettext_noop("step")),
}


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    name: str
    slot: int
    measurements: Sequence[Measurement]


@dataclass(frozen=True, slots=True, eq=False)
class MeanLine:
    """The mean of several lines at the same places; it has no band."""

    path: str
    x: Floats
    mean: Floats
    exact: bool = True

    @property
    def minimum(self) -> Floats:
        return self.mean

    @property
    def maximum(self) -> Floats:
        return self.mean


def compared_hardware_figure(
    runs: Sequence[MeasuredRun], group: Group, *, align: str, is_narrow: bool = False
) -> Figure:
    """Draw one line per run and kind: the mean if there are several GPUs."""
    rows = [row for kind in group.kinds if (row := _row(kind, runs)) is not None]
    axis, title = ALIGNED[align]
    frame = Frame(axis=axis, is_narrow=is_narrow, has_legends=False)
    figure = rows_figure(rows, frame)
    layout = figure["layout"]
    # A line is a trace: runs that are compared have no bands.
    figure["slots"] = [
        [reading.slot]
        for row in rows
        for reading in row.readings
        for _ in reading.lines
    ]
    if rows:
        layout["showlegend"] = False
        layout["xaxis"] |= {"showspikes": False}
        layout["xaxis"]["title"]["text"] = gettext(title)
    # The page itself reads the rows.
    layout["hovermode"] = False
    layout.pop("hoversubplots", None)
    return figure | {"rows": _readable(rows), "axis": axis, "over": ""}


def _readable(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Name the lines of each row with the traces they are; names are plain text here."""
    traces = count()
    return [
        {
            "axis": f"yaxis{number}" if number > 1 else "yaxis",
            "title": row.title,
            "unit": row.unit,
            "lines": [
                {
                    "name": reading.name,
                    "colour": run_colour(reading.slot or 0),
                    "dash": run_dash(reading.slot or 0),
                    "trace": next(traces),
                }
                for reading in row.readings
                for _ in reading.lines
            ],
        }
        for number, row in enumerate(rows, start=1)
    ]


def _row(kind: Kind, runs: Sequence[MeasuredRun]) -> Row | None:
    """Take the first measure of a kind that any run has: lines of one row compare."""
    for pattern in kind.measures:
        found = {run.slot: lines for run in runs if (lines := _lines(run, pattern))}
        if found:
            return _of_measure(kind, pattern, runs, found)
    return None


def _lines(run: MeasuredRun, pattern: str) -> list[Measurement]:
    fitting = [item for item in run.measurements if fits(item.measure, pattern)]
    if "<i>" in pattern:
        return fitting
    # For metrics that each process measures, use those of the first process.
    first = min((item.rank for item in fitting), default=0)
    return [item for item in fitting if item.rank == first]


def _of_measure(
    kind: Kind,
    pattern: str,
    runs: Sequence[MeasuredRun],
    found: Mapping[int, Sequence[Measurement]],
) -> Row:
    readings = [
        Reading(run.name, _joined(found[run.slot], pattern), slot=run.slot)
        for run in runs
        if run.slot in found
    ]
    row = scaled_row(replace(kind, limit=""), readings, None)
    what = gettext(kind.measures[pattern]).replace("<i>", "").strip()
    note = gettext("GPU mean") if "<i>" in pattern else what
    readings = [
        replace(scaled, slot=reading.slot)
        for scaled, reading in zip(row.readings, readings, strict=True)
    ]
    return replace(row, readings=readings, note=f"({note})" if note else "")


def _joined(items: Sequence[Measurement], pattern: str) -> list[Line]:
    if "<i>" not in pattern:
        return [item.line for item in items]
    if len({(item.measure, item.rank) for item in items}) == 1:  # in several stages
        return [item.line for item in items]
    return [_mean([item.line for item in items])]


def _mean(lines: Sequence[Line]) -> Line:
    low = min(float(line.x[0]) for line in lines)
    high = max(float(line.x[-1]) for line in lines)
    places = np.linspace(low, high, POINTS)
    values = np.array(
        [
            np.interp(places, line.x, line.mean, left=np.nan, right=np.nan)
            for line in lines
        ]
    )
    counts = np.isfinite(values).sum(axis=0)
    sums = np.where(np.isfinite(values), values, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return MeanLine(lines[0].path, places, mean)
