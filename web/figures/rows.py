"""Readings of several kinds in rows above one axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from web.figures.layout import (
    MARGIN,
    TIME,
    Layout,
    framed,
    room_below,
    x_axis,
    y_axis,
)
from web.figures.overlaps import lies_on
from web.figures.series import Line
from web.figures.text import literal
from web.figures.traces import (
    Figure,
    Shape,
    Trace,
    band_trace,
    limit_line,
    line_trace,
    run_colour,
    run_dash,
    shaded_window,
)

# Above each row stands its header, and some room between that and the row before.
ROW_HEIGHT, HEADER_HEIGHT, SPACING = 104, 24, 16
# Height of rows that are compared with each other.
LOW_ROW_HEIGHT = 56
# Without rows, only the notes are shown.
EMPTY_HEIGHT = 24
# On a narrow page a row's title stands above the lines of its legend.
TITLE_HEIGHT, LEGEND_LINE, LEGEND_PADDING = 3, 19, 10
# Width of a legend line on a narrow page, of an entry without text, and of a letter.
NARROW_LINE_WIDTH, ENTRY_WIDTH, LETTER_WIDTH = 260, 45, 6
# A longer legend scrolls.
MAX_LEGEND_LINES = 6
LABEL_HEIGHT = 16
# Names need this share of the axis to stay readable.
LABEL_SHARE, NARROW_LABEL_SHARE = 0.06, 0.25
# A smaller part of the axis outside the judged window is not shaded.
MIN_SHADED_SHARE = 0.02
LIMIT_COLOUR = "var(--color-critical)"
WINDOW_COLOUR = "var(--color-warning)"
SPAN_COLOUR = "var(--color-line-strong)"
MUTED = "var(--color-muted)"
HOVER = "%{y:.4~g} %{meta}"
LONGEST_NAME = 36

# The bottom and the top of a row, as shares of the height.
Domain = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """One measurement over time; its lines share a name and a colour."""

    name: str
    lines: Sequence[Line]
    scale: float = 1.0
    # Its color among runs that are compared, which have no bands; None: by its place.
    slot: int | None = None
    # A fixed color of this measurement on all pages; "": by position.
    colour: str = ""
    # Single events, drawn as points.
    is_marks: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """`limit` is drawn as a dashed level; `top` fixes the end of the axis."""

    title: str
    unit: str
    readings: Sequence[Reading]
    note: str = ""  # follows the unit in the row's title
    limit: float | None = None
    top: float | None = None


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of the axis, in milliseconds since 1970 on an axis of time."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Frame:
    """Background of all rows: stages, analyzed window, zoom.

    The time outside the window is shaded and labeled with the window's name.
    """

    spans: Sequence[TimeSpan] = ()
    window: TimeSpan | None = None
    axis: str = TIME
    low: float | None = None
    high: float | None = None
    notes: Sequence[str] = field(default=())
    is_narrow: bool = False
    has_legends: bool = True  # False if the page itself has the legend
    row_height: int = ROW_HEIGHT

    @property
    def names_height(self) -> int:
        """Return the room above the first header: a line each for the two of names."""
        return LABEL_HEIGHT * (bool(self.spans) + (self.window is not None))


def rows_figure(rows: Sequence[Row], frame: Frame) -> Figure:
    """Stack the rows, first on top, above one axis that all of them share."""
    if not rows:
        return _empty_figure(frame)
    xaxis = x_axis(frame.axis, low=frame.low, high=frame.high)
    header, bottom = _header_height(rows[0], frame), room_below(xaxis)
    top = header + frame.names_height
    height, domains = _domains(rows, frame)
    layout = framed(
        xaxis,
        y_axis(),
        height=height + top + bottom,
        margin={"l": MARGIN["l"], "r": MARGIN["r"], "t": top, "b": bottom},
        showlegend=True,
        hoversubplots="axis",
        shapes=_backgrounds(frame, rows),
        annotations=_labels(frame, rows, header),
    )
    traces: list[Trace] = []
    for index, (row, domain) in enumerate(zip(rows, domains, strict=True)):
        layout[_numbered("yaxis", index)] = _row_axis(row, domain)
        layout[_numbered("legend", index)] = _row_legend(domain, frame)
        layout["annotations"].append(_row_title(row, domain, frame))
        if row.limit is not None:
            layout["shapes"].append(_limit(row.limit, index))
        traces += _row_traces(row, index, has_legend=frame.has_legends)

    layout["xaxis"]["anchor"] = _numbered("y", len(rows) - 1)
    return {"data": traces, "layout": layout, "notes": list(frame.notes)}


def _empty_figure(frame: Frame) -> Figure:
    """Draw no axes: without data their range would be arbitrary."""
    layout = framed(
        {**x_axis(frame.axis), "visible": False},
        y_axis(visible=False),
        height=EMPTY_HEIGHT,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
    )
    return {"data": [], "layout": layout, "notes": list(frame.notes)}


def _numbered(name: str, index: int) -> str:
    return name if index == 0 else f"{name}{index + 1}"


def _header_height(row: Row, frame: Frame) -> int:
    return HEADER_HEIGHT + _narrow_legend_height(row, frame)


def _domains(rows: Sequence[Row], frame: Frame) -> tuple[int, list[Domain]]:
    """Return the height of all rows in pixels, and each row's part of it."""
    bottoms: list[int] = []
    height = 0
    for row in rows:
        if bottoms:
            height += SPACING + _header_height(row, frame)
        height += frame.row_height
        bottoms.append(height)
    return height, [
        # Whole pixels over the whole height: rounding leaves no domain beyond 0 to 1.
        ((height - bottom) / height, (height - bottom + frame.row_height) / height)
        for bottom in bottoms
    ]


def _row_axis(row: Row, domain: Domain) -> Layout:
    axis = y_axis(
        domain=list(domain), anchor="x", rangemode="tozero", nticks=4, automargin=False
    )
    if row.top is not None:
        axis["range"] = [0, row.top]
    return axis


def _row_legend(domain: Domain, frame: Frame) -> Layout:
    return {
        # By group, Plotly would keep lines further apart.
        "traceorder": "normal",
        "orientation": "h",
        "x": 0 if frame.is_narrow else 1,
        "xanchor": "left" if frame.is_narrow else "right",
        "y": domain[1],
        "yanchor": "bottom",
        "font": {"size": 11, "color": MUTED},
        "bgcolor": "rgba(0, 0, 0, 0)",
        "itemclick": "toggle",
        "maxheight": _legend_height(MAX_LEGEND_LINES),
    }


def _row_title(row: Row, domain: Domain, frame: Frame) -> Layout:
    unit = " ".join(text for text in (row.unit, row.note) if text)
    return {
        "text": f"<b>{literal(row.title)}</b>  {literal(unit)}",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "xanchor": "left",
        "y": domain[1],
        "yanchor": "bottom",
        "yshift": TITLE_HEIGHT + _narrow_legend_height(row, frame),
        "showarrow": False,
        "font": {"size": 12},
    }


def _legend_height(lines: int) -> int:
    return LEGEND_PADDING + lines * LEGEND_LINE


def _narrow_legend_height(row: Row, frame: Frame) -> int:
    has_legend = len(row.readings) > 1 and frame.has_legends
    if not (frame.is_narrow and has_legend):
        return 0
    return _legend_height(min(MAX_LEGEND_LINES, _narrow_legend_lines(row)))


def _narrow_legend_lines(row: Row) -> int:
    """Return the lines Plotly makes: one, or columns as wide as the longest entry."""
    widths = [
        ENTRY_WIDTH + LETTER_WIDTH * min(len(reading.name), LONGEST_NAME)
        for reading in row.readings
    ]
    if sum(widths) < NARROW_LINE_WIDTH:
        return 1
    columns = max(1, NARROW_LINE_WIDTH // max(widths))
    return -(-len(widths) // columns)


def _row_traces(row: Row, index: int, *, has_legend: bool) -> list[Trace]:
    traces: list[Trace] = []
    for position, reading in enumerate(row.readings):
        place = {
            "xaxis": "x",
            "yaxis": _numbered("y", index),
            "legend": _numbered("legend", index),
            "legendgroup": f"{index}-{position}",
        }
        is_named = has_legend and len(row.readings) > 1
        slot = position if reading.slot is None else reading.slot
        before = [line for drawn in row.readings[:position] for line in drawn.lines]
        for number, line in enumerate(reading.lines):
            traces += _reading_traces(
                reading,
                line,
                unit=row.unit,
                colour=reading.colour or run_colour(slot),
                # Through its gaps, the line below it is seen.
                dash="dash" if reading.slot is None and lies_on(line, before) else "",
                place={**place, "showlegend": number == 0 and is_named},
            )
    return traces


def _reading_traces(
    reading: Reading, line: Line, *, unit: str, colour: str, dash: str, place: Trace
) -> list[Trace]:
    drawn: list[Trace] = []
    if not line.exact and reading.slot is None:
        drawn.append(
            band_trace(
                line.x,
                line.minimum * reading.scale,
                line.maximum * reading.scale,
                colour=colour,
                rows={**place, "showlegend": False},
            )
        )
    drawn.append(
        line_trace(
            line.x,
            line.mean * reading.scale,
            name=literal(reading.name, longest=LONGEST_NAME),
            colour=colour,
            width=1.3,
            dash=dash or ("solid" if reading.slot is None else run_dash(reading.slot)),
            # Hover templates and units are constants of ours, so they need no escaping.
            rows={
                **place,
                "meta": unit,
                "hovertemplate": HOVER,
                "mode": _mode(reading, line),
            },
        )
    )
    return drawn


def _mode(reading: Reading, line: Line) -> str:
    # Between events there is no line, and a single one would have none at all.
    return "lines" if len(line.x) > 1 and not reading.is_marks else "markers"


def _limit(value: float, index: int) -> Shape:
    # A shape may cross its own row only.
    rows = {
        "xref": "x domain",
        "yref": _numbered("y", index),
    }
    return limit_line(value, colour=LIMIT_COLOUR, rows=rows)


def _backgrounds(frame: Frame, rows: Sequence[Row]) -> list[Shape]:
    # Row by row, because a shape over all of them would cross the words between them.
    return [
        shaded_window(span.start, span.end, colour=SPAN_COLOUR) for span in frame.spans
    ] + [
        shaded_window(
            part.start,
            part.end,
            colour=WINDOW_COLOUR,
            rows={"yref": f"{_numbered('y', index)} domain"},
        )
        for part in _not_judged(frame, rows)
        for index in range(len(rows))
    ]


def _not_judged(frame: Frame, rows: Sequence[Row]) -> list[TimeSpan]:
    """Return the parts of the axis outside the window, unless hardly anything."""
    lines = [
        line.x
        for row in rows
        for reading in row.readings
        for line in reading.lines
        if len(line.x)
    ]
    if frame.window is None or not lines:
        return []
    start = float(min(x[0] for x in lines))
    end = float(max(x[-1] for x in lines))
    window = frame.window
    parts = [
        TimeSpan(window.name, start, min(window.start, end)),
        TimeSpan(window.name, max(window.end, start), end),
    ]
    least = MIN_SHADED_SHARE * (end - start)
    return [part for part in parts if part.end - part.start > least]


def _labels(frame: Frame, rows: Sequence[Row], above: int) -> list[Layout]:
    """Name each stage above the first row, and the unjudged parts above the stages."""
    labels = [
        _label(span, yshift=above, colour="var(--color-text)")
        for span in _labeled(frame)
    ]
    parts = _not_judged(frame, rows)
    if parts:
        height = above + LABEL_HEIGHT * bool(frame.spans)
        longest = max(parts, key=lambda part: part.end - part.start)
        labels.append(_label(longest, yshift=height, colour=WINDOW_COLOUR))
    return labels


def _labeled(frame: Frame) -> list[TimeSpan]:
    """Return the stages to name: side by side where they began together."""
    if not frame.spans:
        return []
    first = min(span.start for span in frame.spans)
    whole = max(span.end for span in frame.spans) - first
    nearest = whole * (NARROW_LABEL_SHARE if frame.is_narrow else LABEL_SHARE)
    named: list[TimeSpan] = []
    for span in sorted(frame.spans, key=lambda span: span.start):
        if named and span.start - named[-1].start < nearest:
            name = f"{named[-1].name}, {span.name}"
            named[-1] = TimeSpan(name, named[-1].start, span.end)
        else:
            named.append(span)
    return named


def _label(span: TimeSpan, *, yshift: int, colour: str) -> Layout:
    return {
        "text": literal(span.name, longest=LONGEST_NAME),
        "xref": "x",
        "yref": "paper",
        "x": span.start,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
        "yshift": yshift,
        "showarrow": False,
        "font": {"size": 11, "color": colour},
    }
